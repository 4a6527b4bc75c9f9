package file

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/host/internal/ledger"
	"github.com/turncore/turncore/host/store"
)

// none is where a version has its bytes: in the file that has its name.
type none = struct{}

// scope has the values and artifacts of a scope.
type scope = ledger.Scope[none]

// sharedScopes are the scopes that sessions share, and their log. mu is locked while a session's is, not the other way
// round.
type sharedScopes struct {
	mu      sync.Mutex
	log     string
	of      map[string]*scope
	size    int64  // of the log, in bytes
	compact int64  // the size at which the log is looked at again
	last    shared // those of the last frame, until another one confirms them; their changes only while the log is read
	damaged error  // what is wrong with the log
}

// scope returns a scope, an empty one if it is not there. The caller holds its lock.
func (s *Store) scope(f *session, name string) *scope {
	switch {
	case name == "":
		return &f.own
	case s.scopes.of[name] != nil:
		return s.scopes.of[name]
	}
	return &scope{}
}

// begin returns a scope, which it makes if need be. The caller holds c.mu.
func (c *sharedScopes) begin(name string) *scope {
	if c.of[name] == nil {
		if c.of == nil {
			c.of = make(map[string]*scope)
		}
		c.of[name] = &scope{}
	}
	return c.of[name]
}

// enterShared locks the shared scopes if an append changes some; leave unlocks them.
func (s *Store) enterShared(a *store.Append) (leave func(), err error) {
	names := make([]string, 0, len(a.State)+len(a.Artifacts))
	for _, v := range a.State {
		names = append(names, v.Scope)
	}
	for i := range a.Artifacts {
		names = append(names, a.Artifacts[i].Scope)
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		s.scopes.mu.Lock()
		if err := s.scopes.damaged; err != nil {
			s.scopes.mu.Unlock()
			return nil, err
		}
		return s.scopes.mu.Unlock, nil
	}
	return nil, nil
}

// apply makes changes to the scopes that of returns.
func (c *changes) apply(of func(scope string) *scope) {
	for i := range c.Values {
		v := &c.Values[i]
		if v.Gone {
			of(v.Scope).Set(v.Name, nil)
			continue
		}
		if v.Value == nil {
			v.Value = []byte{} // empty, as it is read
		}
		of(v.Scope).Set(v.Name, v.Value)
	}
	for i := range c.Versions {
		v := &c.Versions[i]
		of(v.Scope).Add(v.Name, ledger.Version[none]{Size: v.Size, Body: v.Body})
	}
}

// add adds all of a scope.
func (c *changes) add(name string, of *scope) {
	for _, n := range of.Names() {
		c.Values = append(c.Values, value{Scope: name, Name: n, Value: of.Values[n]})
	}
	for _, n := range of.ArtifactNames() {
		for _, v := range of.Artifacts[n] {
			c.Versions = append(c.Versions, version{name, n, v.Size, v.Body})
		}
	}
}

func (c *changes) empty() bool { return len(c.Values)+len(c.Versions) == 0 }

// bytesOf is how many bytes a log has of a scope, about.
func bytesOf(of *scope) (n int64) {
	for name, v := range of.Values {
		n += int64(len(name) + len(v) + 16)
	}
	for name, versions := range of.Artifacts {
		for i := range versions {
			n += int64(len(name) + len(versions[i].Body) + 24)
		}
	}
	return n
}

// openShared reads the log of the shared scopes. The sessions are there.
func (s *Store) openShared() error {
	c := &s.scopes
	c.log = filepath.Join(s.folder, sharedName)
	data, err := os.ReadFile(c.log)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(c.log, nil, 0o600); err != nil {
			return err
		}
		return syncFolder(s.folder)
	}
	if err != nil {
		return err
	}
	var before int64 // where the last frame begins
	var earlier shared
	for c.size < int64(len(data)) {
		kind, body, size, err := readFrame(data[c.size:], c.size)
		if errors.Is(err, errTorn) {
			break
		}
		if err == nil {
			earlier = c.last
			err = c.read(kind, body)
		}
		if err != nil {
			c.damaged = damaged("", fmt.Sprintf("the log of shared scopes, %s, cannot be read at %d: %v", c.log, c.size, err), err)
			return nil
		}
		before, c.size = c.size, c.size+int64(size)
	}
	if !c.last.Changes.empty() {
		f := s.sessions[c.last.Session]
		unread := s.unread[s.pathOf(c.last.Session)] != nil || f != nil && f.broken
		if !unread && (f == nil || f.summary.Revision < c.last.Revision) {
			c.size, c.last = before, earlier // the session's log has no such append
		} else {
			earlier = c.last
			c.settle()
			c.last = earlier
		}
		c.last.Changes = changes{}
	}
	if c.size < int64(len(data)) {
		return os.Truncate(c.log, c.size)
	}
	return nil
}

// read takes in a frame of the log, and keeps its changes back until the next one.
func (c *sharedScopes) read(kind byte, body []byte) error {
	c.settle()
	switch kind {
	case frameConfirmed:
		return nil
	case frameShared:
		_, err := c.last.UnmarshalMsg(body)
		return err
	case frameAll:
		var all changes
		_, err := all.UnmarshalMsg(body)
		c.of = nil
		all.apply(c.begin)
		return err
	}
	return fmt.Errorf("a frame of kind %q is unknown", kind)
}

// settle makes the changes that were kept back.
func (c *sharedScopes) settle() {
	c.last.Changes.apply(c.begin)
	c.last = shared{}
}

// write writes the changes of an append to the log; undo takes them out again. The caller holds c.mu if there are some.
func (c *sharedScopes) write(all *shared) (undo func(), err error) {
	if all.Changes.empty() {
		return func() {}, nil
	}
	before, size := c.last, c.size
	if err := c.append(frameShared, all); err != nil {
		return nil, err
	}
	c.last = shared{Session: all.Session, Revision: all.Revision}
	return func() {
		if err := os.Truncate(c.log, size); err != nil {
			// The session's log has no such append: the next one that opens the folder cuts it.
			c.damaged = failed(all.Session, "the log of shared scopes cannot be cut: "+err.Error(), err)
			return
		}
		c.last, c.size = before, size
	}, nil
}

func (c *sharedScopes) append(kind byte, parts ...msgp.Marshaler) error {
	data, err := appendFrame(nil, c.size, kind, parts...)
	if err != nil {
		return failed("", err.Error(), err)
	}
	if err = writeAt(c.log, c.size, data, (*os.File).Sync); err == nil {
		c.size += int64(len(data))
	}
	return err
}

// apply makes changes that the logs have. The caller holds c.mu if there are some.
func (c *sharedScopes) apply(all *changes) {
	if all.empty() {
		return
	}
	all.apply(c.begin)
	c.tidy()
}

// confirm notes that the append of the last frame was made, before its session is deleted.
func (s *Store) confirm(session string) error {
	c := &s.scopes
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.damaged != nil || c.last.Session != session || c.last.Revision == 0 {
		return nil
	}
	if err := c.append(frameConfirmed); err != nil {
		return err
	}
	c.last = shared{}
	return nil
}

// tidy writes the log anew once most of its bytes are out of date. The caller holds c.mu.
func (c *sharedScopes) tidy() {
	if c.compact == 0 {
		c.compact = leastCompact
	}
	if c.size < c.compact {
		return
	}
	var all changes
	live := int64(0)
	for _, name := range slices.Sorted(maps.Keys(c.of)) {
		all.add(name, c.of[name])
		live += bytesOf(c.of[name])
	}
	c.compact = 2 * c.size
	if c.size < 2*live {
		return
	}
	data, err := appendFrame(nil, 0, frameAll, &all)
	if err == nil && replaceFile(c.log, data) == nil { // else the log is as good as it was, only longer
		c.size, c.last, c.compact = int64(len(data)), shared{}, max(4*int64(len(data)), leastCompact)
	}
}

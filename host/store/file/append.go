package file

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/turncore/turncore/host/internal/ledger"
	"github.com/turncore/turncore/host/store"
)

var _ store.Appender = (*Store)(nil)

// Append implements store.Appender.
func (s *Store) Append(ctx context.Context, session string, a store.Append) (string, error) {
	if err := s.begin(ctx); err != nil {
		return "", err
	}
	if err := errors.Join(store.CheckSessionID("session", session), a.Validate()); err != nil {
		return "", err
	}
	done, err := s.checkEpoch(a.Turn, a.Epoch)
	if err != nil {
		return "", err
	}
	defer done()
	f, err := s.enter(session, true)
	if err != nil {
		return "", err
	}
	defer s.leave(f)
	revision, err := s.append(f, &a)
	if err != nil {
		return "", failure(session, err)
	}
	return strconv.FormatUint(revision, 10), nil
}

// append appends to a session. The caller holds f.mu.
func (s *Store) append(f *session, a *store.Append) (revision uint64, err error) {
	state := &ledger.Session[stored]{}
	if f.there {
		if err := s.load(f); err != nil {
			return 0, err
		}
		state = f.state
		state.Keys.Expire(time.Now().UnixMicro(), s.mayResume)
	}
	forgets := state.Keys.Has(a.Ended)
	revision, done := state.Keys.Find(a.Key, a.Ended...)
	switch {
	case done && !forgets:
		return revision, nil
	case done:
		return revision, s.write(f, &commit{Ended: a.Ended}, time.Time{})
	case state.AppendConflict(a.Revision, a.Turn):
		return 0, store.AppendConflict(f.head.ID, "", "")
	case a.Event != nil && state.Events.Has(a.Event.ID):
		return 0, store.AppendConflict(f.head.ID, "event", a.Event.ID)
	case a.Empty() && !forgets && (a.Key == "" || !f.there):
		return state.Revision, nil
	}
	if leave, err := s.enterShared(a); err != nil {
		return 0, err
	} else if leave != nil {
		defer leave()
	}
	versions, err := s.versions(f, a)
	if err != nil {
		return 0, err
	}
	if !f.there {
		if err := s.create(f, nil); err != nil {
			return 0, err
		}
	}
	if err := s.keep(f, a); err != nil {
		return 0, err
	}
	err = s.writeAppend(f, a, versions)
	return f.summary.Revision, err
}

// versions are the artifacts of an append as the logs have them, if they are the next versions and their bytes are
// there. The caller holds f.mu, and the lock of the shared scopes if the append has some.
func (s *Store) versions(f *session, a *store.Append) (list []version, err error) {
	added := make(map[[2]string]int)
	for i := range a.Artifacts {
		artifact := &a.Artifacts[i]
		size, err := f.sizeOf(artifact.Bytes)
		if err != nil {
			return nil, err
		}
		name := [2]string{artifact.Scope, artifact.Name}
		if artifact.Version != len(s.scope(f, artifact.Scope).Artifacts[artifact.Name])+added[name] {
			return nil, store.AppendConflict(f.head.ID, "artifact", artifact.Name)
		}
		added[name]++
		list = append(list, version{artifact.Scope, artifact.Name, size, bytes.Clone(artifact.Body)})
	}
	return list, nil
}

// sizeOf is how many bytes there are under an id.
func (f *session) sizeOf(id string) (size int64, err error) {
	file, err := os.Open(f.bytes(id))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, store.NoBytes(f.head.ID, id)
	}
	if err != nil {
		return 0, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	front := make([]byte, bytesFront)
	if _, err := io.ReadFull(file, front); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	size = int64(binary.BigEndian.Uint64(front))
	if string(front) != string(bytesFrontOf(size)) {
		return 0, damaged(f.head.ID, "bytes "+strconv.Quote(id)+", "+f.bytes(id)+": its length is wrong", nil)
	}
	return size, nil
}

// artifact is the file of a version.
func (s *Store) artifact(f *session, scope, name string, version int) string {
	id := nameOf(strconv.Itoa(len(scope)) + " " + scope + strconv.Itoa(version) + " " + name)
	if scope == "" {
		return filepath.Join(f.folder, artifactsName, id)
	}
	return filepath.Join(s.folder, artifactsName, id)
}

// keep gives the bytes of an append's artifacts the names of their versions. What has such a name already is left of an
// append that was not made. The caller holds the locks.
func (s *Store) keep(f *session, a *store.Append) error {
	var changed []string
	for i := range a.Artifacts {
		artifact := &a.Artifacts[i]
		name := s.artifact(f, artifact.Scope, artifact.Name, artifact.Version)
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := link(f.bytes(artifact.Bytes), name); err != nil {
			return err
		}
		if folder := filepath.Dir(name); !slices.Contains(changed, folder) {
			changed = append(changed, folder)
		}
	}
	for _, folder := range changed {
		if err := syncFolder(folder); err != nil {
			return err
		}
	}
	return nil
}

// writeAppend writes an append to the logs: that of the session decides. The caller holds the locks.
func (s *Store) writeAppend(f *session, a *store.Append, versions []version) error {
	before := f.summary
	in := appended{Key: a.Key, Turn: a.Turn, Ended: a.Ended}
	if !a.Empty() {
		f.summary.Revision, f.summary.Updated = s.next(), max(f.summary.Updated, time.Now().UnixMilli())
	}
	if e := a.Event; e != nil {
		in.Events = []event{{e.ID, bytes.Clone(e.Body), f.summary.Revision}}
	}
	all := shared{Session: f.head.ID, Revision: f.summary.Revision}
	of := func(scope string) *changes {
		if scope == "" {
			return &in.Own
		}
		return &all.Changes
	}
	for _, v := range a.State {
		c := of(v.Scope)
		c.Values = append(c.Values, value{v.Scope, v.Name, bytes.Clone(v.Value), v.Value == nil})
	}
	for _, v := range versions {
		c := of(v.Scope)
		c.Versions = append(c.Versions, v)
	}
	undo, err := s.scopes.write(&all)
	if err == nil {
		f.applyAppend(&in)
		if err = f.append(frameAppend, &f.summary, &in); err != nil {
			undo()
		}
	}
	if err != nil {
		f.state, f.summary = nil, before // the log has what counts
		return err
	}
	s.scopes.apply(&all.Changes)
	s.updated(f)
	s.tidy(f)
	return nil
}

// applyAppend does an append of a log. The summary is that after it. The caller holds f.mu.
func (f *session) applyAppend(a *appended) {
	f.state.Keys.Forget(a.Ended)
	if f.summary.Revision > f.state.Revision {
		f.state.Revision, f.state.Appended = f.summary.Revision, f.summary.Revision
	}
	for _, e := range a.Events {
		f.state.Events.Add(ledger.Event(e))
	}
	a.Own.apply(func(string) *scope { return &f.own })
	f.remember(key{a.Key, a.Turn, f.state.Revision})
}

// Events implements store.Appender.
func (s *Store) Events(ctx context.Context, id string, q store.EventQuery) (list []store.SessionEvent, err error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	err = s.look(ctx, id, func(f *session) {
		for _, e := range f.state.EventsAfter(q.After, q.Limit, q.Newest) {
			list = append(list, store.SessionEvent{ID: e.ID, Body: bytes.Clone(e.Body), Revision: strconv.FormatUint(e.Revision, 10)})
		}
	})
	return list, err
}

// look calls a function with a session that is there, in memory.
func (s *Store) look(ctx context.Context, id string, look func(*session)) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	f, err := s.enter(id, false)
	if f == nil {
		return err
	}
	defer s.leave(f)
	if err := s.load(f); err != nil {
		return err
	}
	look(f)
	return nil
}

// lookInto calls a function with a scope that is there, and with its session if it is that one's own.
func (s *Store) lookInto(ctx context.Context, id, name string, look func(*session, *scope)) error {
	if name == "" {
		return s.look(ctx, id, func(f *session) { look(f, &f.own) })
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	s.scopes.mu.Lock()
	defer s.scopes.mu.Unlock()
	if s.scopes.damaged != nil {
		return s.scopes.damaged
	}
	look(nil, s.scope(nil, name))
	return nil
}

// State implements store.Appender.
func (s *Store) State(ctx context.Context, id, name string) (list []store.StateValue, err error) {
	err = s.lookInto(ctx, id, name, func(_ *session, of *scope) {
		for _, n := range of.Names() {
			list = append(list, store.StateValue{Scope: name, Name: n, Value: bytes.Clone(of.Values[n])})
		}
	})
	return list, err
}

// Artifacts implements store.Appender.
func (s *Store) Artifacts(ctx context.Context, id, name string) (list []store.Artifact, err error) {
	err = s.lookInto(ctx, id, name, func(_ *session, of *scope) {
		for _, n := range of.ArtifactNames() {
			for i, v := range of.Artifacts[n] {
				list = append(list, store.Artifact{Scope: name, Name: n, Version: i, Size: v.Size, Body: bytes.Clone(v.Body)})
			}
		}
	})
	return list, err
}

// OpenArtifact implements store.Appender.
func (s *Store) OpenArtifact(ctx context.Context, id, scopeName, name string, number int) (io.ReaderAt, int64, error) {
	file := ""
	err := s.lookInto(ctx, id, scopeName, func(f *session, of *scope) {
		if number >= 0 && number < len(of.Artifacts[name]) {
			file = s.artifact(f, scopeName, name, number)
		}
	})
	if err == nil && file == "" {
		err = store.NoArtifact(id, scopeName, name, number)
	}
	if err != nil {
		return nil, 0, err
	}
	r := &byteReader{name: file, session: id, id: name, artifact: true}
	if err := r.open(); err != nil {
		return nil, 0, err
	}
	return r, r.size, nil
}

package sessions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"strings"
	"sync"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
)

// Artifact is a version of a file that belongs to a session, or to a user if its name begins with "user:".
type Artifact struct {
	Name     string
	Version  int // from 0
	MIMEType string
	Data     []byte
}

// artifacts are those whose bytes an invocation, or the holder of a handle, has saved, by scope and name in the store,
// in the order of their versions. An event with their versions makes them ones of the store.
type artifacts struct {
	mu    sync.Mutex
	saved map[[2]string][]store.Artifact
	taken map[[2]string]int // how many of them events have named
}

// take implements saved.
func (a *artifacts) take(scope, name string, version int) []store.Artifact {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := [2]string{scope, name}
	list := a.saved[at][a.taken[at]:]
	for i := range list {
		if list[i].Version == version {
			if a.taken == nil {
				a.taken = make(map[[2]string]int)
			}
			a.taken[at] += i + 1
			return list[:i+1]
		}
	}
	return nil
}

// mark returns which versions events have named, and reset takes it back.
func (a *artifacts) mark() map[[2]string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.taken)
}

func (a *artifacts) reset(taken map[[2]string]int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.taken = taken
}

// find returns a version that was saved, nil if it was not. The caller holds a.mu.
func (a *artifacts) find(scope, name string, version int) *store.Artifact {
	for i := range a.saved[[2]string{scope, name}] {
		if v := &a.saved[[2]string{scope, name}][i]; v.Version == version {
			found := *v
			return &found
		}
	}
	return nil
}

// save puts the bytes of the next version of an artifact into the store, and returns its number.
func (a *artifacts) save(ctx context.Context, s *Service, key, user, name, mimeType string, data []byte) (version int, err error) {
	if name == "" || name == userPrefix {
		return 0, invalid(host.CodeInvalidEvent, "artifact", errors.New("must have a name"))
	}
	sum := sha256.Sum256(data)
	body := value.AppendString(value.AppendString(value.AppendMapHeader(nil, 1), "mimeType"), mimeType)
	scope, plain := s.artifactScope(user, name)
	a.mu.Lock() // versions are numbered one after another
	defer a.mu.Unlock()
	if version, err = a.next(ctx, s, key, scope, plain); err != nil {
		return 0, err
	}
	v := store.Artifact{Scope: scope, Name: plain, Version: version, Bytes: store.ContentID(sum[:]), Body: body}
	if err := s.store.PutBytes(ctx, key, v.Bytes, bytes.NewReader(data)); err != nil {
		return 0, inSession(err, key)
	}
	if a.saved == nil {
		a.saved = make(map[[2]string][]store.Artifact)
	}
	at := [2]string{scope, plain}
	a.saved[at] = append(a.saved[at], v)
	return version, nil
}

// next is the number of versions that there are. The caller holds a.mu.
func (a *artifacts) next(ctx context.Context, s *Service, key, scope, name string) (int, error) {
	list, err := s.store.Artifacts(ctx, key, scope)
	if err != nil {
		return 0, inSession(err, key)
	}
	n := 0
	for _, v := range list {
		if v.Name == name {
			n++
		}
	}
	for a.find(scope, name, n) != nil {
		n++
	}
	return n, nil
}

// SaveArtifact puts the next version of an artifact into the store, and returns its number. It is there when an event
// is stored whose Actions.ArtifactDelta has it: the event of a callback or a tool has it by itself, a custom agent
// yields one. Until then only this invocation loads it.
func (b *base) SaveArtifact(name, mimeType string, data []byte) (version int, err error) {
	inv := b.inv
	if version, err = inv.artifacts.save(b, inv.runner.sessions, inv.key, inv.user, name, mimeType, data); err != nil {
		return 0, err
	}
	if b.state.changes != nil {
		b.state.changes.save(value.UTF8(name), version)
	}
	return version, nil
}

// SaveArtifact puts the next version of an artifact of a session into the store, or of one of its user if the name
// begins with "user:", and returns its number. It is there when [Service.Append] has stored an event with the same
// handle whose Actions.ArtifactDelta has it.
func (s *Service) SaveArtifact(ctx context.Context, session *Session, name, mimeType string, data []byte) (version int, err error) {
	if err := s.checkHandle(session); err != nil {
		return 0, err
	}
	key := keyOf(s.app, session.User, session.ID)
	return session.artifacts.save(ctx, s, key, session.User, name, mimeType, data)
}

// artifactScope is where the store has an artifact, and under which name.
func (s *Service) artifactScope(user, name string) (scope, plain string) {
	name = value.UTF8(name) // as the names in events
	if plain, ofUser := strings.CutPrefix(name, userPrefix); ofUser {
		return userScope(s.app, user), plain
	}
	return "", name
}

// LoadArtifact returns a version of an artifact; the last one if version is negative. It is nil if there is none.
func (b *base) LoadArtifact(name string, version int) (*Artifact, error) {
	inv := b.inv
	scope, plain := inv.runner.sessions.artifactScope(inv.user, name)
	inv.artifacts.mu.Lock()
	if version < 0 {
		next, err := inv.artifacts.next(b, inv.runner.sessions, inv.key, scope, plain)
		if err != nil {
			inv.artifacts.mu.Unlock()
			return nil, err
		}
		version = next - 1
	}
	saved := inv.artifacts.find(scope, plain, version)
	inv.artifacts.mu.Unlock()
	if version < 0 {
		return nil, nil
	}
	if saved == nil {
		return inv.runner.sessions.artifact(b, inv.key, scope, name, plain, version)
	}
	content, size, err := inv.runner.sessions.store.OpenBytes(b, inv.key, saved.Bytes)
	return artifactOf(name, version, saved.Body, content, size, err)
}

// Artifacts lists the artifacts of the session and of its user, by name, with their last versions, also of those that
// the invocation has saved and no event has named.
func (b *base) Artifacts() (map[string]int, error) {
	inv := b.inv
	all, err := inv.runner.sessions.Artifacts(b, inv.user, inv.session)
	if err != nil {
		return nil, err
	}
	inv.artifacts.mu.Lock()
	defer inv.artifacts.mu.Unlock()
	for at, versions := range inv.artifacts.saved {
		name := prefixOf(at[0]) + at[1]
		all[name] = max(all[name], versions[len(versions)-1].Version)
	}
	return all, nil
}

// artifact loads a version that the store has; nil if it has none.
func (s *Service) artifact(ctx context.Context, key, scope, name, plain string, version int) (*Artifact, error) {
	list, err := s.store.Artifacts(ctx, key, scope)
	if err != nil {
		return nil, inSession(err, key)
	}
	for _, v := range list {
		if v.Name == plain && v.Version == version {
			content, size, err := s.store.OpenArtifact(ctx, key, scope, plain, version)
			return artifactOf(name, version, v.Body, content, size, err)
		}
	}
	return nil, nil
}

func artifactOf(name string, version int, body []byte, content io.ReaderAt, size int64, err error) (*Artifact, error) {
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.NewSectionReader(content, 0, size))
	if err != nil {
		return nil, err
	}
	mime, _ := value.GetString(body, "mimeType")
	return &Artifact{Name: name, Version: version, MIMEType: string(mime), Data: data}, nil
}

// Artifacts lists the artifacts of a session and of its user, by name, with their last versions.
func (s *Service) Artifacts(ctx context.Context, user, id string) (map[string]int, error) {
	if err := checkIDs(user, id); err != nil {
		return nil, err
	}
	all := make(map[string]int)
	for _, scope := range [...]string{"", userScope(s.app, user)} {
		key := keyOf(s.app, user, id)
		list, err := s.store.Artifacts(ctx, key, scope)
		if err != nil {
			return nil, inSession(err, key)
		}
		for _, v := range list {
			all[prefixOf(scope)+v.Name] = v.Version // they ascend
		}
	}
	return all, nil
}

// Artifact loads a version of an artifact of a session, or of its user; the last one if version is negative. It fails
// with E_BYTES_NOT_FOUND if there is none.
func (s *Service) Artifact(ctx context.Context, user, id, name string, version int) (*Artifact, error) {
	name = value.UTF8(name) // as the names in events
	if version < 0 {
		all, err := s.Artifacts(ctx, user, id)
		if err != nil {
			return nil, err
		}
		last, there := all[name]
		if !there {
			return nil, store.NoArtifact(id, "", name, 0)
		}
		version = last
	}
	if err := checkIDs(user, id); err != nil {
		return nil, err
	}
	scope, plain := s.artifactScope(user, name)
	a, err := s.artifact(ctx, keyOf(s.app, user, id), scope, name, plain, version)
	if err == nil && a == nil {
		err = store.NoArtifact(id, "", name, version)
	}
	return a, err
}

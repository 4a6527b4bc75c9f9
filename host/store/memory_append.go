package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/turncore/turncore/host/internal/ledger"
)

var _ Appender = (*InMemory)(nil)

// memoryScope is what an InMemory has of a scope.
type memoryScope = ledger.Scope[[]byte]

// scope returns a scope, an empty one if it is not there. The caller holds m.mu.
func (m *InMemory) scope(s *memorySession, name string) *memoryScope {
	switch {
	case name == "":
		return &s.own
	case m.shared[name] != nil:
		return m.shared[name]
	}
	return &memoryScope{}
}

// beginScope returns a scope, which it makes if need be. The caller holds m.mu.
func (m *InMemory) beginScope(s *memorySession, name string) *memoryScope {
	of := m.scope(s, name)
	if name != "" && m.shared[name] == nil {
		if m.shared == nil {
			m.shared = make(map[string]*memoryScope)
		}
		m.shared[name] = of
	}
	return of
}

// Append implements [Appender].
func (m *InMemory) Append(_ context.Context, id string, a Append) (string, error) {
	if err := errors.Join(CheckSessionID("session", id), a.Validate()); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.checkEpoch(a.Turn, a.Epoch); err != nil {
		return "", err
	}
	s, there := m.session(id)
	s.Keys.Forget(a.Ended)
	at := m.time().UnixMicro()
	s.Keys.Expire(at, m.mayResume)
	if revision, done := s.Keys.Find(a.Key); done {
		return strconv.FormatUint(revision, 10), nil
	}
	if err := m.checkAppend(id, s, &a); err != nil {
		return "", err
	}
	if !there && a.Empty() {
		return NoRevision, nil
	}
	if !there {
		m.add(id, s)
	}
	if !a.Empty() {
		s.Revision = m.update(id, s)
		s.Appended = s.Revision
		m.append(s, &a)
	}
	s.Keys.Remember(ledger.Key{Key: a.Key, Turn: a.Turn, Revision: s.Revision, At: at})
	return strconv.FormatUint(s.Revision, 10), nil
}

// checkAppend returns why an append stores nothing, nil if it does. The caller holds m.mu.
func (m *InMemory) checkAppend(id string, s *memorySession, a *Append) error {
	if s.AppendConflict(a.Revision, a.Turn) {
		return AppendConflict(id, "", "")
	}
	if a.Event != nil && s.Events.Has(a.Event.ID) {
		return AppendConflict(id, "event", a.Event.ID)
	}
	if len(a.Artifacts) == 0 {
		return nil
	}
	added := make(map[[2]string]int)
	for i := range a.Artifacts {
		artifact := &a.Artifacts[i]
		if _, there := s.bytes[artifact.Bytes]; !there {
			return NoBytes(id, artifact.Bytes)
		}
		name := [2]string{artifact.Scope, artifact.Name}
		if artifact.Version != len(m.scope(s, artifact.Scope).Artifacts[artifact.Name])+added[name] {
			return AppendConflict(id, "artifact", artifact.Name)
		}
		added[name]++
	}
	return nil
}

// append does what was checked. The caller holds m.mu.
func (m *InMemory) append(s *memorySession, a *Append) {
	if e := a.Event; e != nil {
		s.Events.Add(ledger.Event{ID: e.ID, Body: s.keep(e.Body), Revision: s.Revision})
	}
	for _, v := range a.State {
		m.beginScope(s, v.Scope).Set(v.Name, bytes.Clone(v.Value))
	}
	for _, v := range a.Artifacts {
		content := s.bytes[v.Bytes].data
		m.beginScope(s, v.Scope).Add(v.Name, ledger.Version[[]byte]{Bytes: content, Size: int64(len(content)), Body: bytes.Clone(v.Body)})
	}
}

// Bodies of events are kept in rooms of so many bytes, each twice as large as the one before it.
const (
	firstRoom = 1 << 10
	mostRoom  = 16 << 10
)

// keep returns a copy of an event's body. Those of several events share an allocation.
func (s *memorySession) keep(body []byte) []byte {
	if body == nil {
		return nil
	}
	if len(body) > cap(s.room)-len(s.room) {
		s.room = make([]byte, 0, max(len(body), min(2*cap(s.room), mostRoom), firstRoom))
	}
	at := len(s.room)
	s.room = append(s.room, body...)
	return s.room[at:len(s.room):len(s.room)]
}

// ForkAt implements [Appender].
func (m *InMemory) ForkAt(_ context.Context, from, to string, at ForkPoint) error {
	if err := errors.Join(CheckSessionID("session", to), at.Validate()); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, there := m.session(from)
	events, ok := old.CloneAt(at.Revision)
	own, whole := old.own.CloneAt(at.Artifacts)
	switch _, exists := m.session(to); {
	case !there || !ok || !whole:
		return NoSession(from)
	case exists:
		return SessionExists(to)
	}
	for _, v := range at.State {
		own.Set(v.Name, bytes.Clone(v.Value))
	}
	m.add(to, &memorySession{Session: events, own: own})
	return nil
}

// Events implements [Appender].
func (m *InMemory) Events(_ context.Context, id string, q EventQuery) ([]SessionEvent, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, _ := m.session(id)
	found := s.EventsAfter(q.After, q.Limit, q.Newest)
	list := make([]SessionEvent, len(found))
	for i, e := range found {
		list[i] = SessionEvent{ID: e.ID, Body: bytes.Clone(e.Body), Revision: strconv.FormatUint(e.Revision, 10)}
	}
	return list, nil
}

// State implements [Appender].
func (m *InMemory) State(_ context.Context, id, scope string) ([]StateValue, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, _ := m.session(id)
	of := m.scope(s, scope)
	var list []StateValue
	for _, name := range of.Names() {
		list = append(list, StateValue{Scope: scope, Name: name, Value: bytes.Clone(of.Values[name])})
	}
	return list, nil
}

// Artifacts implements [Appender].
func (m *InMemory) Artifacts(_ context.Context, id, scope string) ([]Artifact, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, _ := m.session(id)
	of := m.scope(s, scope)
	var list []Artifact
	for _, name := range of.ArtifactNames() {
		for version, v := range of.Artifacts[name] {
			list = append(list, Artifact{Scope: scope, Name: name, Version: version, Size: v.Size, Body: bytes.Clone(v.Body)})
		}
	}
	return list, nil
}

// OpenArtifact implements [Appender].
func (m *InMemory) OpenArtifact(_ context.Context, id, scope, name string, version int) (io.ReaderAt, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, _ := m.session(id)
	versions := m.scope(s, scope).Artifacts[name]
	if version < 0 || version >= len(versions) {
		return nil, 0, NoArtifact(id, scope, name, version)
	}
	return bytes.NewReader(versions[version].Bytes), versions[version].Size, nil
}

package store

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/turncore/turncore/host/record"
)

// InMemory is a store in memory. It keeps records as they are, with their readers. Its zero value is an empty store.
type InMemory struct {
	mu       sync.Mutex
	sessions map[string]*session
	revision uint64   // of the last write to any session
	recent   []update // of the sessions, in order; those that a later one follows are left out at times
}

// update says that a session was updated.
type update struct {
	revision uint64
	session  *session
}

var _ Sessions = (*InMemory)(nil)

// NewInMemory returns an empty store.
func NewInMemory() *InMemory { return &InMemory{} }

// now is the time to the millisecond.
func now() time.Time { return time.UnixMilli(time.Now().UnixMilli()).UTC() }

// begin returns a session, which it makes if need be. The caller holds m.mu.
func (m *InMemory) begin(id string) *session {
	s := m.sessions[id]
	if s == nil {
		m.revision++
		s = &session{id: id, began: m.revision, created: now(), bytes: make(map[string][]byte)}
		if m.sessions == nil {
			m.sessions = make(map[string]*session)
		}
		m.sessions[id] = s
		m.update(s)
	}
	return s
}

// update gives a session the next revision. The caller holds m.mu.
func (m *InMemory) update(s *session) {
	m.revision++
	s.revision = m.revision
	if at := now(); at.After(s.updated) {
		s.updated = at
	}
	m.recent = append(m.recent, update{m.revision, s})
	if len(m.recent) > 2*len(m.sessions)+100 {
		m.recent = slices.DeleteFunc(m.recent, func(u update) bool { return !m.current(u) })
	}
}

// current tells whether an update is the last one of its session, which is still there.
func (m *InMemory) current(u update) bool {
	return u.session.revision == u.revision && m.sessions[u.session.id] == u.session
}

// Load implements Store.
func (m *InMemory) Load(_ context.Context, id, after string) (*Conversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[id]
	if s == nil {
		s = &session{}
	}
	c := &Conversation{Revision: strconv.FormatUint(s.revision, 10), Instructions: s.texts()}
	known, ok := s.known(after)
	if ok && known >= s.settled && after != "" {
		c.After = after
	} else {
		known = 0
	}
	c.Memories, c.Retrievables = s.memories.after(known), s.retrievables.after(known)
	c.Messages, c.Thoughts, c.ToolCalls = s.messages.after(known), s.thoughts.after(known), s.toolCalls.after(known)
	return c, nil
}

// Commit implements Store.
func (m *InMemory) Commit(_ context.Context, id string, c Commit) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[id]; s != nil {
		s.forget(c.Ended)
		if at, done := s.keys[c.Key]; done {
			return at, nil
		}
	}
	if err := m.sessions[id].check(id, &c); err != nil {
		return "", err
	}
	if m.sessions[id] == nil && len(c.Deltas) == 0 {
		return "0", nil
	}
	s := m.begin(id)
	if len(c.Deltas) > 0 {
		m.update(s)
	}
	for i := range c.Deltas {
		s.apply(&c.Deltas[i])
	}
	revision := strconv.FormatUint(s.revision, 10)
	s.remember(c.Key, c.Turn, revision)
	return revision, nil
}

// PutBytes implements Store.
func (m *InMemory) PutBytes(_ context.Context, session, id string, content io.Reader) error {
	data, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin(session).bytes[id] = data
	return nil
}

// OpenBytes implements Store.
func (m *InMemory) OpenBytes(_ context.Context, session, id string) (io.ReaderAt, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return nil, 0, NoBytes(session, id)
	}
	data, there := s.bytes[id]
	if !there {
		return nil, 0, NoBytes(session, id)
	}
	return bytes.NewReader(data), int64(len(data)), nil
}

// Newest implements [Newest]. Deleting a record does not move the time back.
func (m *InMemory) Newest(_ context.Context, id string) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[id]; s != nil {
		return s.newest, nil
	}
	return time.Time{}, nil
}

// List implements [Sessions].
func (m *InMemory) List(_ context.Context, cursor string, limit int) (page []Session, next string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if limit <= 0 {
		limit = 100
	}
	end := len(m.recent)
	if before, err := strconv.ParseUint(cursor, 10, 64); err == nil {
		end, _ = slices.BinarySearchFunc(m.recent, before, func(u update, r uint64) int { return int(int64(u.revision) - int64(r)) })
	}
	for i := end - 1; i >= 0; i-- {
		if !m.current(m.recent[i]) {
			continue
		}
		if len(page) == limit {
			return page, page[limit-1].Revision, nil
		}
		page = append(page, m.recent[i].session.info())
	}
	return page, "", nil
}

// Fork implements [Sessions].
func (m *InMemory) Fork(_ context.Context, from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.sessions[from]
	if old == nil {
		return NoSession(from)
	}
	if m.sessions[to] != nil {
		return SessionExists(to)
	}
	s := m.begin(to)
	s.title, s.newest, s.bytes = old.title, old.newest, maps.Clone(old.bytes)
	s.instructions, s.memories, s.retrievables = old.instructions.clone(), old.memories.clone(), old.retrievables.clone()
	s.messages, s.thoughts, s.toolCalls = old.messages.clone(), old.thoughts.clone(), old.toolCalls.clone()
	return nil
}

// Delete implements [Sessions].
func (m *InMemory) Delete(_ context.Context, session string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, session)
	return nil
}

// SetTitle implements [Sessions].
func (m *InMemory) SetTitle(_ context.Context, session, title string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return NoSession(session)
	}
	s.title = title
	return nil
}

// session is what the memory store has of a session. Revisions are from 1, and 0 is that of one that is not there.
type session struct {
	id, title        string
	created, updated time.Time
	newest           time.Time
	began            uint64 // the revision before its first
	revision         uint64
	settled          uint64 // the last revision that changed or deleted something; 0 for none

	instructions table[*record.Instruction]
	memories     table[*record.Memory]
	retrievables table[*record.Retrievable]
	messages     table[*record.Message]
	thoughts     table[*record.Thought]
	toolCalls    table[*record.ToolCall]

	bytes map[string][]byte
	keys  map[string]string   // the revisions of commits, by their keys
	turns map[string][]string // the keys, by the turns that wrote
}

func (s *session) info() Session {
	return Session{
		ID: s.id, Title: s.title, Revision: strconv.FormatUint(s.revision, 10), CreatedAt: s.created, UpdatedAt: s.updated,
		Messages: len(s.messages.rows),
	}
}

// known reads a revision. ok is false for one that the session never had.
func (s *session) known(revision string) (n uint64, ok bool) {
	n, err := strconv.ParseUint(revision, 10, 64)
	return n, err == nil && (n == 0 || n > s.began && n <= s.revision)
}

func (s *session) texts() []string {
	texts := make([]string, len(s.instructions.rows))
	for i, r := range s.instructions.rows {
		texts[i] = r.record.Text
	}
	return texts
}

// remember keeps a commit's key.
func (s *session) remember(key, turn, revision string) {
	if key == "" {
		return
	}
	if s.keys == nil {
		s.keys, s.turns = make(map[string]string), make(map[string][]string)
	}
	s.keys[key] = revision
	s.turns[turn] = append(s.turns[turn], key)
}

// forget forgets the keys of turns.
func (s *session) forget(turns []string) {
	for _, turn := range turns {
		for _, key := range s.turns[turn] {
			delete(s.keys, key)
		}
		delete(s.turns, turn)
	}
}

func (s *session) apply(d *Delta) {
	s.note(d.Record)
	for _, c := range d.Records {
		s.note(c)
	}
	added := true
	switch d.Kind {
	case "standingInstruction":
		added = s.instructions.apply(d, s.revision)
	case "memory":
		added = s.memories.apply(d, s.revision)
	case "retrievable":
		added = s.retrievables.apply(d, s.revision)
	case "message":
		added = s.messages.apply(d, s.revision)
	case "thought":
		added = s.thoughts.apply(d, s.revision)
	case "toolCall":
		added = s.toolCalls.apply(d, s.revision)
	}
	if !added {
		s.settled = s.revision
	}
}

// note keeps the time of a record that is part of the conversation.
func (s *session) note(r any) {
	var at time.Time
	switch r := r.(type) {
	case *record.Message:
		at = r.CreatedAt
	case *record.Thought:
		at = r.CreatedAt
	case *record.ToolCall:
		at = r.CreatedAt
	}
	if at.After(s.newest) {
		s.newest = at
	}
}

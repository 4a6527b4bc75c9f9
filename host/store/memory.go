package store

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/turncore/turncore/host/record"
)

// InMemory is a store in memory. Its zero value is an empty store.
type InMemory struct {
	mu       sync.Mutex
	sessions map[string]*session
	revision uint64 // of the last write to any session
}

type session struct {
	revision     uint64
	settled      uint64 // the revision since which nothing was changed, only added
	instructions []string
	memories     table[*record.Memory]
	retrievables table[*record.Retrievable]
	messages     table[*record.Message]
	thoughts     table[*record.Thought]
	toolCalls    table[*record.ToolCall]
	bytes        map[string][]byte
	newest       time.Time
}

var _ Newest = (*InMemory)(nil)

// NewInMemory returns an empty store.
func NewInMemory() *InMemory { return &InMemory{} }

// session returns a session, which it makes if need be. The caller holds m.mu.
func (m *InMemory) session(id string) *session {
	s := m.sessions[id]
	if s == nil {
		m.revision++
		s = &session{bytes: make(map[string][]byte), revision: m.revision, settled: m.revision}
		if m.sessions == nil {
			m.sessions = make(map[string]*session)
		}
		m.sessions[id] = s
	}
	return s
}

// Sessions returns the ids of the sessions, sorted.
func (m *InMemory) Sessions() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.sessions))
}

// Forget deletes a session.
func (m *InMemory) Forget(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, session)
}

// Load implements Store.
func (m *InMemory) Load(_ context.Context, id, after string) (*Conversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.session(id)
	c := &Conversation{Revision: strconv.FormatUint(s.revision, 10), Instructions: slices.Clone(s.instructions)}
	known, err := strconv.ParseUint(after, 10, 64)
	if err == nil && known >= s.settled && known <= s.revision {
		c.After = after
	} else {
		known = 0
	}
	c.Memories, c.Retrievables = s.memories.after(known), s.retrievables.after(known)
	c.Messages, c.Thoughts, c.ToolCalls = s.messages.after(known), s.thoughts.after(known), s.toolCalls.after(known)
	return c, nil
}

// Commit implements Store.
func (m *InMemory) Commit(_ context.Context, id string, writes []Delta) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.session(id)
	m.revision++
	s.revision = m.revision
	for i := range writes {
		s.apply(&writes[i])
	}
	return nil
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

// WriteBytes implements Store.
func (m *InMemory) WriteBytes(_ context.Context, session, id string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.session(session).bytes[id] = data
	return nil
}

func (s *session) apply(d *Delta) {
	s.note(d.Record)
	for _, c := range d.Records {
		s.note(c)
	}
	added := true
	switch d.Kind {
	case "standingInstruction":
		s.instruct(d)
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

func (s *session) instruct(d *Delta) {
	i := slices.Index(s.instructions, d.ID)
	switch text, _ := d.Record.(*record.Instruction); {
	case d.Op == OpDelete && i >= 0:
		s.instructions = slices.Delete(s.instructions, i, i+1)
	case text == nil:
	case d.Op == OpMutate && i >= 0:
		s.instructions[i] = text.Text
	default:
		s.instructions = append(s.instructions, text.Text)
	}
}

// table holds the records of one kind in order.
type table[R record.Type] struct {
	records   []R
	revisions []uint64       // in which they were added
	ids       map[string]int // places; nil when out of date
}

// after returns the records that were added after a revision.
func (t *table[R]) after(revision uint64) []R {
	from, _ := slices.BinarySearch(t.revisions, revision+1)
	return slices.Clone(t.records[from:])
}

func (t *table[R]) place(id string) (int, bool) {
	if t.ids == nil {
		t.ids = make(map[string]int, len(t.records))
		for i, r := range t.records {
			t.ids[record.Key(r)] = i
		}
	}
	i, ok := t.ids[id]
	return i, ok
}

// apply does a write of a revision. added is false if it changed what was there, or its order.
func (t *table[R]) apply(d *Delta, revision uint64) (added bool) {
	switch r, isRecord := d.Record.(R); {
	case d.Op == OpReplaceToolCallGroup:
		t.replaceGroup(d)
		t.revisions = slices.Repeat([]uint64{revision}, len(t.records))
		return false
	case d.Op == OpDelete:
		i, ok := t.place(d.ID)
		if ok {
			t.records, t.revisions = slices.Delete(t.records, i, i+1), slices.Delete(t.revisions, i, i+1)
			t.ids = nil
		}
		return !ok
	case isRecord:
		return t.put(r, revision)
	}
	return true
}

// put adds a record, or puts it in the place of the one with the same id.
func (t *table[R]) put(r R, revision uint64) (added bool) {
	if i, ok := t.place(record.Key(r)); ok {
		t.records[i] = r
		return false
	}
	t.ids[record.Key(r)] = len(t.records)
	t.records, t.revisions = append(t.records, r), append(t.revisions, revision)
	return true
}

func (t *table[R]) replaceGroup(d *Delta) {
	at := -1
	t.records = slices.DeleteFunc(t.records, func(r R) bool {
		if !slices.Contains(d.IDs, record.Key(r)) {
			return false
		}
		if at < 0 {
			at, _ = t.place(record.Key(r))
		}
		return true
	})
	if at < 0 {
		at = len(t.records)
	}
	for i, c := range d.Records {
		if r, ok := any(c).(R); ok {
			t.records = slices.Insert(t.records, min(at+i, len(t.records)), r)
		}
	}
	t.ids = nil
}

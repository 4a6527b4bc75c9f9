package store

import (
	"context"
	"maps"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/turncore/turncore/host/internal/ledger"
	"github.com/turncore/turncore/host/record"
)

// InMemory is a store in memory. It keeps records as they are, with their readers. Bytes that were put more than an
// hour ago and to which no record of the store refers are deleted by a later commit. Its zero value is an empty store.
type InMemory struct {
	mu       sync.Mutex
	sessions map[string]*memorySession
	revision uint64 // of the last write to any session
	recent   ledger.Listed
	shared   map[string]*memoryScope
	journals map[string]*ledger.Journal

	clock     func() time.Time // that of the system if nil
	collected time.Time        // when bytes were last collected
}

// memorySession is what an InMemory has of a session.
type memorySession struct {
	*ledger.Session[record.Record]
	title            string
	created, updated time.Time
	bytes            map[string]memoryBytes
	own              memoryScope
	room             []byte // for bodies of events
}

var _ Sessions = (*InMemory)(nil)

// NewInMemory returns an empty store.
func NewInMemory() *InMemory { return &InMemory{} }

// session returns a session, an empty one if it is not there. The caller holds m.mu.
func (m *InMemory) session(id string) (s *memorySession, there bool) {
	if s = m.sessions[id]; s != nil {
		return s, true
	}
	return &memorySession{Session: &ledger.Session[record.Record]{}}, false
}

// begin returns a session, which it makes if need be. The caller holds m.mu.
func (m *InMemory) begin(id string) *memorySession {
	s, there := m.session(id)
	if !there {
		m.add(id, s)
	}
	return s
}

// add adds a session. The caller holds m.mu.
func (m *InMemory) add(id string, s *memorySession) {
	if m.sessions == nil {
		m.sessions = make(map[string]*memorySession)
	}
	m.sessions[id] = s
	s.created, s.bytes, s.Began = m.now(), make(map[string]memoryBytes), m.revision
	s.Revision = m.update(id, s)
}

// update returns the next revision, which updates a session. The caller holds m.mu.
func (m *InMemory) update(id string, s *memorySession) (revision uint64) {
	m.revision++
	m.recent.Update(id, m.revision)
	if at := m.now(); at.After(s.updated) {
		s.updated = at
	}
	return m.revision
}

// time is the time of the store's clock, and now that to the millisecond.
func (m *InMemory) time() time.Time {
	if m.clock != nil {
		return m.clock()
	}
	return time.Now()
}

func (m *InMemory) now() time.Time { return time.UnixMilli(m.time().UnixMilli()).UTC() }

// Load implements Store.
func (m *InMemory) Load(_ context.Context, id, after string) (*Conversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, _ := m.session(id)
	c := &Conversation{Revision: strconv.FormatUint(s.Revision, 10)}
	since, partly := s.Since(after)
	if partly {
		c.After = after
	}
	for kind := range s.Tables {
		t := &s.Tables[kind]
		rows := t.After(since)
		if record.Kind(kind) == record.KindInstruction {
			rows = t.Rows
		}
		for _, r := range rows {
			c.Add(r.Value)
		}
	}
	return c, nil
}

// Commit implements Store.
func (m *InMemory) Commit(_ context.Context, id string, c Commit) (string, error) {
	if err := CheckSessionID("session", id); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, there := m.session(id)
	if err := m.checkEpoch(c.Turn, c.Epoch); err != nil {
		return "", err
	}
	s.Keys.Forget(c.Ended)
	s.Keys.Expire(m.time().UnixMicro(), m.mayResume)
	if revision, done := s.Keys.Find(c.Key); done {
		return strconv.FormatUint(revision, 10), nil
	}
	writes, newest, err := memoryWrites(id, c.Deltas)
	if err != nil {
		return "", err
	}
	if kind, key, conflicts := s.Conflict(c.Revision, c.Turn, writes); conflicts {
		return "", Conflict(id, record.Kind(kind).String(), key)
	}
	if !there && len(writes) == 0 {
		return NoRevision, nil
	}
	if !there {
		m.add(id, s)
	}
	if len(writes) > 0 {
		s.Apply(m.update(id, s), newest, writes)
		m.collect()
	}
	s.Keys.Remember(ledger.Key{Key: c.Key, Turn: c.Turn, Revision: s.Revision, At: m.time().UnixMicro()})
	return strconv.FormatUint(s.Revision, 10), nil
}

// memoryWrites are deltas as writes of records, and the latest time of what they add to the conversation.
func memoryWrites(session string, deltas []Delta) (writes []ledger.Write[record.Record], newest time.Time, err error) {
	if err := checkDeltas(deltas); err != nil {
		return nil, newest, err
	}
	writes = make([]ledger.Write[record.Record], len(deltas))
	for i := range deltas {
		d := &deltas[i]
		kind, err := kindOf(d.Kind)
		if err != nil {
			return nil, newest, inSession(session, err)
		}
		w := &writes[i]
		w.Kind, w.Fixed = uint8(kind), kind == record.KindInstruction
		add := func(r record.Record) {
			w.New = append(w.New, ledger.Item[record.Record]{ID: record.Key(r), Value: r})
			if at := createdAt(r); at.After(newest) {
				newest = at
			}
		}
		switch d.Op {
		case OpDelete, OpMutate:
			w.Old = []string{d.ID}
			if r, ok := d.Record.(record.Record); ok && d.ID == "" && !reflect.ValueOf(r).IsNil() {
				w.Old[0] = record.Key(r)
			}
		case OpReplaceToolCallGroup:
			w.Old = d.IDs
			for _, c := range d.Records {
				add(c)
			}
			continue
		}
		if d.Op == OpDelete {
			continue
		}
		r, ok := d.Record.(record.Record)
		if !ok || record.KindOf(r) != kind || reflect.ValueOf(r).IsNil() {
			return nil, newest, inSession(session, notOfKind(d))
		}
		add(r)
	}
	return writes, newest, nil
}

// Newest implements [Newest]. Deleting a record does not move the time back.
func (m *InMemory) Newest(_ context.Context, id string) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, _ := m.session(id)
	return s.Newest, nil
}

// List implements [Sessions].
func (m *InMemory) List(ctx context.Context, cursor string, limit int) (page []Session, next string, err error) {
	return m.ListOf(ctx, "", cursor, limit)
}

// ListOf implements [Sessions].
func (m *InMemory) ListOf(_ context.Context, prefix, cursor string, limit int) (page []Session, next string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, limit, ok := ledger.PageOf(cursor, limit)
	if !ok {
		return nil, "", InvalidCursor()
	}
	ids, last, more := m.recent.Page(prefix, before, limit)
	for _, id := range ids {
		page = append(page, *m.sessions[id].tell(id))
	}
	if more {
		next = strconv.FormatUint(last, 10)
	}
	return page, next, nil
}

// Find implements [Sessions].
func (m *InMemory) Find(_ context.Context, id string) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, there := m.session(id)
	if !there {
		return nil, nil
	}
	return s.tell(id), nil
}

// tell is what a list says of the session.
func (s *memorySession) tell(id string) *Session {
	return &Session{
		ID: id, Title: s.title, Revision: strconv.FormatUint(s.Revision, 10), CreatedAt: s.created, UpdatedAt: s.updated,
		Messages: len(s.Tables[record.KindMessage].Rows),
	}
}

// Fork implements [Sessions].
func (m *InMemory) Fork(_ context.Context, from, to string) error {
	if err := CheckSessionID("session", to); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, there := m.session(from)
	if !there {
		return NoSession(from)
	}
	if _, there := m.session(to); there {
		return SessionExists(to)
	}
	s := &memorySession{Session: old.Clone(), title: old.title, own: old.own.Clone()}
	m.add(to, s)
	s.bytes = maps.Clone(old.bytes)
	return nil
}

// Delete implements [Sessions].
func (m *InMemory) Delete(_ context.Context, session string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, session)
	m.recent.Delete(session)
	return nil
}

// SetTitle implements [Sessions].
func (m *InMemory) SetTitle(_ context.Context, session, title string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, there := m.session(session)
	if !there {
		return NoSession(session)
	}
	s.title = title
	return nil
}

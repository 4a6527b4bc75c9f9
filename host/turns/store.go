package turns

import (
	"context"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/record"
)

// Store keeps the records of conversations, by session. Its methods may be called from many goroutines.
type Store interface {
	// Load returns what a session holds; an unknown session is an empty one, for which nil stands too. after is "" or the Revision of what an
	// earlier call returned. If a session has only been added to since then, a store that has revisions returns just
	// what came later, and sets After. A store may ignore after and return everything.
	Load(ctx context.Context, session, after string) (*Conversation, error)
	// Commit does all of the writes in order, or none.
	Commit(ctx context.Context, session string, writes []Delta) error
	// WriteBytes keeps bytes that belong to a record.
	WriteBytes(ctx context.Context, session, id string, data []byte) error
}

// NewestStore is a Store that knows how far the times of its sessions have come. A Runner gives a user's message a time
// after all of the session's earlier records then, whatever the clock says: a conversation is ordered by time. With
// another store such a message gets the time of the clock.
type NewestStore interface {
	Store
	// Newest returns the latest time at which a message, thought or tool call of the session was created; zero if it has
	// none. Its error keeps the turn from starting: Run returns it.
	Newest(ctx context.Context, session string) (time.Time, error)
}

// Conversation is what a session holds, or what was added to it after a revision: each kind in the order of storing.
// Who loads one must not change it.
type Conversation struct {
	// Revision names the state of the session that this is. A write changes it, and no state has the revision of another,
	// also after the session was deleted and begun again. "" if the store has no revisions.
	Revision string
	// After is the revision that Load was asked for, if the records are those that were added after it and none from before
	// it has been changed, deleted or moved since. "" if the records are all that there are.
	After string

	Instructions []string // always all
	Memories     []*record.Memory
	Retrievables []*record.Retrievable
	Messages     []*record.Message
	Thoughts     []*record.Thought
	ToolCalls    []*record.ToolCall
}

// SessionKey is the key in a turn's stash that names its session.
const SessionKey = "sessionId"

// sessionOf returns the session that a context belongs to. Anything that is not a string is refused: it must not be taken for another
// session's.
func sessionOf(ctx Context) (string, error) {
	v, _ := ctx.Stash().Get(SessionKey)
	if v == nil {
		return "", nil
	}
	session, ok := v.(string)
	if !ok {
		return "", newError(abi.CodeInvalidValue, "stash."+SessionKey+": must be a string", nil)
	}
	return session, nil
}

// StoreCallbacks returns callbacks that read and write a store. The session is what the turn's stash holds under SessionKey.
//
// Single ones may be replaced afterwards. A function that is put in the place of one of them is called for every write of
// its kind, in the program's middleware and in dispatches: the writes around it keep their order, and those of them that
// stand together still go to the store in one Apply. A function of the program's own that stores or deletes tool calls gets
// those of ReplaceToolCallGroup too, unless that is replaced as well. Replace Commit instead to see all writes of an
// iteration together; a replaced Commit beside a replaced function for single writes is refused with
// E_INVALID_TURN_RUNNER_CONFIG.
func StoreCallbacks(store Store) Callbacks {
	load := func(ctx Context) (*Conversation, error) { return loadSession(ctx, store) }
	commit := func(ctx Context, deltas []Delta) error {
		session, err := sessionOf(ctx)
		if err != nil {
			return err
		}
		return store.Commit(ctx, session, deltas)
	}
	apply := func(ctx Context, d Delta) error { return commit(ctx, []Delta{d}) }
	bytes := func(ctx Context, id string, r io.Reader) (*record.Blob, error) {
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		session, err := sessionOf(ctx)
		if err != nil {
			return nil, err
		}
		return record.NewBlob(data), store.WriteBytes(ctx, session, id, data)
	}
	c := Callbacks{
		FetchMemories:               fetch(load, func(c *Conversation) []*record.Memory { return c.Memories }),
		FetchMessages:               fetch(load, func(c *Conversation) []*record.Message { return c.Messages }),
		FetchThoughts:               fetch(load, func(c *Conversation) []*record.Thought { return c.Thoughts }),
		FetchToolCalls:              fetch(load, func(c *Conversation) []*record.ToolCall { return c.ToolCalls }),
		FetchTools:                  func(Context) ([]*Tool, error) { return nil, nil },
		FetchRetrievables:           fetch(load, func(c *Conversation) []*record.Retrievable { return c.Retrievables }),
		RefreshStandingInstructions: fetch(load, func(c *Conversation) []string { return c.Instructions }),

		StoreStandingInstruction: func(ctx Context, text string) error {
			return apply(ctx, Delta{Op: StoreOp, Kind: "standingInstruction", Record: record.NewInstruction(text), ID: text})
		},
		MutateStandingInstruction: func(ctx Context, old, text string) error {
			return apply(ctx, Delta{Op: MutateOp, Kind: "standingInstruction", Record: record.NewInstruction(text), ID: old})
		},
		DeleteStandingInstruction: remover(apply, "standingInstruction"),
		DeleteMemory:              remover(apply, "memory"),
		DeleteRetrievable:         remover(apply, "retrievable"),
		DeleteMessage:             remover(apply, "message"),
		DeleteThought:             remover(apply, "thought"),
		DeleteToolCall:            remover(apply, "toolCall"),

		StoreMediaBytes:       func(ctx Context, id string, r io.Reader) (record.MediaReader, error) { return bytes(ctx, id, r) },
		StoreRetrievableBytes: func(ctx Context, id string, r io.Reader) (record.SpoolReader, error) { return bytes(ctx, id, r) },

		ReplaceToolCallGroup: func(ctx Context, ids []string, replacements []*record.ToolCall) error {
			return apply(ctx, Delta{Op: ReplaceToolCallGroupOp, Kind: "toolCall", IDs: ids, Records: replacements})
		},
		Commit: commit,
	}
	c.StoreMemory, c.MutateMemory = writers[*record.Memory](apply)
	c.StoreRetrievable, c.MutateRetrievable = writers[*record.Retrievable](apply)
	c.StoreMessage, c.MutateMessage = writers[*record.Message](apply)
	c.StoreThought, c.MutateThought = writers[*record.Thought](apply)
	c.StoreToolCall, c.MutateToolCall = writers[*record.ToolCall](apply)
	c.made = c.functions()
	return c
}

func loadSession(ctx Context, store Store) (*Conversation, error) {
	session, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	c, err := store.Load(ctx, session, "")
	if c == nil && err == nil {
		c = &Conversation{}
	}
	return c, err
}

func fetch[T any](load func(Context) (*Conversation, error), pick func(*Conversation) []T) func(Context) ([]T, error) {
	return func(ctx Context) ([]T, error) {
		c, err := load(ctx)
		if err != nil {
			return nil, err
		}
		return slices.Clone(pick(c)), nil
	}
}

func writers[R record.Type](apply func(Context, Delta) error) (store, mutate func(Context, R) error) {
	write := func(op WriteOp) func(Context, R) error {
		return func(ctx Context, r R) error {
			return apply(ctx, Delta{Op: op, Kind: record.KindOf(r).String(), Record: r, ID: record.Key(r)})
		}
	}
	return write(StoreOp), write(MutateOp)
}

func remover(apply func(Context, Delta) error, kind string) func(Context, string) error {
	return func(ctx Context, id string) error { return apply(ctx, Delta{Op: DeleteOp, Kind: kind, ID: id}) }
}

// MemoryStore is a store in memory. Its zero value is an empty store.
type MemoryStore struct {
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

var _ NewestStore = (*MemoryStore)(nil)

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore { return &MemoryStore{} }

// session returns a session, which it makes if need be. The caller holds m.mu.
func (m *MemoryStore) session(id string) *session {
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
func (m *MemoryStore) Sessions() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	ids := make([]string, 0, len(m.sessions))
	for id := range m.sessions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Forget deletes a session.
func (m *MemoryStore) Forget(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, session)
}

// Load implements Store.
func (m *MemoryStore) Load(_ context.Context, id, after string) (*Conversation, error) {
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
func (m *MemoryStore) Commit(_ context.Context, id string, writes []Delta) error {
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

// Newest implements NewestStore. Deleting a record does not turn the time back.
func (m *MemoryStore) Newest(_ context.Context, id string) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[id]; s != nil {
		return s.newest, nil
	}
	return time.Time{}, nil
}

// WriteBytes implements Store.
func (m *MemoryStore) WriteBytes(_ context.Context, session, id string, data []byte) error {
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
	case d.Op == DeleteOp && i >= 0:
		s.instructions = slices.Delete(s.instructions, i, i+1)
	case text == nil:
	case d.Op == MutateOp && i >= 0:
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
	case d.Op == ReplaceToolCallGroupOp:
		t.replaceGroup(d)
		t.revisions = slices.Repeat([]uint64{revision}, len(t.records))
		return false
	case d.Op == DeleteOp:
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

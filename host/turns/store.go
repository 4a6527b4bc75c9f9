package turns

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/turncore/turncore/abi"
)

// Store keeps the records of conversations, by session. Its methods may be called from many goroutines.
type Store interface {
	// Load returns what a session holds. An unknown session is an empty one: nil stands for that, and in Records a nil list
	// for an empty one.
	Load(ctx context.Context, session string) (*Records, error)
	// Apply does all of the writes, or none.
	Apply(ctx context.Context, session string, writes []Delta) error
	// PutBytes keeps bytes that belong to a record.
	PutBytes(ctx context.Context, session, id string, data []byte) error
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

// Records are what a session holds. Who loads them must not change them.
type Records struct {
	Instructions []string
	Memories     *History[*Memory]
	Retrievables *History[*Retrievable]
	Messages     *History[*Message]
	Thoughts     *History[*Thought]
	ToolCalls    *History[*ToolCall]
}

// SessionKey is the key in a turn's stash that names its session.
const SessionKey = "sessionId"

// sessionOf returns the session that a context belongs to. What is no string is refused: it must not be taken for another
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
	load := func(ctx Context) (*Records, error) { return loadSession(ctx, store) }
	commit := func(ctx Context, deltas []Delta) error {
		session, err := sessionOf(ctx)
		if err != nil {
			return err
		}
		return store.Apply(ctx, session, deltas)
	}
	apply := func(ctx Context, d Delta) error { return commit(ctx, []Delta{d}) }
	bytes := func(ctx Context, id string, r io.Reader) (*Blob, error) {
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		session, err := sessionOf(ctx)
		if err != nil {
			return nil, err
		}
		return NewBlob(data), store.PutBytes(ctx, session, id, data)
	}
	c := Callbacks{
		FetchMemories:               fetch(load, func(r *Records) []*Memory { return r.Memories.Slice() }),
		FetchMessages:               fetch(load, func(r *Records) []*Message { return r.Messages.Slice() }),
		FetchThoughts:               fetch(load, func(r *Records) []*Thought { return r.Thoughts.Slice() }),
		FetchToolCalls:              fetch(load, func(r *Records) []*ToolCall { return r.ToolCalls.Slice() }),
		FetchTools:                  func(Context) ([]*Tool, error) { return nil, nil },
		FetchRetrievables:           fetch(load, func(r *Records) []*Retrievable { return r.Retrievables.Slice() }),
		RefreshStandingInstructions: fetch(load, func(r *Records) []string { return r.Instructions }),

		StoreStandingInstruction: func(ctx Context, text string) error {
			return apply(ctx, Delta{Op: StoreOp, Kind: "standingInstruction", Record: &Instruction{text}, ID: text})
		},
		MutateStandingInstruction: func(ctx Context, old, text string) error {
			return apply(ctx, Delta{Op: MutateOp, Kind: "standingInstruction", Record: &Instruction{text}, ID: old})
		},
		DeleteStandingInstruction: remover(apply, "standingInstruction"),
		DeleteMemory:              remover(apply, "memory"),
		DeleteRetrievable:         remover(apply, "retrievable"),
		DeleteMessage:             remover(apply, "message"),
		DeleteThought:             remover(apply, "thought"),
		DeleteToolCall:            remover(apply, "toolCall"),

		StoreMediaBytes:       func(ctx Context, id string, r io.Reader) (MediaReader, error) { return bytes(ctx, id, r) },
		StoreRetrievableBytes: func(ctx Context, id string, r io.Reader) (SpoolReader, error) { return bytes(ctx, id, r) },

		ReplaceToolCallGroup: func(ctx Context, ids []string, replacements []*ToolCall) error {
			return apply(ctx, Delta{Op: ReplaceToolCallGroupOp, Kind: "toolCall", IDs: ids, Records: replacements})
		},
		Commit: commit,
	}
	c.StoreMemory, c.MutateMemory = writers[*Memory](apply)
	c.StoreRetrievable, c.MutateRetrievable = writers[*Retrievable](apply)
	c.StoreMessage, c.MutateMessage = writers[*Message](apply)
	c.StoreThought, c.MutateThought = writers[*Thought](apply)
	c.StoreToolCall, c.MutateToolCall = writers[*ToolCall](apply)
	c.made = c.functions()
	return c
}

func loadSession(ctx Context, store Store) (*Records, error) {
	session, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	r, err := store.Load(ctx, session)
	if r == nil && err == nil {
		r = &Records{}
	}
	return r, err
}

func fetch[T any](load func(Context) (*Records, error), pick func(*Records) []T) func(Context) ([]T, error) {
	return func(ctx Context) ([]T, error) {
		r, err := load(ctx)
		if err != nil {
			return nil, err
		}
		return pick(r), nil
	}
}

func writers[R Record](apply func(Context, Delta) error) (store, mutate func(Context, R) error) {
	write := func(op WriteOp) func(Context, R) error {
		return func(ctx Context, r R) error {
			return apply(ctx, Delta{Op: op, Kind: kindNames[r.kind()], Record: r, ID: r.key()})
		}
	}
	return write(StoreOp), write(MutateOp)
}

func remover(apply func(Context, Delta) error, kind string) func(Context, string) error {
	return func(ctx Context, id string) error { return apply(ctx, Delta{Op: DeleteOp, Kind: kind, ID: id}) }
}

// LoadConversation is a turn input middleware that puts what the store holds of the turn's session into the turn's
// collections. However long the conversation, a turn costs the same.
func LoadConversation(store Store) TurnMiddleware {
	return func(ctx *TurnContext, next func()) error {
		r, err := loadSession(ctx, store)
		if err != nil {
			return err
		}
		for _, text := range r.Instructions {
			if err := ctx.StandingInstructions().Add(&Instruction{text}); err != nil {
				return err
			}
		}
		// The turn's own message has been stored already: it is in both, as the same record.
		if err := ctx.loadAll(r); err != nil {
			return err
		}
		next()
		return nil
	}
}

// loadAll takes the histories over, in front of what the collections hold.
func (c *TurnContext) loadAll(r *Records) error {
	if err := takeOver(&c.memories, r.Memories); err != nil {
		return err
	}
	if err := takeOver(&c.retrievables, r.Retrievables); err != nil {
		return err
	}
	if err := takeOver(&c.messages, r.Messages); err != nil {
		return err
	}
	if err := takeOver(&c.thoughts, r.Thoughts); err != nil {
		return err
	}
	return takeOver(&c.toolCalls, r.ToolCalls)
}

// takeOver puts a history in front of a collection's elements.
func takeOver[R Record](c *Collection[R], h *History[R]) error {
	if h.Len() == 0 {
		return nil
	}
	mine := c.Slice()
	c.Clear()
	if err := c.AddAll(h); err != nil {
		return err
	}
	return c.Add(mine...)
}

// MemoryStore is a store in memory. Its zero value is an empty store.
type MemoryStore struct {
	mu       sync.Mutex
	sessions map[string]*session
}

type session struct {
	instructions []string
	memories     table[*Memory]
	retrievables table[*Retrievable]
	messages     table[*Message]
	thoughts     table[*Thought]
	toolCalls    table[*ToolCall]
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
		s = &session{bytes: make(map[string][]byte)}
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
func (m *MemoryStore) Load(_ context.Context, id string) (*Records, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.session(id)
	r := &Records{Instructions: slices.Clone(s.instructions)}
	var err error
	for _, load := range []func() error{
		func() error { r.Memories, err = s.memories.history(); return err },
		func() error { r.Retrievables, err = s.retrievables.history(); return err },
		func() error { r.Messages, err = s.messages.history(); return err },
		func() error { r.Thoughts, err = s.thoughts.history(); return err },
		func() error { r.ToolCalls, err = s.toolCalls.history(); return err },
	} {
		if err := load(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Apply implements Store.
func (m *MemoryStore) Apply(_ context.Context, id string, writes []Delta) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.session(id)
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

// PutBytes implements Store.
func (m *MemoryStore) PutBytes(_ context.Context, session, id string, data []byte) error {
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
	switch d.Kind {
	case "standingInstruction":
		s.instruct(d)
	case "memory":
		s.memories.apply(d)
	case "retrievable":
		s.retrievables.apply(d)
	case "message":
		s.messages.apply(d)
	case "thought":
		s.thoughts.apply(d)
	case "toolCall":
		s.toolCalls.apply(d)
	}
}

// note keeps the time of a record that is part of the conversation.
func (s *session) note(r any) {
	var at time.Time
	switch r := r.(type) {
	case *Message:
		at = r.CreatedAt
	case *Thought:
		at = r.CreatedAt
	case *ToolCall:
		at = r.CreatedAt
	}
	if at.After(s.newest) {
		s.newest = at
	}
}

func (s *session) instruct(d *Delta) {
	i := slices.Index(s.instructions, d.ID)
	switch text, _ := d.Record.(*Instruction); {
	case d.Op == DeleteOp && i >= 0:
		s.instructions = slices.Delete(s.instructions, i, i+1)
	case text == nil:
	case d.Op == MutateOp && i >= 0:
		s.instructions[i] = text.Text
	default:
		s.instructions = append(s.instructions, text.Text)
	}
}

// table holds the records of one kind in order. As long as records are only added it is one history, which turns share.
type table[R Record] struct {
	records []R
	shared  *History[R]
	ids     map[string]int // places; nil when out of date
}

func (t *table[R]) history() (*History[R], error) {
	if t.shared == nil {
		h, err := NewHistory(t.records...)
		if err != nil {
			return nil, err
		}
		t.shared = h
	}
	return t.shared, nil
}

func (t *table[R]) place(id string) (int, bool) {
	if t.ids == nil {
		t.ids = make(map[string]int, len(t.records))
		for i, r := range t.records {
			t.ids[r.key()] = i
		}
	}
	i, ok := t.ids[id]
	return i, ok
}

func (t *table[R]) apply(d *Delta) {
	switch r, isRecord := d.Record.(R); {
	case d.Op == ReplaceToolCallGroupOp:
		t.replaceGroup(d)
	case d.Op == DeleteOp:
		if i, ok := t.place(d.ID); ok {
			t.records = slices.Delete(t.records, i, i+1)
			t.ids, t.shared = nil, nil
		}
	case isRecord:
		t.put(r)
	}
}

// put adds a record, or puts it in the place of the one with the same id.
func (t *table[R]) put(r R) {
	if i, ok := t.place(r.key()); ok {
		t.records[i] = r
		t.shared = nil
		return
	}
	t.ids[r.key()] = len(t.records)
	t.records = append(t.records, r)
	if t.shared != nil && t.shared.Append(r) != nil {
		t.shared = nil
	}
}

func (t *table[R]) replaceGroup(d *Delta) {
	at := -1
	t.records = slices.DeleteFunc(t.records, func(r R) bool {
		if !slices.Contains(d.IDs, r.key()) {
			return false
		}
		if at < 0 {
			at, _ = t.place(r.key())
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
	t.ids, t.shared = nil, nil
}

package turns

import (
	"container/list"
	"context"
	"strconv"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// LoadConversation is a turn input middleware that loads the session's records from the store into the turn's
// collections, in front of their own. A present record with the same id, such as the turn's own message, wins over
// the store's copy.
//
// The process remembers the sessions of a store that it loaded last, each with its revision, for all runners, and asks
// the store for later records: see [store.Store]. With revisions a turn costs the same, however long the conversation.
// Without revisions every turn loads and encodes the whole session, but records that the core already has do not cross
// again.
//
// A turn that has loaded its session does not overwrite what others change meanwhile: its commit fails instead, with
// E_SESSION_CONFLICT. See [store.Commit].
func LoadConversation(store store.Store) TurnMiddleware { return loadConversation(keeperOf(store)) }

func loadConversation(k *keeper) TurnMiddleware {
	return func(ctx *TurnContext, next func()) error {
		session, err := sessionOf(ctx)
		if err != nil {
			return err
		}
		c, err := k.loader.load(ctx, session)
		if err != nil {
			return err
		}
		ctx.program.writing.saw(k, session, c.revision)
		for _, text := range c.instructions {
			if _, there := ctx.StandingInstructions().Get(text); there {
				continue
			}
			if err := ctx.StandingInstructions().Add(record.NewInstruction(text)); err != nil {
				return err
			}
		}
		if err := c.enter(ctx); err != nil {
			return err
		}
		next()
		return nil
	}
}

// Bounds on the sessions of a store that are remembered. Beyond them the least recently used session is forgotten,
// and loaded in full at its next use. The last used session always stays.
const (
	mostSessions     = 1024
	mostSessionBytes = 32 << 20 // of encoded records
)

// loader loads sessions from a store and remembers them.
type loader struct {
	store store.Store

	mu       sync.Mutex
	sessions map[string]*list.Element // of *remembered
	recent   *list.List               // used last in front
	bytes    int
}

// remembered is a session as it was loaded last.
type remembered struct {
	session string
	loaded  loaded
	bytes   int
}

func newLoader(store store.Store) *loader {
	return &loader{store: store, sessions: make(map[string]*list.Element), recent: list.New()}
}

// load returns what a session holds. Nobody has to invalidate anything: the store is asked each time, so that writes of
// other processes are seen, and a revision that it does not know brings the whole session.
func (l *loader) load(ctx context.Context, session string) (loaded, error) {
	before := l.recall(session)
	c, err := l.store.Load(ctx, session, before.revision)
	if err != nil {
		return loaded{}, err
	}
	if c == nil {
		c = &store.Conversation{}
	}
	after, err := before.with(c)
	if err != nil {
		return loaded{}, err
	}
	l.remember(session, after)
	return after, nil
}

// recall returns a session as it was loaded last, nothing if it is not remembered.
func (l *loader) recall(session string) loaded {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.sessions[session]
	if e == nil {
		return loaded{}
	}
	l.recent.MoveToFront(e)
	return e.Value.(*remembered).loaded
}

func (l *loader) remember(session string, c loaded) {
	bytes := c.bytes()
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.sessions[session]; e != nil {
		l.forget(e)
	}
	if bytes == 0 {
		return
	}
	l.sessions[session] = l.recent.PushFront(&remembered{session, c, bytes})
	l.bytes += bytes
	for len(l.sessions) > mostSessions || l.bytes > mostSessionBytes && len(l.sessions) > 1 {
		l.forget(l.recent.Back())
	}
}

// forget drops a session. The core forgets its records when no turn has them any more.
func (l *loader) forget(e *list.Element) {
	r := l.recent.Remove(e).(*remembered)
	delete(l.sessions, r.session)
	l.bytes -= r.bytes
}

// loaded is a session as it was loaded. It does not change: its histories may grow, but it has their beginnings.
type loaded struct {
	revision     string
	instructions []string
	memories     beginning[*record.Memory]
	retrievables beginning[*record.Retrievable]
	messages     beginning[*record.Message]
	thoughts     beginning[*record.Thought]
	toolCalls    beginning[*record.ToolCall]
}

// with is the session as the store has it by what it returned: all of it, or what came later.
func (l loaded) with(c *store.Conversation) (after loaded, err error) {
	if c.After != "" && (c.After != l.revision || c.Revision == "") {
		return loaded{}, invalidConversation(c, l.revision)
	}
	after = loaded{revision: c.Revision, instructions: c.Instructions}
	if c.After == "" {
		// The histories stay, as far as they hold the same records.
		l.memories.count, l.retrievables.count, l.messages.count, l.thoughts.count, l.toolCalls.count = 0, 0, 0, 0, 0
	}
	if after.memories, err = l.memories.followedBy(c.Memories); err != nil {
		return loaded{}, err
	}
	if after.retrievables, err = l.retrievables.followedBy(c.Retrievables); err != nil {
		return loaded{}, err
	}
	if after.messages, err = l.messages.followedBy(c.Messages); err != nil {
		return loaded{}, err
	}
	if after.thoughts, err = l.thoughts.followedBy(c.Thoughts); err != nil {
		return loaded{}, err
	}
	after.toolCalls, err = l.toolCalls.followedBy(c.ToolCalls)
	return after, err
}

func invalidConversation(c *store.Conversation, asked string) error {
	reason := "after: is " + strconv.Quote(c.After) + ", but revision " + strconv.Quote(asked) + " was asked for"
	if c.After == asked {
		reason = "revision: must not be empty where after is set"
	}
	return newError(abi.CodeInvalidValue, "what the store loaded: "+reason, nil)
}

// bytes is about how much memory it takes.
func (l loaded) bytes() int {
	return l.memories.bytes() + l.retrievables.bytes() + l.messages.bytes() + l.thoughts.bytes() + l.toolCalls.bytes()
}

// enter puts the records into a turn's collections.
func (l loaded) enter(c *TurnContext) error {
	if err := l.memories.enter(&c.memories); err != nil {
		return err
	}
	if err := l.retrievables.enter(&c.retrievables); err != nil {
		return err
	}
	if err := l.messages.enter(&c.messages); err != nil {
		return err
	}
	if err := l.thoughts.enter(&c.thoughts); err != nil {
		return err
	}
	return l.toolCalls.enter(&c.toolCalls)
}

// beginning is the first records of a history.
type beginning[R record.Type] struct {
	history *History[R] // nil for none
	count   int
}

func (b beginning[R]) bytes() int {
	if b.count == 0 {
		return 0
	}
	return b.history.data.Bytes()
}

// followedBy is the beginning and records behind it: the same history, which grows, unless other records follow there.
func (b beginning[R]) followedBy(records []R) (beginning[R], error) {
	after := beginning[R]{b.history, b.count + len(records)}
	if after.count == 0 {
		return after, nil
	}
	if b.history != nil {
		if ok, err := collections.Extend(b.history.data, b.count, records); ok || err != nil {
			return after, err
		}
		records = append(collections.Slice[R](b.history.data, 0, b.count), records...)
	}
	var err error
	after.history, err = NewHistory(records...)
	if err == nil {
		after.count = after.history.Len()
	}
	return after, err
}

// find returns the record of an id.
func (b beginning[R]) find(id string) (r R, there bool) {
	if b.count == 0 {
		return r, false
	}
	at, in := b.history.data.Place(id)
	if !in || at >= b.count {
		return r, false
	}
	return collections.Slice[R](b.history.data, at, at+1)[0], true
}

// enter puts the records in front of what a collection has.
func (b beginning[R]) enter(c *Collection[R]) error {
	if b.count == 0 {
		return nil
	}
	mine := c.Slice()
	c.Clear()
	own := make(map[string]R, len(mine))
	shared := b.count // records in front of the first that the turn has one of its own for
	for _, r := range mine {
		own[record.Key(r)] = r
		if at, in := b.history.data.Place(record.Key(r)); in {
			shared = min(shared, at)
		}
	}
	if err := c.addFirst(b.history, shared); err != nil {
		return err
	}
	rest := collections.Slice[R](b.history.data, shared, b.count)
	for i, r := range rest {
		if r, there := own[record.Key(r)]; there {
			rest[i] = r
		}
	}
	return c.Add(append(rest, mine...)...)
}

package turns

import (
	"container/list"
	"context"
	"slices"
	"sync"

	"github.com/turncore/turncore/host/internal/queue"
	"github.com/turncore/turncore/host/store"
)

// keeper is what a process has of a store's sessions: those that it loaded last, the turns that wait for each other,
// and the turns that have ended. All runners with a store share its keeper.
type keeper struct {
	store  store.Store
	loader *loader

	queue *queue.Queue

	mu    sync.Mutex
	ended endedTurns
}

// keepers are the keepers of the stores in use.
var keepers queue.PerStore[keeper]

// keeperOf returns the keeper of a store. A store that cannot be told apart from others gets one of its own each time.
func keeperOf(s store.Store) *keeper { return keepers.Get(s, func() *keeper { return newKeeper(s) }) }

func newKeeper(s store.Store) *keeper {
	return &keeper{store: s, loader: newLoader(s), queue: queue.Of(s)}
}

// enter waits until no other turn of a session runs, or refuses the turn if one does. The turn is to run in the
// returned context, and ends with leave. until is that of [queue.Queue.Enter].
func (k *keeper) enter(ctx context.Context, session string, refuse bool, until queue.Until) (in context.Context, leave func(), err error) {
	return k.queue.Enter(ctx, "turn", session, refuse, until)
}

// said tells when the user's message of a turn was said that is about to start. turn is the id that the caller chose,
// "" for none: then it cannot be one that the session has.
func (k *keeper) said(ctx context.Context, session, turn string) (when said, err error) {
	if newest, ok := k.store.(store.Newest); ok {
		if when.after, err = newest.Newest(ctx, session); err != nil || when.after.IsZero() {
			return when, err
		}
	}
	if turn == "" {
		return when, nil
	}
	c, err := k.loader.load(ctx, session)
	if m, there := c.messages.find(userMessage(turn)); there {
		when.at = m.CreatedAt
	}
	return when, err
}

// Bounds on the ended turns that are remembered. Of one that is forgotten the store keeps the keys.
const (
	mostEnded        = 10_000 // sessions
	mostEndedSession = 100    // turns of a session
)

// endedTurns are the turns of sessions that have ended, and that the store has not been told of.
type endedTurns struct {
	of    map[string]*list.Element // by session
	order list.List                // of *endedSession, the oldest in front
}

// endedSession has the turns of a session that have ended.
type endedSession struct {
	session string
	turns   []string
}

// end notes that a turn writes no more to a session.
func (k *keeper) end(session, turn string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := &k.ended
	at := e.of[session]
	if at == nil {
		if e.of == nil {
			e.of = make(map[string]*list.Element)
		}
		at = e.order.PushBack(&endedSession{session: session})
		e.of[session] = at
	}
	s := at.Value.(*endedSession)
	s.turns = append(s.turns, turn)
	s.turns = s.turns[max(len(s.turns)-mostEndedSession, 0):]
	if e.order.Len() > mostEnded {
		e.drop(e.order.Front())
	}
}

// drop forgets a session.
func (e *endedTurns) drop(at *list.Element) {
	delete(e.of, e.order.Remove(at).(*endedSession).session)
}

// toEnd are the turns of a session that a commit is to name as ended.
func (k *keeper) toEnd(session string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.ended.of[session]
	if at == nil {
		return nil
	}
	return slices.Clone(at.Value.(*endedSession).turns)
}

// told forgets ended turns that a commit has named.
func (k *keeper) told(session string, turns []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := &k.ended
	at := e.of[session]
	if at == nil || len(turns) == 0 {
		return
	}
	s := at.Value.(*endedSession)
	s.turns = slices.DeleteFunc(s.turns, func(turn string) bool { return slices.Contains(turns, turn) })
	if len(s.turns) == 0 {
		e.drop(at)
	}
}

package turns

import (
	"container/list"
	"context"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"weak"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/store"
)

// keeper is what a process has of a store's sessions: those that it loaded last, the turns that wait for each other, and
// the turns that have ended. All runners with a store share its keeper.
type keeper struct {
	store  store.Store
	loader *loader

	mu    sync.Mutex
	lines map[string]*line // of the sessions with a turn that runs
	ended endedTurns
}

// keepers are the keepers of the stores in use. A keeper lives as long as what uses it.
var keepers struct {
	sync.Mutex
	of map[store.Store]weak.Pointer[keeper]
}

// keeperOf returns the keeper of a store. A store that cannot be told apart from others gets one of its own each time.
func keeperOf(s store.Store) *keeper {
	if s == nil || !reflect.ValueOf(s).Comparable() {
		return newKeeper(s)
	}
	keepers.Lock()
	defer keepers.Unlock()
	if k := keepers.of[s].Value(); k != nil {
		return k
	}
	if keepers.of == nil {
		keepers.of = make(map[store.Store]weak.Pointer[keeper])
	}
	k := newKeeper(s)
	keepers.of[s] = weak.Make(k)
	runtime.AddCleanup(k, forgetKeeper, s)
	return k
}

func newKeeper(s store.Store) *keeper {
	return &keeper{store: s, loader: newLoader(s), lines: make(map[string]*line)}
}

// forgetKeeper drops a store whose keeper is gone.
func forgetKeeper(s store.Store) {
	keepers.Lock()
	defer keepers.Unlock()
	if keepers.of[s].Value() == nil {
		delete(keepers.of, s)
	}
}

// line is the turns of a session: one that runs, and those that wait for it, in order.
type line struct {
	waiting []chan struct{}
}

// inside is the key of the sessions whose turns a context is inside of.
type inside struct{}

// entered is a session that a context is inside of.
type entered struct {
	keeper  *keeper
	session string
	outer   *entered // nil for none
}

// enter waits until no other turn of a session runs, or refuses the turn if one does. The turn is to run in the returned
// context, and ends with leave.
func (k *keeper) enter(ctx context.Context, session string, refuse bool) (in context.Context, leave func(), err error) {
	outer, _ := ctx.Value(inside{}).(*entered)
	for e := outer; e != nil; e = e.outer {
		if e.keeper == k && e.session == session {
			return nil, nil, newError(abi.CodeSessionBusy, "session "+strconv.Quote(session)+": the turn is started inside another one of it", nil)
		}
	}
	if err := k.lineUp(ctx, session, refuse); err != nil {
		return nil, nil, err
	}
	in = context.WithValue(ctx, inside{}, &entered{k, session, outer})
	return in, sync.OnceFunc(func() { k.leave(session) }), nil
}

func (k *keeper) lineUp(ctx context.Context, session string, refuse bool) error {
	k.mu.Lock()
	l := k.lines[session]
	if l == nil {
		k.lines[session] = &line{}
		k.mu.Unlock()
		return nil
	}
	if refuse {
		k.mu.Unlock()
		return newError(abi.CodeSessionBusy, "session "+strconv.Quote(session), nil)
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	k.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	k.mu.Lock()
	i := slices.Index(l.waiting, turn)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	k.mu.Unlock()
	if i < 0 { // its turn has come at the same time
		k.leave(session)
	}
	return context.Cause(ctx)
}

// leave lets the next turn of a session run.
func (k *keeper) leave(session string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.lines[session]
	if len(l.waiting) == 0 {
		delete(k.lines, session)
		return
	}
	close(l.waiting[0])
	l.waiting = l.waiting[1:]
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

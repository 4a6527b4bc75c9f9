package remote

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/eventlog"
	"github.com/turncore/turncore/host/internal/sse"
	"github.com/turncore/turncore/host/turns"
)

// liveTurn is a turn of a server, and its clients.
type liveTurn struct {
	id      string
	log     *eventlog.Log
	abort   context.CancelFunc // does nothing after the end
	ended   sse.End            // how it ended, once the log has
	readers atomic.Int32       // clients that read its events

	mu     sync.Mutex
	closed map[string]event.GateResult // how its gates were settled, by their ids
}

func (t *liveTurn) push(ev event.Event) {
	if closed, ok := ev.(*event.TurnGateClosed); ok {
		t.mu.Lock()
		if t.closed == nil {
			t.closed = make(map[string]event.GateResult)
		}
		t.closed[closed.GateID] = closed.Result
		t.mu.Unlock()
	}
	t.log.Push(ev)
}

// settled tells how a gate was settled.
func (t *liveTurn) settled(gate string) (result event.GateResult, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	result, known = t.closed[gate]
	return result, known
}

// refusal is why the turn, which has begun or ended, did not start; nil if it did.
func (t *liveTurn) refusal() error {
	if last, _, ended := t.log.State(); !ended || last > 0 {
		return nil
	}
	return t.end().Err
}

// end is the end of the turn, which has ended.
func (t *liveTurn) end() sse.End { return t.ended }

// endOf is the end of a turn with a result, as its stream tells it.
func endOf(result *turns.Result, err error) sse.End {
	if result == nil {
		return sse.End{Status: event.Failed, Err: err}
	}
	return sse.End{Status: result.Status, Iterations: result.Iterations, Err: result.Err}
}

// The ids of forgotten turns are known for a time, and so many of them (abi/WIRE.md, "What a server remembers").
const (
	forgottenFor = time.Hour
	maxForgotten = 10_000
)

// served are the turns that a server knows: those that run, and those that have ended as far as there is room.
type served struct {
	bytes int // of events that are kept of each turn that runs, and of all that have ended

	mu        sync.Mutex
	turns     map[string]*liveTurn
	past      []*liveTurn // that have ended, the first ended first
	size      int         // of their events
	forgotten map[string]struct{}
	order     []forgottenTurn // the first forgotten first
	now       func() time.Time
}

// forgottenTurn is a turn whose events are gone.
type forgottenTurn struct {
	id string
	at time.Time
}

func newServed(bytes int) served {
	return served{
		bytes: bytes, turns: make(map[string]*liveTurn), forgotten: make(map[string]struct{}), now: time.Now,
	}
}

// find returns a turn, nil for one that was never here. E_TURN_EVENTS_LOST is the error for a forgotten one.
func (s *served) find(id string) (*liveTurn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.get(id)
}

func (s *served) get(id string) (*liveTurn, error) {
	s.expire()
	if _, gone := s.forgotten[id]; gone {
		return nil, eventlog.Lost()
	}
	return s.turns[id], nil
}

// require returns a turn. E_TURN_UNKNOWN is the error for one that was never here.
func (s *served) require(id string) (*liveTurn, error) {
	t, err := s.find(id)
	if t == nil && err == nil {
		err = host.NewError(host.CodeTurnUnknown, id, nil)
	}
	return t, err
}

// findOrAdd returns a turn, and runs it if it was never here.
func (s *served) findOrAdd(id string, run func(*liveTurn)) (*liveTurn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.get(id)
	if t != nil || err != nil {
		return t, err
	}
	t = &liveTurn{id: id, log: eventlog.New(s.bytes)}
	s.turns[id] = t
	run(t)
	return t, nil
}

// remove forgets a turn that did not start.
func (s *served) remove(t *liveTurn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns[t.id] == t {
		delete(s.turns, t.id)
	}
}

// ended forgets the turns that ended first, as far as there is no room for them beside this one.
func (s *served) ended(t *liveTurn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.size() == 0 { // it did not start
		delete(s.turns, t.id)
		return
	}
	s.past = append(s.past, t)
	s.size += t.size()
	for s.size > s.bytes && len(s.past) > 1 {
		old := s.past[0]
		s.past[0], s.past = nil, s.past[1:]
		s.size -= old.size()
		if s.turns[old.id] == old {
			delete(s.turns, old.id)
			s.forgotten[old.id] = struct{}{}
			s.order = append(s.order, forgottenTurn{old.id, s.now()})
		}
	}
	s.expire()
}

// expire lets go of ids that need not be known any more.
func (s *served) expire() {
	for len(s.order) > 0 {
		if first := s.order[0]; len(s.order) > maxForgotten || s.now().Sub(first.at) >= forgottenFor {
			delete(s.forgotten, first.id)
			s.order = s.order[1:]
			continue
		}
		return
	}
}

// size is about how many bytes the events of the turn, which has ended, take.
func (t *liveTurn) size() int {
	_, size, _ := t.log.State()
	return size
}

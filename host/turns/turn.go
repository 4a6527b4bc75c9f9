package turns

import (
	"context"
	"sync"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bus"
	"github.com/turncore/turncore/host/internal/collections"
)

// turn is a running turn, or a standalone dispatch, on the host's side.
//
// One lock guards it all. A step of the core happens under that lock, so that what host code does to the collections and
// what the core does to them never cross. User code never runs under it.
type turn struct {
	core         *core
	config       *definition
	runner       *openRunner
	number       uint32
	id           string
	standalone   bool // a dispatch without a turn
	root         *TurnContext
	systemPrompt string
	now          int64 // clock at the start
	outer        context.Context
	bus          *bus.Bus  // the runner's, nil for a standalone dispatch
	flight       *inFlight // the runner's, nil for a standalone dispatch
	own          *bus.Bus  // this turn's alone, nil if there is none
	journal      *recorder

	mu       sync.Mutex
	wake     sync.Cond
	elapsed  uint64
	contexts []*dispatchOrTurn // by number
	opening  *definition       // whose the next dispatch is
	acking   *DispatchContext  // whose ack host code calls, during its step

	handles collections.Handles
	tools   toolNumbers
	errors  errorTable
	edits   edits

	calls    map[uint32]*call
	waiters  []*waiter // that may be used again
	lastCall uint32
	running  map[uint32]*effect // outstanding effects
	// Histories that the turn has taken over, by their handles in the program: the core forgets one that nobody holds.
	histories []any
	kept      map[uint32]any           // results of tools that wait for their caller, or for the record that holds them
	results   map[streamKey]any        // of tool calls, as reported
	texts     [2]map[streamKey]*stream // messages and thoughts, as reported
	emitted   [2]map[streamKey]*stream // the same, as contexts emit them
	emitting  *stream                  // that a call is about to emit to
	scratch   []byte

	queue      []delivery
	head       int    // of queue
	enqueued   uint64 // deliveries so far
	delivered  uint64
	delivering bool
	parked     int // goroutines that wait inside a listener
	waiting    int // goroutines that wait for wake
	started    bool
	closed     bool
	done       bool
	unwatch    func() bool // ends the watch over outer; nil for none
	collect    collector
	begun      []begun
	seq        uint32
	timer      *time.Timer
	ticking    bool        // the core is owed the time
	grace      *time.Timer // runs out on a core that should have ended the turn; nil for none
	end        ending
	dead       error // why the instance died

	gates   map[uint32]*openGate                           // open ones, by number
	opened  *openGate                                      // the last one
	book    *gateBook                                      // the runner's, nil for a standalone dispatch
	waitFor func(ctx context.Context, g Gate) (any, error) // of a standalone dispatch

	batch  []byte // of the step under way
	frames inFrames
}

// dispatchOrTurn is one of a turn's contexts.
type dispatchOrTurn struct {
	state    *contextState
	turn     *TurnContext     // number 0
	dispatch *DispatchContext // all others
}

// streamKey names a stream of text: streams of different dispatches are different ones.
type streamKey struct {
	dispatch uint32
	id       string
}

// ending is how a turn ended.
type ending struct {
	status     event.Status
	iterations int
	err        error
	refused    bool // the input, before any event
}

// inFrames are reused, as frames escape to the heap.
type inFrames struct {
	call   abi.Call
	result abi.Result
	abort  abi.Abort

	event  abi.Event
	reply  abi.Reply
	effect abi.Effect
	sync   abi.Sync
}

func newTurn(c *core, config *definition, outer context.Context) *turn {
	t := &turn{
		core: c, config: config, opening: config, outer: outer,
		calls: make(map[uint32]*call), running: make(map[uint32]*effect),
	}
	t.wake.L = &t.mu
	t.errors.most = c.maxBody() / 4
	t.tools.runner = config.tools
	state := &contextState{turn: t, tools: toolSet{tools: config.tools, shared: true}}
	t.root = &TurnContext{newBase(state)}
	t.contexts = append(make([]*dispatchOrTurn, 0, 2), &dispatchOrTurn{state: state, turn: t.root})
	return t
}

func (t *turn) context(number uint32) *dispatchOrTurn {
	if int(number) < len(t.contexts) {
		return t.contexts[number]
	}
	return nil
}

// at is the time of something that happened ms after the turn's start.
func (t *turn) at(elapsed uint64) time.Time { return time.UnixMilli(t.now + int64(elapsed)).UTC() }

// tick reads the clock. What it returns never goes back within a turn. The caller holds t.mu.
func (t *turn) tick() uint64 {
	if ms := t.core.host.options.Clock() - t.now; ms > int64(t.elapsed) {
		t.elapsed = uint64(ms)
	}
	return t.elapsed
}

// abort aborts a context: on the host at once, then in the core.
func (t *turn) abort(c *contextState, cause error) {
	about := describe(cause, cause)
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.aborted || t.closed {
		return
	}
	c.abort(cause)
	t.frames.abort = abi.Abort{
		Turn: t.number, Elapsed: t.tick(), Context: c.number, Reason: t.errors.keep(cause, about),
	}
	a := actor{busy: true, first: true}
	if err := t.exchange(&a, &t.frames.abort); err != nil && !t.closed {
		t.perish(t.core.inst.Retire(err))
	}
	t.await(&a)
}

// leave takes the turn out of where turns are counted.
func (t *turn) leave() {
	t.core.leave(t)
	t.core.host.flight.leave(t)
	if t.flight != nil {
		t.flight.leave(t)
	}
}

// finish frees what a turn holds that has ended. The caller holds t.mu.
func (t *turn) finish() {
	t.done = true
	t.leave()
	if t.unwatch != nil {
		t.unwatch()
	}
	for _, c := range t.contexts {
		if c.state.cancel != nil {
			c.state.cancel(errEnded)
		}
	}
	for _, e := range t.running {
		if e.cancel != nil {
			e.cancel()
		}
	}
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.grace != nil {
		t.grace.Stop()
	}
	t.wake.Broadcast()
}

// setTimer has the core told the time at due, ms after the turn's start; 0 for never. What is due already is told when
// all that precedes it was delivered. The caller holds t.mu.
func (t *turn) setTimer(due uint64) {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	t.ticking = due > 0
	switch {
	case due == 0:
	case due <= max(t.elapsed, 1): // the core can not ask for 0
		t.enqueue(delivery{tick: due})
	default:
		wait := time.Duration(max(int64(due)-int64(t.tick()), 0)) * time.Millisecond
		t.timer = time.AfterFunc(wait, func() { t.tell(due) })
	}
}

// tell tells the core the time, which is due or later: the timer has measured it, also where the clock stands still.
func (t *turn) tell(due uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.elapsed = max(t.elapsed, due)
	t.ticking = false // if it is to hear more, it says so
	a := actor{busy: true}
	if err := t.exchange(&a, &abi.Tick{Turn: t.number, Elapsed: t.tick()}); err != nil && !t.closed {
		t.perish(t.core.inst.Retire(err))
	}
	t.await(&a)
}

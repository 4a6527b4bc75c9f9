// Package turn has the machinery of turns: what a running turn, or a dispatch without one, is on the host's side. It
// steps the core, keeps the host's copy of the collections, delivers events and runs effects. What it knows of the
// program's functions, tools and contexts is a [Program].
package turn

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bus"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/internal/core"
	"github.com/turncore/turncore/host/internal/guard"
	"github.com/turncore/turncore/host/internal/stash"
	"github.com/turncore/turncore/host/internal/whole"
)

// Program is the program's side of a turn: its functions and its tools, and the contexts that they take. All methods
// are called under the turn's lock.
type Program interface {
	// Open makes the program's side of a dispatch that begins as a copy of another context. d is what Context.Dispatch
	// was given, nil for the turn's own dispatch.
	Open(c, from *Context, d core.Definition)
	// Prepare decodes the arguments of an effect and sets what performs it. It may take f.Args, which is reused, by
	// setting it to nil.
	Prepare(e *Effect, f *abi.Effect) error
	// SetTools replaces the tools of a context by those of a list of numbers.
	SetTools(c *Context, numbers abi.Raw) error
	// AdoptTool takes in a tool that the core has made.
	AdoptTool(definition abi.Raw) error
}

// Stepper is the Program of an invocation, whose contexts are the steps of agents.
type Stepper interface {
	Program
	// Step makes the program's side of a step of the agent of a number.
	Step(c *Context, agent uint32) error
}

// Spec is what a turn is made of.
type Spec struct {
	ID           string // one is made if it is empty
	SystemPrompt string
	Stash        stash.Data
	Standalone   bool       // a dispatch without a turn
	Program      Program    // sees to what only the program can do
	Face         any        // of the turn's own context
	Flights      [2]*Flight // that it is part of: the host's and the runner's; nil for none
	Bus          *bus.Bus   // the runner's, nil for a standalone dispatch
	Own          *bus.Bus   // this turn's alone, nil if there is none
	Gates        *Gates     // the runner's, nil for a standalone dispatch
	Journal      io.Writer  // nil for none
}

// Turn is a running turn, or a standalone dispatch.
//
// One lock guards it all. A step of the core happens under that lock, so that what host code does to the collections
// and what the core does to them never cross. User code never runs under it.
type Turn struct {
	Spec
	core     *core.Core
	runner   *core.Runner
	number   uint32
	lastCall uint32
	now      int64 // clock at the start
	outer    context.Context
	journal  *recorder

	mu       sync.Mutex
	wake     sync.Cond
	elapsed  uint64
	root     Context
	contexts []*Context      // by number, root first
	opening  core.Definition // whose the next dispatch is; nil for the turn's own
	acking   *Context        // whose ack host code calls, during its step

	handles collections.Handles
	errors  errorTable
	edits   edits

	calls   map[uint32]*call
	waiters []*waiter          // that may be used again
	running map[uint32]*Effect // outstanding effects
	ahead   *Effect            // the one that the core has gone ahead of; nil for none
	behind  []*Effect          // those that wait for it
	given   []*Effect          // those that have given something which nobody has taken yet
	take    func(given any) error
	away    *Effect // that the caller of the invocation performs, while it can take nothing; nil for none
	quit    func()  // ends the caller of the invocation as take has ended a goroutine of its own; nil if it has not
	// Histories that the turn has taken over, by their handles in the program: the core forgets one that nobody holds.
	histories []any
	kept      map[uint32]any           // results of tools that wait for their caller, or for the record that holds them
	results   map[streamKey]any        // of tool calls, as reported
	texts     [2]map[streamKey]*stream // messages and thoughts, as reported
	emitted   [2]map[streamKey]*stream // the same, as contexts emit them
	emitting  *stream                  // that a call is about to emit to
	cuts      map[cut]whole.Text       // what waits for the rest of a character, by stream

	queue     *queue // nil for nothing
	enqueued  uint64 // deliveries so far
	delivered uint64
	parked    int         // goroutines that wait inside a listener
	waiting   int         // goroutines that wait for wake
	unwatch   func() bool // ends the watch over outer; nil for none
	collect   Collector
	begun     []begun
	seq       uint32
	made      uint32       // events that the host made while the core lived
	models    []*modelCall // that have begun
	timer     *time.Timer
	overdue   int         // how often in a row the core asked for a time that had passed
	grace     *time.Timer // runs out on a core that should have ended the turn; nil for none
	end       ending
	dead      error // why the instance died

	started    bool
	delivering bool
	taking     bool // take runs
	left       bool // take has not returned: its goroutine ends, or a panic unwinds it
	ticking    bool // the core is owed the time
	cut        bool // the last step exceeded the quota: little of it is told
	closed     bool
	done       bool

	used       guard.Usage // of the quota
	seen, told int64       // tokens: that the host saw itself, that the core reports
	limit      error       // the bound of the quota that is exceeded, nil for none
	logged     int64       // bytes of log

	gates  map[uint32]*openGate // open ones, by number
	opened *openGate            // the last one

	space *space // of the exchange under way
	first firstRoom
}

// firstRoom is what lists of a turn begin with: most need no more.
type firstRoom struct {
	contexts               [4]*Context
	given, behind, effects [2]*Effect
	waiters                [1]*waiter
	begun                  [3]begun
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

// New returns a turn of a runner in a core. Before [Turn.Run] it must enter: see [Turn.Join].
func New(c *core.Core, runner *core.Runner, outer context.Context, s Spec) *Turn {
	t := &Turn{
		Spec: s, core: c, runner: runner, outer: outer,
		calls: make(map[uint32]*call), running: make(map[uint32]*Effect),
	}
	t.wake.L = &t.mu
	t.errors.most = c.MaxBody() / 4
	t.root = Context{Face: s.Face, turn: t, stash: s.Stash}
	t.root.later.of = &t.root
	t.contexts, t.waiters = append(t.first.contexts[:0], &t.root), t.first.waiters[:0]
	t.given, t.behind, t.begun = t.first.given[:0], t.first.behind[:0], t.first.begun[:0]
	return t
}

// Join makes the turn one of its core's, and then of its flights. retry tells that the core takes no turns any more, so
// that another one may.
func (t *Turn) Join() (retry bool, err error) {
	if t.core.Enter(t) != nil {
		return true, nil
	}
	for _, f := range t.Flights {
		if f == nil {
			continue
		}
		if err := f.enter(t); err != nil {
			t.leave()
			return false, err
		}
	}
	return false, nil
}

// Enter implements core.Turn.
func (t *Turn) Enter(number uint32) { t.number = number }

// Fail implements core.Turn.
func (t *Turn) Fail(err error) {
	t.mu.Lock()
	t.die(err)
	t.mu.Unlock()
	// Its own goroutines may be busy in user code; the events must not wait for them.
	go t.settle()
}

// Root is the turn's own context.
func (t *Turn) Root() *Context { return &t.root }

// Value is that of the context.Context that the turn was given.
func (t *Turn) Value(key any) any { return t.outer.Value(key) }

// Core is what the turn runs in.
func (t *Turn) Core() *core.Core { return t.core }

// Lock takes the turn's lock.
func (t *Turn) Lock() { t.mu.Lock() }

// Unlock gives it back.
func (t *Turn) Unlock() { t.mu.Unlock() }

// Closed tells whether the turn takes no further calls. The caller holds its lock.
func (t *Turn) Closed() bool { return t.closed }

// Now is the clock at the turn's start, in ms.
func (t *Turn) Now() int64 { return t.now }

func (t *Turn) context(number uint32) *Context {
	if int(number) < len(t.contexts) {
		return t.contexts[number]
	}
	return nil
}

// at is the time of something that happened ms after the turn's start.
func (t *Turn) at(elapsed uint64) time.Time { return time.UnixMilli(t.now + int64(elapsed)).UTC() }

// tick reads the clock. What it returns never goes back within a turn. The caller holds t.mu.
func (t *Turn) tick() uint64 {
	if ms := min(t.core.Clock(), abi.MaxInt) - t.now; ms > int64(t.elapsed) && ms <= abi.MaxInt {
		t.elapsed = uint64(ms)
	}
	return t.elapsed
}

// abort aborts a context: on the host at once, then in the core.
func (t *Turn) abort(c *Context, cause error) {
	about := describe(cause, cause)
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.aborted || t.closed {
		return
	}
	c.abort(cause)
	f := &abi.Abort{Turn: t.number, Elapsed: t.tick(), Context: c.number, Reason: t.errors.keep(cause, about)}
	a := actor{busy: true, first: true}
	if err := t.exchange(&a, f); err != nil && !t.closed {
		t.perish(t.core.Retire(err))
	}
	t.await(&a)
}

// leave takes the turn out of where turns are counted.
func (t *Turn) leave() {
	t.core.Leave(t.number)
	for _, f := range t.Flights {
		if f != nil {
			f.leave(t)
		}
	}
}

// finish frees what a turn holds that has ended. The caller holds t.mu.
func (t *Turn) finish() {
	t.done = true
	t.leave()
	if t.unwatch != nil {
		t.unwatch()
	}
	for _, c := range t.contexts {
		if c.cancel != nil {
			c.cancel(errEnded)
		}
	}
	for _, e := range t.running {
		if e.Cancel != nil {
			e.Cancel()
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
func (t *Turn) setTimer(due uint64) error {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	t.ticking = due > 0
	switch {
	case due == 0:
	case due <= max(t.elapsed, 1): // the core can not ask for 0
		if t.overdue++; t.overdue > maxOverdue {
			return fmt.Errorf("the turn asked %d times in a row for a time that had passed", maxOverdue)
		}
		t.enqueue(delivery{tick: due})
	default:
		t.overdue = 0
		wait := time.Duration(max(int64(due)-int64(t.tick()), 0)) * time.Millisecond
		t.timer = time.AfterFunc(wait, func() { t.tell(due) })
	}
	return nil
}

// maxOverdue is how often in a row, with nothing else to tell in between, a core may ask for a time that has passed: a
// sound one asks for the time to come.
const maxOverdue = 1000

// tell tells the core the time, which is due or later: the timer has measured it, also where the clock stands still.
func (t *Turn) tell(due uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.elapsed = max(t.elapsed, due)
	t.ticking = false // if it is to hear more, it says so
	a := actor{busy: true}
	if err := t.exchange(&a, &abi.Tick{Turn: t.number, Elapsed: t.tick()}); err != nil && !t.closed {
		t.perish(t.core.Retire(err))
	}
	t.await(&a)
}

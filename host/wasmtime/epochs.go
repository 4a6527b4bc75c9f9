package wasmtime

import (
	"sync"
	"sync/atomic"
	"time"
)

// epochs count the time while guests run: Wasmtime's compiled code compares the epoch of its engine with a deadline of
// its own. All instances of an engine share one timer, which stands still while none runs.
type epochs struct {
	tick  time.Duration
	ticks uint64 // that a guest has

	running atomic.Int64 // guests
	armed   atomic.Bool  // the timer, or it is about to be

	mu      sync.Mutex // of what follows
	next    func()     // begins the next epoch
	timer   *time.Timer
	stopped bool
}

// ticksOf is how many ticks a time has: what it is exceeded by is one.
const ticksOf = 16

func newEpochs(timeout time.Duration, next func()) *epochs {
	tick := max(timeout/ticksOf, time.Millisecond)
	// The first tick comes at any time after a guest begins.
	return &epochs{tick: tick, ticks: uint64((timeout+tick-1)/tick) + 1, next: next}
}

// begin notes that a guest runs, until end.
func (e *epochs) begin() {
	e.running.Add(1)
	if e.armed.CompareAndSwap(false, true) {
		e.arm()
	}
}

func (e *epochs) end() { e.running.Add(-1) }

// arm sets the timer.
func (e *epochs) arm() {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.stopped:
	case e.timer == nil:
		e.timer = time.AfterFunc(e.tick, e.beat)
	default:
		e.timer.Reset(e.tick)
	}
}

// beat begins an epoch, and lets the timer stand still if no guest runs.
func (e *epochs) beat() {
	e.mu.Lock()
	if !e.stopped {
		e.next()
	}
	e.mu.Unlock()
	if e.running.Load() > 0 {
		e.arm()
		return
	}
	e.armed.Store(false)
	if e.running.Load() > 0 && e.armed.CompareAndSwap(false, true) { // one that began meanwhile
		e.arm()
	}
}

// stop ends the epochs, when no guest runs.
func (e *epochs) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	if e.timer != nil {
		e.timer.Stop()
	}
}

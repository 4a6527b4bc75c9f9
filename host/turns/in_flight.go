package turns

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// ErrClosed is the error of Run, Stream and Dispatch after Close or Shutdown, and of turns that Close cuts off or
// Shutdown aborts.
var ErrClosed error = host.CodeClosed

// shutdownGrace is how long Shutdown waits for turns that it has aborted.
const shutdownGrace = time.Second

// inFlight are the turns of a runner or a host that have begun and not ended. Its zero value is ready to use.
type inFlight struct {
	mu     sync.Mutex
	closed bool
	turns  []*turn
	idle   chan struct{} // is closed when the last turn ends; nil while nobody waits
}

// enter notes a turn that begins, or refuses it.
func (f *inFlight) enter(t *turn) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return newError(abi.CodeClosed, "", nil)
	}
	f.turns = append(f.turns, t)
	return nil
}

// leave notes that a turn has ended.
func (f *inFlight) leave(t *turn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.Index(f.turns, t); i >= 0 {
		f.turns = slices.Delete(f.turns, i, i+1)
	}
	if len(f.turns) == 0 && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}

// close lets no further turn begin and returns those in flight.
func (f *inFlight) close() []*turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return slices.Clone(f.turns)
}

// ended returns a channel that is closed when no turn is in flight.
func (f *inFlight) ended() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.turns) == 0 {
		none := make(chan struct{})
		close(none)
		return none
	}
	if f.idle == nil {
		f.idle = make(chan struct{})
	}
	return f.idle
}

// drain lets no further turn begin and waits for those in flight. When ctx ends first it aborts them, waits for them a
// moment longer and returns why.
func (f *inFlight) drain(ctx context.Context) error {
	f.close()
	ended := f.ended()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-ended:
		return nil
	default:
	}
	abortAll(f.close(), newError(abi.CodeClosed, "shut down before the turn had ended", context.Cause(ctx)))
	select {
	case <-ended:
	case <-time.After(shutdownGrace):
	}
	return context.Cause(ctx)
}

// abortAll aborts turns, each on a goroutine of its own: listeners run there.
func abortAll(turns []*turn, cause error) {
	for _, t := range turns {
		go t.abort(t.root.state, cause)
	}
}

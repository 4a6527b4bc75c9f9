package turn

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// shutdownGrace is how long Shutdown waits for turns that it has aborted.
const shutdownGrace = time.Second

// Flight are the turns of a runner or a host that have begun and not ended. Its zero value is ready to use.
type Flight struct {
	mu     sync.Mutex
	closed bool
	turns  []*Turn
	idle   chan struct{} // is closed when the last turn ends; nil while nobody waits
	shut   chan struct{} // is closed when no further turn may begin; nil while nobody waits
}

// enter notes a turn that begins, or refuses it.
func (f *Flight) enter(t *Turn) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return host.NewError(abi.CodeClosed, "", nil)
	}
	f.turns = append(f.turns, t)
	return nil
}

// leave notes that a turn has ended.
func (f *Flight) leave(t *Turn) {
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

// Close lets no further turn begin and returns those in flight.
func (f *Flight) Close() []*Turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.shut != nil {
		close(f.shut)
		f.shut = nil
	}
	return slices.Clone(f.turns)
}

// Until returns a context for a turn that waits for its beginning: it ends with E_CLOSED when no further turn may
// begin. Call stop when the wait is over.
func (f *Flight) Until(ctx context.Context) (wait context.Context, stop func()) {
	wait, cancel := context.WithCancelCause(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		cancel(host.NewError(abi.CodeClosed, "", nil))
		return wait, func() {}
	}
	if f.shut == nil {
		f.shut = make(chan struct{})
	}
	shut := f.shut
	go func() {
		select {
		case <-shut:
			cancel(host.NewError(abi.CodeClosed, "", nil))
		case <-wait.Done():
		}
	}()
	return wait, func() { cancel(nil) }
}

// ended returns a channel that is closed when no turn is in flight.
func (f *Flight) ended() <-chan struct{} {
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

// Drain lets no further turn begin and waits for those in flight. When ctx ends first it aborts them, waits for them a
// moment longer and returns why.
func (f *Flight) Drain(ctx context.Context) error {
	f.Close()
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
	AbortAll(f.Close(), host.NewError(abi.CodeClosed, "shut down before the turn had ended", context.Cause(ctx)))
	select {
	case <-ended:
	case <-time.After(shutdownGrace):
	}
	return context.Cause(ctx)
}

// AbortAll aborts turns, each on a goroutine of its own: listeners run there.
func AbortAll(turns []*Turn, cause error) {
	for _, t := range turns {
		go t.Root().Abort(cause)
	}
}

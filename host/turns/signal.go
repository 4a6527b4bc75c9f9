package turns

import (
	"fmt"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bus"
)

// Ack ends the dispatch successfully after the current iteration. A second signal fails with
// E_LLM_EXECUTION_ALREADY_SIGNALLED.
func (c *DispatchContext) Ack() error {
	handlers, err := c.ack()
	callAcked(handlers, runOnAck)
	return err
}

// ack acks, and returns the handlers that are to be told.
func (c *DispatchContext) ack() ([]*func(), error) {
	t := c.state.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := t.invokeLocked(c.state.number, abi.MethodAck, func() (abi.Raw, error) {
		t.acking = c
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	return c.onAck, nil
}

// Nack fails the dispatch with the given error once the running code has returned; the iteration's writes are
// discarded. nil stands for an unspecified error.
func (c *DispatchContext) Nack(cause error) error {
	var args abi.NackArgs
	if cause != nil {
		args.Error = describe(cause, c.state.reason())
	}
	t := c.state.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := t.invokeLocked(c.state.number, abi.MethodNack, func() (abi.Raw, error) {
		if cause != nil {
			t.errors.keep(cause, args.Error)
		}
		return args.Append(nil), nil
	})
	return err
}

// OnAck calls a function once when the dispatch is acked: before Ack returns or, for an ack inside the core, before
// the next event. It does not call it if the dispatch has already been acked, or on a nack. A panic in it is ignored.
// The returned function removes it. OnAck panics for a nil function.
func (c *DispatchContext) OnAck(fn func()) (cancel func()) {
	if fn == nil {
		panic("turns: nil ack handler")
	}
	t := c.state.turn
	entry := &fn
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.acked {
		return func() {}
	}
	c.onAck = append(slices.Clip(c.onAck), entry)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		c.onAck = slices.DeleteFunc(slices.Clone(c.onAck), func(e *func()) bool { return e == entry })
	}
}

func runOnAck(fn *func()) {
	defer func() { _ = recover() }() // the contract: an ack handler's failure is nobody's
	(*fn)()
}

// readSignal takes note that a dispatch was acked, nacked or aborted. The ack handlers of host code's own call run after its reply;
// all others are queued, as user code does not run here.
func (t *turn) readSignal(c *DispatchContext, f *abi.Sync) error {
	abort := f.Handle == abi.SignalAbort
	if c == nil || !abort && (c.acked || c.nacked) {
		return fmt.Errorf("signal of context %d, which takes none", f.Context)
	}
	reason, err := abi.BytesOf(f.Data)
	switch {
	case err != nil:
		return err
	case f.Handle == abi.SignalAck:
		c.acked = true
		if t.acking != c {
			t.enqueue(delivery{acked: c})
		}
		return nil
	case f.Handle == abi.SignalNack || abort:
		var v abi.ErrorValue
		if err := abi.DecodeTo(reason, &v); err != nil {
			return err
		}
		if abort {
			c.state.abort(t.errors.decode(&v))
			return nil
		}
		c.nacked, c.nackErr = true, t.errors.decode(&v)
		return nil
	}
	return fmt.Errorf("signal %d of context %d is unknown", f.Handle, f.Context)
}

// tellAcked calls the ack handlers of a dispatch, without the lock.
func (t *turn) tellAcked(c *DispatchContext) {
	handlers := c.onAck
	if len(handlers) == 0 {
		return
	}
	t.mu.Unlock()
	defer t.mu.Lock()
	callAcked(handlers, func(fn *func()) {
		// As listeners are called, for deliveries wait for it alike. Its failure is nobody's, as after an own ack.
		var failures []error
		bus.Notify(func(event.Event) { (*fn)() }, nil, &failures)
	})
}

// callAcked calls ack handlers, also those behind one that ends the goroutine.
func callAcked(handlers []*func(), call func(*func())) {
	next := 0
	defer func() {
		if next < len(handlers) {
			callAcked(handlers[next:], call)
		}
	}()
	for next < len(handlers) {
		next++
		call(handlers[next-1])
	}
}

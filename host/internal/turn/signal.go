package turn

import (
	"fmt"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bus"
)

// Ack acks the dispatch and calls its ack handlers.
func (c *Context) Ack() error {
	handlers, err := c.ack()
	callAcked(handlers, runOnAck)
	return err
}

// ack acks, and returns the handlers that are to be told.
func (c *Context) ack() ([]*func(), error) {
	t := c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := c.InvokeLocked(abi.MethodAck, func(b []byte) ([]byte, error) {
		t.acking = c
		return b, nil
	})
	if err != nil {
		return nil, err
	}
	return c.onAck, nil
}

// Nack nacks the dispatch with an error; nil stands for an unspecified one.
func (c *Context) Nack(cause error) error {
	var args abi.NackArgs
	if cause != nil {
		args.Error = describe(cause, c.Reason())
	}
	t := c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := c.InvokeLocked(abi.MethodNack, func(b []byte) ([]byte, error) {
		if cause != nil {
			t.errors.keep(cause, args.Error)
		}
		return args.Append(b), nil
	})
	return err
}

// OnAck calls a function once when the dispatch is acked: before Ack returns or, for an ack inside the core, before
// the next event. The returned function removes it.
func (c *Context) OnAck(fn func()) (cancel func()) {
	t := c.turn
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

// readSignal takes note that a dispatch was acked, nacked or aborted. The ack handlers of host code's own call run
// after its reply; all others are queued, as user code does not run here.
func (t *Turn) readSignal(c *Context, f *abi.Sync) error {
	abort := f.Handle == abi.SignalAbort
	if c.number == 0 || !abort && (c.acked || c.nacked) {
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
			c.abort(t.errors.decode(&v))
			return nil
		}
		c.nacked, c.nackErr = true, t.errors.decode(&v)
		return nil
	}
	return fmt.Errorf("signal %d of context %d is unknown", f.Handle, f.Context)
}

// tellAcked calls the ack handlers of a dispatch, without the lock.
func (t *Turn) tellAcked(c *Context) {
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

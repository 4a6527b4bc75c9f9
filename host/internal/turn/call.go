package turn

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/core"
)

// Invoke calls a method of the context in the core and returns the reply's value. args appends the arguments, under
// the turn's lock; nil for none.
func (c *Context) Invoke(method uint8, args arguments) ([]byte, error) {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	return c.InvokeLocked(method, args)
}

// InvokeLocked is Invoke for a caller that holds the turn's lock.
func (c *Context) InvokeLocked(method uint8, args arguments) ([]byte, error) {
	return c.invokeThen(method, args, nil)
}

// invokeThen is InvokeLocked for a call that is answered later: taken, unless it is nil, runs when the core has taken
// the call.
func (c *Context) invokeThen(method uint8, args arguments, taken func()) ([]byte, error) {
	t := c.turn
	if t.closed {
		return nil, t.deadOr(ErrAfterEnd())
	}
	s := takeSpace()
	var raw abi.Raw
	if args != nil {
		var err error
		if raw, err = args(s.args[:0]); err != nil {
			s.free()
			return nil, err
		}
		s.args = raw
	}
	w := t.waiter()
	w.actor.first = method == abi.MethodSettleGate
	t.lastCall++
	number := t.lastCall
	t.calls[number] = &w.call
	s.call = abi.Call{
		Turn: t.number, Call: number, Elapsed: t.tick(), Context: c.number, Method: method, Args: raw,
	}
	err := t.exchangeIn(s, &w.actor, &s.call)
	t.opening, t.acking, t.emitting = nil, nil, nil
	if err != nil {
		delete(t.calls, number)
		w.actor.call = nil
		t.await(&w.actor)
		return nil, err
	}
	if taken != nil {
		taken()
	}
	t.await(&w.actor)
	reply, err := w.call.value, w.call.err
	if w.call.delivered {
		t.waiters = append(t.waiters, w)
	}
	return reply, err
}

// waiter is a goroutine that waits for the reply to a call. They are used again, as calls are many.
type waiter struct {
	actor actor
	call  call
	few   [1]*Effect // room for what the actor's steps cause
}

func (t *Turn) waiter() *waiter {
	n := len(t.waiters)
	if n == 0 {
		w := &waiter{}
		w.actor = actor{call: &w.call, effects: w.few[:0]}
		return w
	}
	w := t.waiters[n-1]
	t.waiters = t.waiters[:n-1]
	*w = waiter{actor: actor{call: &w.call, effects: w.actor.effects[:0]}}
	return w
}

// arguments appends the arguments of a method's call to b. The result is used again.
type arguments = func(b []byte) ([]byte, error)

// Payload is the encoding of a method's arguments.
func Payload[T interface{ Append(b []byte) []byte }](v T) arguments {
	return func(b []byte) ([]byte, error) { return v.Append(b), nil }
}

// Dispatch runs a dispatch of a runner with this context as its source, and returns its id.
func (c *Context) Dispatch(d core.Definition) (id string, result abi.DispatchResult, err error) {
	t := c.turn
	r, dead, err := t.core.Runner(d)
	if err == nil {
		defer t.core.CloseRunner(d)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case dead && t.closed: // an instance may end with its last turn
		return "", abi.DispatchResult{}, t.deadOr(ErrAfterEnd())
	case err != nil:
		return "", abi.DispatchResult{}, err
	}
	t.journal.runner(r)
	v, err := c.InvokeLocked(abi.MethodDispatch, func(b []byte) ([]byte, error) {
		// The dispatch's context is made while this very frame is taken.
		t.opening = d
		return (&abi.DispatchArgs{Runner: r.Number}).Append(b), nil
	})
	if err != nil {
		return "", abi.DispatchResult{Status: abi.StatusNack}, err
	}
	result, err = abi.Decode[abi.DispatchResult](v)
	return t.DispatchID(result.Dispatch), result, err
}

// Warn tells observers of something that went another way, because of failure unless that is nil. After the turn's end
// nobody listens.
func (c *Context) Warn(args *abi.WarnArgs, failure error) {
	if failure != nil {
		args.Error = describe(failure, c.Reason())
	}
	_, _ = c.Invoke(abi.MethodWarn, func(b []byte) ([]byte, error) {
		if failure != nil {
			c.turn.errors.keep(failure, args.Error)
		}
		return args.Append(b), nil
	})
}

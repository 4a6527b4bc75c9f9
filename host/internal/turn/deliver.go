package turn

import (
	"log/slog"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bus"
)

// await delivers what is queued and waits until the goroutine has what it waits for: for the reply to a call that it
// was delivered, for the turn its end, for anything else that all that its steps caused was delivered. Meanwhile it
// runs the effects that its own steps caused: it would do nothing otherwise, and what it waits for comes of them.
//
// A goroutine that is inside a listener must not wait for a delivery, as deliveries wait for the listener: its reply
// suffices, and so it does for everybody else while such a goroutine waits.
//
// The caller holds t.mu.
func (t *Turn) await(a *actor) {
	defer t.release(a) // also when user code ends the goroutine
	inside, asked := false, false
	for a.caller && t.untaken() || !t.satisfied(a) {
		if t.untaken() && (a.caller || a.call != nil && t.away != nil) {
			t.give(a)
			continue
		}
		if !t.delivering && len(t.queue.rest()) > 0 {
			t.drain()
			continue
		}
		if t.delivering && !asked {
			inside, asked = bus.InsideListener(), true
		}
		early := inside || t.parked > 0
		if early && a.call != nil && a.call.arrived || inside && a.call == nil && !a.whole && (a.busy || len(a.effects) == 0) {
			break
		}
		if e := a.take(t, early); e != nil {
			t.performed(a, e, t.perform(a, e, inside))
			continue
		}
		t.parkIf(inside, +1)
		t.waiting++
		t.wake.Wait()
		t.waiting--
		t.parkIf(inside, -1)
	}
}

// release leaves effects that a goroutine's steps caused, and that it does not run, to others.
func (t *Turn) release(a *actor) {
	for _, e := range a.effects {
		e.owner = nil
		if e.ready {
			t.spawn(e)
		}
	}
	a.effects = a.effects[:0]
}

// perform runs an effect without the lock. It takes the lock again even if user code ends the goroutine, because
// deferred calls of the lock's holder expect it.
func (t *Turn) perform(a *actor, e *Effect, inside bool) outcome {
	t.parkIf(inside, +1)
	run := (*Effect).run
	if a.caller && !e.Gives {
		t.away, run = e, runAsCaller
	}
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		if t.away == e {
			t.away = nil
		}
		t.parkIf(inside, -1)
	}()
	return run(e)
}

// satisfied tells whether the goroutine has what it waits for.
func (t *Turn) satisfied(a *actor) bool {
	switch {
	case a.whole:
		return t.done
	case a.call != nil:
		return a.call.delivered && t.delivered >= a.mark
	}
	return (a.busy || len(a.effects) == 0) && t.delivered >= a.mark
}

// parkIf notes that a goroutine inside a listener waits. Others must not wait for deliveries then, and effects must not
// either: what it waits for may depend on them.
func (t *Turn) parkIf(inside bool, n int) {
	if !inside {
		return
	}
	t.parked += n
	t.wakeAll()
	for _, d := range t.queue.rest() {
		if d.effect != nil && d.effect.owner == nil {
			t.spawn(d.effect)
		}
	}
}

func (t *Turn) wakeAll() {
	if t.waiting > 0 {
		t.wake.Broadcast()
	}
}

// drain delivers what is queued, in order, until nothing is left.
func (t *Turn) drain() {
	t.delivering = true
	completed := false
	defer func() {
		if !completed {
			// A listener has ended its goroutine. Another one takes over.
			t.delivering = false
			t.delivered++
			t.wakeAll()
			go t.settle()
		}
	}()
	for len(t.queue.rest()) > 0 {
		d := t.queue.next()
		switch {
		case d.event != nil:
			t.deliverEvent(&d)
		case d.call != nil:
			d.call.delivered = true
		case d.effect != nil:
			t.ready(d.effect)
		case d.acked != nil:
			t.tellAcked(d.acked)
		case d.tick > 0:
			go t.tell(d.tick)
		case d.end:
			t.finish()
		default:
			switch e := t.running[d.cancel]; {
			case e == nil:
			case e.GiveUp != nil:
				e.abandon()
			case e.Cancel != nil:
				e.Cancel()
			default:
				e.stop()
			}
		}
		t.delivered++
		if d.event == nil {
			t.wakeAll()
		}
	}
	t.queue.free()
	t.queue = nil
	t.delivering = false
	completed = true
	t.wakeAll()
}

// ready lets an effect start, all events before it having been delivered.
func (t *Turn) ready(e *Effect) {
	e.ready = true
	if e.owner == nil && !e.started {
		t.spawn(e)
	}
}

// take returns an effect for the goroutine to run; if there are several, the others get goroutines of their own, each
// once it is ready: the one that is run may wait for them.
func (a *actor) take(t *Turn, early bool) *Effect {
	if a.busy || len(a.effects) == 0 {
		return nil
	}
	var mine *Effect
	rest := a.effects[:0]
	for _, e := range a.effects {
		switch {
		case !e.ready && !early:
			rest = append(rest, e)
		case mine == nil && a.runs(t, e):
			mine = e
			e.started = true
		default:
			t.spawn(e)
		}
	}
	a.effects = rest
	if mine != nil {
		t.release(a)
	}
	return mine
}

// runs tells whether the goroutine may run an effect itself.
func (a *actor) runs(t *Turn, e *Effect) bool {
	switch {
	case e.GiveUp != nil, e.Apart && a.call != nil: // a call that may be given up must not hold the goroutine
		return false
	case a.caller:
		return e.Gives || !e.Yields && t.alone()
	}
	return true
}

// spawn runs an effect in a goroutine of its own.
func (t *Turn) spawn(e *Effect) {
	if e.started {
		return
	}
	e.started = true
	go func() {
		growStack(0)
		result := e.run()
		t.mu.Lock()
		defer t.mu.Unlock()
		a := actor{}
		t.performed(&a, e, result)
		t.await(&a)
	}()
}

// growStack makes room for what an effect calls. A goroutine's stack is small at first, and copying it is cheap while
// there is little on it.
//
//go:noinline
func growStack(i int) byte {
	var room [8 << 10]byte
	return room[i]
}

// settle delivers what is queued, for a goroutine that waits for nothing.
func (t *Turn) settle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settleLocked()
}

func (t *Turn) settleLocked() {
	a := actor{busy: true, mark: t.enqueued}
	t.await(&a)
}

// deliverEvent calls the listeners of an event, without the lock.
func (t *Turn) deliverEvent(d *delivery) {
	var hook func(event.Event)
	if c := t.context(d.number); c != nil && d.scope&abi.ScopeDispatch != 0 {
		hook = c.Listen
	}
	t.collect.Observe(d.event)
	kind := d.event.Kind()
	toTurn := d.scope&abi.ScopeTurn != 0
	if hook == nil && !(toTurn && (t.Bus.Wants(kind) || t.Own.Wants(kind))) {
		return
	}
	// All of it is deferred, as a listener may end the goroutine: the others hear of the event all the same.
	var failures []error
	var about []*abi.ErrorValue
	defer func() {
		for i, err := range failures {
			t.reportListener(d, err, about[i])
		}
	}()
	t.mu.Unlock()
	defer t.mu.Lock()
	defer func() {
		for i, cause := range failures {
			failures[i] = host.NewError(abi.CodeListenerError, kind.String()+": "+cause.Error(), cause)
			about = append(about, describe(failures[i], nil))
		}
	}()
	if toTurn {
		defer t.Own.Tell(d.event, &failures)
		defer t.Bus.Tell(d.event, &failures)
	}
	if hook != nil {
		bus.Notify(hook, d.event, &failures)
	}
}

// reportListener makes an error event of a listener's panic. That of a listener of errors is only logged, so that it
// cannot go on for ever.
func (t *Turn) reportListener(d *delivery, err error, about *abi.ErrorValue) {
	if d.event.Kind() == event.KindError || t.closed {
		logListenerError(d.event, err)
		return
	}
	payload := (&abi.ErrorEvent{Error: *t.errors.keep(err, about)}).Append(nil)
	t.lastCall++
	call := &abi.Call{
		Turn: t.number, Call: t.lastCall, Elapsed: t.tick(), Context: d.number, Method: abi.MethodEmit,
		Args: (&abi.EmitArgs{Kind: abi.EventError, Payload: payload}).Append(nil),
	}
	if t.exchange(&actor{}, call) != nil {
		logListenerError(d.event, err)
	}
}

// logListenerError is where a panic goes that cannot become an event.
func logListenerError(ev event.Event, err error) {
	slog.Error("turncore: a listener panicked", "event", ev.Kind().String(), "turn", ev.Meta().TurnID, "error", err)
}

package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
)

// perish ends the turn because its instance has died, and has the instance's other turns ended. The caller holds t.mu.
func (t *Turn) perish(err error) {
	// They have locks of their own, which must not be waited for under this one.
	t.die(t.core.Die(err))
}

// abortGrace is how long a core may take to end a turn that was aborted, once none of its effects runs. A sound one
// ends it in the step that tells of the abort, or of the last effect's end.
const abortGrace = 5 * time.Second

// watch ends an instance that has lost the turn: it waits for nothing that the host could give, such as the answer at a
// gate, or was given all of it after an abort and says no end. The caller holds t.mu.
func (t *Turn) watch() error {
	if t.closed {
		return nil
	}
	aborted := t.root.aborted
	if len(t.running) > 0 || !aborted {
		if t.grace != nil {
			t.grace.Stop()
			t.grace = nil
		}
		if len(t.running) > 0 || len(t.calls) > 0 || len(t.gates) > 0 || t.ticking {
			return nil
		}
		return t.lose(errors.New("the turn waits for nothing"))
	}
	if t.grace == nil {
		var grace *time.Timer
		grace = time.AfterFunc(abortGrace, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.grace == grace && !t.closed {
				_ = t.lose(fmt.Errorf("the turn did not end within %s of its abort", abortGrace))
				t.settleLocked()
			}
		})
		t.grace = grace
	}
	return nil
}

// lose ends the turn together with its instance, which went wrong. The caller holds t.mu.
func (t *Turn) lose(cause error) error {
	err := t.core.Retire(cause)
	t.perish(err)
	return err
}

// die ends the turn: what has begun ends, innermost first, as the dead core can not say so any more. The caller holds
// t.mu.
func (t *Turn) die(err error) {
	if t.closed {
		return
	}
	err = t.withAbort(err)
	t.dead = err
	t.abandonGates()
	t.endModelsOf(0, err)
	iterations := 0
	for len(t.begun) > 0 {
		b := t.begun[len(t.begun)-1]
		t.begun = t.begun[:len(t.begun)-1]
		scope := abi.ScopeTurn
		if b.dispatch > 0 {
			scope |= abi.ScopeDispatch
		}
		started := t.at(b.elapsed)
		if b.kind == event.KindTurnStart || b.kind == event.KindDispatchStart && t.Standalone {
			t.announce(&event.Error{Head: t.nextHead(b), Err: err}, scope, b.dispatch)
		}
		switch b.kind {
		case event.KindIterationStart:
			iterations = b.iteration + 1
			t.announce(&event.IterationEnd{
				Head: t.nextHead(b), Status: event.Nack, StartedAt: started,
			}, scope, b.dispatch)
		case event.KindDispatchStart:
			t.announce(&event.DispatchEnd{
				Head: t.nextHead(b), Status: event.Nack, Iterations: iterations, StartedAt: started, Err: err,
			}, scope, b.dispatch)
		case event.KindTurnStart:
			t.announce(&event.TurnEnd{
				Head: t.nextHead(b), Status: event.Failed, StartedAt: started, Err: err,
			}, scope, b.dispatch)
		}
	}
	t.end = ending{status: event.Failed, iterations: iterations, err: err}
	t.shut()
}

// withAbort joins an error with the reason of an earlier abort. Whoever cancelled the turn finds that reason even if
// the instance died afterwards. The caller holds t.mu.
func (t *Turn) withAbort(err error) error {
	reason := t.root.cause
	if reason == nil && t.outer.Err() != nil {
		reason = context.Cause(t.outer)
	}
	e, ok := err.(*host.Error)
	if !ok || reason == nil || errors.Is(err, reason) {
		return err
	}
	aborted := *e
	aborted.Cause = errors.Join(e.Cause, reason)
	return &aborted
}

func (t *Turn) announce(ev event.Event, scope uint8, dispatch uint32) {
	t.enqueue(delivery{event: ev, scope: scope, number: dispatch})
}

// nextHead is the head of an event that the host makes.
func (t *Turn) nextHead(b begun) event.Head {
	t.seq++
	return t.headOf(&abi.Event{Seq: t.seq, Elapsed: t.tick(), Dispatch: b.dispatch, Iteration: int32(b.iteration)})
}

// deadOr returns why the turn's instance died, or else err.
func (t *Turn) deadOr(err error) error {
	if t.dead != nil {
		return t.dead
	}
	return err
}

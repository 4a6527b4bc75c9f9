package turn

import (
	"context"
	"fmt"
)

// Here is the order of effects: which ones wait for another, and how what they give is handed over.

// admit lets an effect run. It fails if what comes with it is malformed. The caller holds t.mu.
func (t *Turn) admit(a *actor, e *Effect) error {
	if e.Begin != nil {
		if err := e.Begin(); err != nil {
			return fmt.Errorf("effect %d: %w", e.Number, err)
		}
	}
	if e.Ahead {
		t.ahead = e
	}
	e.owner = a
	a.effects = append(a.effects, e)
	t.enqueue(delivery{effect: e})
	return nil
}

// goOn goes on with the effects that have waited for one, which has ended. It reports whether the core need not be told
// of that: it has succeeded, and the results of those behind it tell so. The caller holds t.mu.
func (t *Turn) goOn(a *actor, r outcome) (told bool) {
	behind := t.behind
	t.ahead, t.behind = nil, nil
	for _, e := range behind {
		switch {
		case r.err != nil:
			e.end()
		case t.ahead != nil: // one of them has gone ahead itself
			t.behind = append(t.behind, e)
		case t.root.aborted || t.outer.Err() != nil:
			cause := t.root.cause
			if !t.root.aborted { // the core hears of it before the result
				cause = context.Cause(t.outer)
			}
			t.settleEffect(a, e, outcome{err: cause, about: describe(cause, cause)})
		default:
			if err := t.admit(a, e); err != nil {
				t.perish(t.core.Retire(err))
				return true
			}
		}
	}
	a.mark = t.enqueued
	told = r.err == nil && len(behind) > 0
	if t.behind == nil { // the room is used again
		clear(behind)
		t.behind = behind[:0]
	}
	return told
}

// performed goes on with an effect that was performed. The caller holds t.mu.
func (t *Turn) performed(a *actor, e *Effect, r outcome) {
	if e.Given == nil || r.err != nil {
		t.settleEffect(a, e, r)
		return
	}
	t.given = append(t.given, e)
	t.wakeAll()
}

// untaken tells whether something is given that somebody may take.
func (t *Turn) untaken() bool { return len(t.given) > 0 && !t.taking }

// give hands over what the first effect has given that nobody has taken, and settles it. It takes the lock again even
// if who takes that ends the goroutine; then the effect stays the first. The caller holds t.mu.
//
// While the caller of the invocation performs an effect, who calls from within that one gives. Mostly it is the same
// goroutine, as executors yield in theirs. One that yields in another goroutine must not be ended by who takes.
func (t *Turn) give(a *actor) {
	e := t.given[0]
	var r outcome
	func() {
		t.taking = true
		t.mu.Unlock()
		returned := false
		defer func() {
			t.mu.Lock()
			t.taking, t.left = false, !returned
			t.wakeAll()
		}()
		take := t.take
		if !a.caller && !isCaller() {
			take = t.takeApart
		}
		if err := take(e.Given); err != nil {
			r = e.failed(err)
		}
		returned = true
	}()
	t.given[0] = nil
	t.given = t.given[1:]
	if len(t.given) == 0 { // the room is used again
		t.given = t.first.given[:0]
	}
	t.settleEffect(a, e, r)
}

// alone tells whether nothing but one effect is under way: nobody else gives anything meanwhile.
func (t *Turn) alone() bool {
	return len(t.running)-len(t.behind) == 1 && len(t.calls) == 0 && !t.ticking
}

// end takes an effect out of those that are outstanding.
func (e *Effect) end() {
	delete(e.turn.running, e.Number)
	if e.Cancel != nil {
		e.Cancel()
	}
	if e.GiveUp != nil {
		e.GiveUp(context.Canceled)
	}
}

package guest

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime"
)

// within runs body in a task of its own and waits for its end, for at most ms milliseconds of the turn's clock, even
// while the turn is aborted. After that, the task's wait and its later requests fail with reason, so that it ends, too.
// A panic calls fail. late reports that the time was up.
func (c *coroutine) within(ms uint64, reason error, body func(runtime.Task), fail func(error)) (late bool) {
	t, ended := c.turn, false
	alarm := &effect{owner: c, alarm: true}
	alarm.stream = &stream{turn: t, effect: alarm, idle: ms}
	inner := c.in.spawnBelow(c, t, &funcs{body, fail}, func() {
		ended = true
		if alarm.stream.waits {
			t.settle(alarm, nil, nil)
		}
	})
	if ended {
		return false
	}
	t.effects = append(t.effects, alarm)
	t.in.effects++
	_, _, err := alarm.stream.Next()
	if err != runtime.ErrIdle {
		return false // the body has ended, or the turn has
	}
	t.drop(alarm)
	inner.giveUp(reason)
	c.Wait(func() bool { return ended })
	return true
}

// stopBody has all later requests of the coroutine's body fail, and of what is below it, and cancels those under way.
// Host code that they wait for is told, and they wait until it has ended.
func (c *coroutine) stopBody(reason error) {
	t := c.turn
	for i := len(t.effects) - 1; i >= 0; i-- {
		if i >= len(t.effects) || !t.effects[i].owner.wantedBy(c) {
			continue
		}
		switch e := t.effects[i]; {
		case e.alarm:
		case e.stream != nil:
			e.stream.cancel(reason)
		case e.kind == abi.EffectTool || e.kind == abi.SessionEffectModel || e.kind == abi.SessionEffectHook || e.kind == abi.SessionEffectAgent:
			t.in.append(&abi.Cancel{Op: abi.OpCancel, Turn: t.number, Effect: e.number})
		}
	}
	c.gone = reason
}

// wantedBy reports whether the result of the body is for that of another coroutine, and is wanted.
func (c *coroutine) wantedBy(other *coroutine) bool {
	for c != nil && c.gone == nil && c != other {
		c = c.above
	}
	return c != nil && c.gone == nil
}

// unwanted is why nobody wants the result of the body; nil if somebody may.
func (c *coroutine) unwanted() error {
	for ; c != nil; c = c.above {
		if c.gone != nil {
			return c.gone
		}
	}
	return nil
}

// giveUp fails the current waits and all later requests of the coroutine's body.
func (c *coroutine) giveUp(reason error) {
	c.gone = reason
	t := c.turn
	for i := len(t.effects) - 1; i >= 0; i-- {
		if i >= len(t.effects) || t.effects[i].owner != c {
			continue
		}
		e := t.effects[i]
		if e.stream != nil {
			e.stream.cancel(reason)
			continue
		}
		if _, ok := e.asked.(*runtime.CallTool); ok {
			t.late = append(t.late, e.number)
			t.in.append(&abi.Cancel{Op: abi.OpCancel, Turn: t.number, Effect: e.number})
		}
		t.settle(e, nil, reason)
	}
}

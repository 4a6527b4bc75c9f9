package guest

import (
	"cmp"

	"github.com/turncore/turncore/runtime"
)

// effectMargin is how many effects of a turn, or an instance, a group of tasks leaves to others.
const effectMargin = 8

// each runs body for 0 to n-1, each in a task of its own. It starts them in this order, at most atOnce at a time, and
// fewer if the limits on effects leave no room. It returns when all have ended, with the first error in order; a panic
// of body counts as an error.
func (c *coroutine) each(n, atOnce int, body func(task runtime.Task, i int) error) error {
	errs := make([]error, n)
	if n == 1 || atOnce <= 1 {
		for i := range errs {
			errs[i] = body(c, i)
		}
		return cmp.Or(errs...)
	}
	t, running := c.turn, 0
	for i := range errs {
		c.Wait(func() bool { return running == 0 || running < atOnce && t.hasRoom() })
		running++
		c.in.spawnBelow(c, t, &funcs{func(task runtime.Task) {
			errs[i] = body(task, i)
		}, func(err error) {
			errs[i] = err
		}}, func() {
			running--
		})
	}
	c.Wait(func() bool { return running == 0 })
	return cmp.Or(errs...)
}

func (t *turn) hasRoom() bool {
	return len(t.effects)+effectMargin < int(t.in.limits.TurnEffects) && t.in.effects+effectMargin < int(t.in.limits.InstanceEffects)
}

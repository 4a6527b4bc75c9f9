package guest

// sleeper is a task that waits for time to pass.
type sleeper struct {
	task    *coroutine
	context uint32
	due     uint64 // by the turn's clock
	err     error  // why it was woken early
}

// Sleep implements runtime.Task.
func (c *coroutine) Sleep(context uint32, ms uint64) error {
	t := c.turn
	if t.ended || t.abortedIn(context) {
		return aborted()
	}
	if ms == 0 {
		return nil
	}
	s := &sleeper{task: c, context: context, due: t.run.Elapsed() + ms}
	t.sleepers = append(t.sleepers, s)
	t.timer(s.due)
	c.park()
	return s.err
}

// wakeSleepers wakes those that over says of, and asks for a Tick for the others.
func (t *turn) wakeSleepers(over func(s *sleeper) (err error, ok bool)) {
	kept := t.sleepers[:0]
	for _, s := range t.sleepers {
		err, ok := over(s)
		if !ok {
			kept = append(kept, s)
			continue
		}
		s.err = err
		t.in.wake(s.task)
	}
	clear(t.sleepers[len(kept):])
	t.sleepers = kept
}

package guest

import "github.com/turncore/turncore/runtime"

// Sleep implements runtime.Task. It waits for an answer that never comes, to an effect that was never issued: its
// number is 0.
func (c *coroutine) Sleep(context uint32, ms uint64) error {
	t := c.turn
	t.catchUp(c)
	if t.ended || t.abortedIn(context) {
		return aborted()
	}
	if err := c.unwanted(); err != nil || ms == 0 {
		return err
	}
	eff := &effect{owner: c, context: context}
	eff.stream = &stream{turn: t, effect: eff, idle: ms}
	t.effects = append(t.effects, eff)
	t.in.effects++
	_, _, err := eff.stream.Next()
	if err != runtime.ErrIdle {
		return err
	}
	t.drop(eff)
	return nil
}

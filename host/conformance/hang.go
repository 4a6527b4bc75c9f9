package conformance

import (
	"context"
	"time"
)

// hangs is how long a function hangs before the player acts.
const hangs = 5 * time.Millisecond

// hang waits until the function's context is aborted. The player aborts the run a moment later, unless the argument
// names another cause.
func hang(f *frame, arg any) (any, error) {
	ctx := f.until
	if f.ctx != nil {
		ctx = f.ctx
	}
	run := f.game.value("run").(context.Context)
	if ctx == nil {
		ctx = run
	}
	if arg == nil {
		f.game.abortSoon()
	}
	<-ctx.Done()
	return nil, nil
}

// abortSoon aborts the run a moment later.
func (g *game) abortSoon() {
	time.AfterFunc(hangs, g.value("abort").(context.CancelFunc))
}

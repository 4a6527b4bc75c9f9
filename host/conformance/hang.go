package conformance

import (
	"context"
	"time"
)

// hangs is how long a function that hangs has hung before something is done about it.
const hangs = 5 * time.Millisecond

// hang waits until what the function belongs to is aborted, which happens to the run a moment later, unless the argument
// says that something else sees to it.
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

// abortSoon has the run aborted a moment later.
func (g *game) abortSoon() {
	time.AfterFunc(hangs, g.value("abort").(context.CancelFunc))
}

package engine

import "errors"

// ErrSleep ends a guest that wants to sleep: a step that waits would hold up everybody's turns, and on hosts whose
// clock stands still it would never end.
var ErrSleep = errors.New("the guest wants to sleep, which a step may not")

// What a guest may sleep in one step: so many times so many nanoseconds, which are over at once. Go's runtime naps for a
// millisecond at a time before it prints why it dies.
const (
	naps = 16
	nap  = 1_000_000
)

// Guest is what the WASI functions of an instance tell of: what it writes, and when it wants to sleep. They are called
// while the instance starts or is in a step.
type Guest struct {
	stderr stderr
	naps   int // in this step
}

// Write takes what fd_write gives to stdout and stderr. It keeps the beginning and the end, for the error of a step that
// fails, and never fails itself.
func (g *Guest) Write(p []byte) (int, error) { return g.stderr.Write(p) }

// Sleep takes what poll_oneoff wants to wait for, in nanoseconds. nil means that the time is over; [ErrSleep] must end the
// guest.
func (g *Guest) Sleep(ns int64) error {
	if g.naps++; ns > nap || g.naps > naps {
		return ErrSleep
	}
	return nil
}

// begin forgets the step before.
func (g *Guest) begin() {
	g.stderr.reset()
	g.naps = 0
}

package engine

import "errors"

// ErrSleep ends a guest that wants to sleep: a waiting step would delay all turns, and with a frozen clock it would
// never end.
var ErrSleep = errors.New("the guest wants to sleep, which a step must not do")

// Bounds on sleeps in one step: their number, and the nanoseconds of each. The host returns from a sleep at once. A
// dying Go runtime sleeps for a millisecond at a time before it prints the reason.
const (
	naps = 16
	nap  = 1_000_000
)

// Guest receives the output and the sleeps of an instance from its WASI functions, while the instance starts or runs a
// step.
type Guest struct {
	// GCPercent, set before the instance's first step, is sent to the guest behind its Hello; 0 for nothing.
	GCPercent uint32
	// Fuel, set before the instance's first step, is what its module may use, which is [Metered] then.
	Fuel Fuel

	stderr stderr
	naps   int // in this step
}

// Write takes output of fd_write to stdout and stderr. It keeps the beginning and the end for the error of a failed
// step, and never fails itself.
func (g *Guest) Write(p []byte) (int, error) { return g.stderr.Write(p) }

// Sleep handles a poll_oneoff that wants to wait for so many nanoseconds. nil means that the time is over; [ErrSleep]
// must end the guest.
func (g *Guest) Sleep(ns int64) error {
	if g.naps++; ns > nap || g.naps > naps {
		return ErrSleep
	}
	return nil
}

// begin resets the state for a step.
func (g *Guest) begin() {
	g.stderr.reset()
	g.naps = 0
}

package turntest

import (
	"sync/atomic"
	"time"

	"github.com/turncore/turncore/host"
)

// Clock is a clock that stands still until it is advanced. Its methods may be called from many goroutines.
//
//	clock := turntest.NewClock(time.UnixMilli(host.FixedTime))
//	h := turntest.Host(t, turns.HostOptions{Clock: clock.Read})
//	clock.Advance(time.Hour)
//
// It says what time it is: in events, in ids, to the tool time. It wakes nobody. The timeouts of gates, tools and
// requests and the waits between requests are measured by timers of package time; testing/synctest lets those run out
// at once.
type Clock struct{ ms atomic.Int64 }

// NewClock returns a clock that stands at an instant, to the millisecond.
func NewClock(at time.Time) *Clock {
	c := &Clock{}
	c.ms.Store(at.UnixMilli())
	return c
}

var _ host.Clock = (*Clock)(nil).Read

// Read returns the time as a [host.Clock] does.
func (c *Clock) Read() int64 { return c.ms.Load() }

// Now returns the time, in UTC.
func (c *Clock) Now() time.Time { return time.UnixMilli(c.Read()).UTC() }

// Advance sets the clock forward, by whole milliseconds. It panics for a negative duration.
func (c *Clock) Advance(d time.Duration) {
	if d < 0 {
		panic("turntest: a Clock does not go back")
	}
	c.ms.Add(d.Milliseconds())
}

package host

import "time"

// Clock tells the time in milliseconds since the Unix epoch. It may be called from many goroutines at once.
type Clock func() int64

// FixedTime is the instant at which the clock of reproducible runs stands still: 2026-01-01T00:00:00Z.
const FixedTime int64 = 1767225600000

// SystemClock is the machine's clock.
func SystemClock() Clock {
	return func() int64 { return time.Now().UnixMilli() }
}

// FixedClock returns a clock that stands still at ms.
func FixedClock(ms int64) Clock {
	return func() int64 { return ms }
}

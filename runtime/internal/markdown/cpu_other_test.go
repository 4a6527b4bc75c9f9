//go:build !linux

package markdown_test

import (
	"runtime"
	"time"
)

// cpu returns the seconds that fn takes, where nobody tells those of the processor for a thread.
func cpu(fn func()) float64 {
	runtime.GC()
	start := time.Now()
	fn()
	return time.Since(start).Seconds()
}

//go:build !linux

package markdown_test

import (
	"runtime"
	"time"
)

// cpu returns the seconds that fn takes, on systems without processor times for threads.
func cpu(fn func()) float64 {
	runtime.GC()
	start := time.Now()
	fn()
	return time.Since(start).Seconds()
}

//go:build !unix

package markdown_test

import (
	"runtime"
	"time"
)

// cpu returns the seconds that fn takes, where nobody tells those of the processor.
func cpu(fn func()) float64 {
	runtime.GC()
	start := time.Now()
	fn()
	return time.Since(start).Seconds()
}

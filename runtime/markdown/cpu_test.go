//go:build unix

package markdown_test

import (
	"runtime"
	"syscall"
)

// cpu returns the seconds of processor time that fn takes.
func cpu(fn func()) float64 {
	runtime.GC()
	used := func() float64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return float64(u.Utime.Sec) + float64(u.Utime.Usec)*1e-6
	}
	start := used()
	fn()
	return used() - start
}

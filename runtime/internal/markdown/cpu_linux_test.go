package markdown_test

import (
	"runtime"
	"syscall"
)

// cpu returns the seconds of processor time that fn takes on its thread: neither other processes nor the garbage
// collector's own threads count.
func cpu(fn func()) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	used := func() float64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_THREAD, &u)
		return float64(u.Utime.Sec) + float64(u.Utime.Usec)*1e-6
	}
	start := used()
	fn()
	return used() - start
}

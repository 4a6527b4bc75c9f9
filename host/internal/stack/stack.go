// Package stack tells what the calling goroutine is inside of. Go does not tell which goroutine one is on; the own
// stack does.
package stack

import "runtime"

// Function is the code of a function that must not be inlined.
type Function struct{ from, to uintptr }

// Of returns the function of an entry.
func Of(entry uintptr) Function {
	to := entry + 1
	for f := runtime.FuncForPC(to); f != nil && f.Entry() == entry; f = runtime.FuncForPC(to) {
		to++
	}
	return Function{entry, to}
}

// Runs tells whether the function is on the stack of the calling goroutine. It costs a microsecond or two.
func (f Function) Runs() bool {
	var pc [64]uintptr
	for skip := 2; ; skip += len(pc) {
		n := runtime.Callers(skip, pc[:])
		for _, pc := range pc[:n] {
			if f.from < pc && pc <= f.to { // where it goes on
				return true
			}
		}
		if n < len(pc) {
			return false
		}
	}
}

// Package panics makes errors of panics in the program's code.
package panics

import (
	"errors"
	"runtime/debug"

	"github.com/turncore/turncore/host"
)

// ErrGoexit is what ending its goroutine fails the program's code with.
var ErrGoexit = errors.New("user code ended its goroutine")

// Caught is the error for what a deferred function has recovered. The stack is still that of the panic.
func Caught(v any) *host.PanicError { return &host.PanicError{Value: v, Stack: debug.Stack()} }

// Recovered makes a panic the error of the function that defers it.
func Recovered(err *error) {
	if v := recover(); v != nil {
		*err = Caught(v)
	}
}

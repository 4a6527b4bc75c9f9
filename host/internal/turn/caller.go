package turn

import (
	"reflect"
	"runtime"

	"github.com/turncore/turncore/host/internal/stack"
)

// runAsCaller runs an effect on the goroutine that takes what effects give. That a call comes from within is told by
// this function being on the stack, so it must not be inlined.
//
//go:noinline
func runAsCaller(e *Effect) outcome { return e.run() }

var asCaller stack.Function

func init() { asCaller = stack.Of(reflect.ValueOf(runAsCaller).Pointer()) }

// isCaller tells whether the goroutine is one that takes what effects give, inside an effect.
func isCaller() bool { return asCaller.Runs() }

// takeApart takes what an effect gives in a goroutine of its own. If that ends, so does the invocation's caller when
// the invocation has ended: with the same panic, or with its goroutine.
func (t *Turn) takeApart(given any) error {
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer func() {
			if returned {
				return
			}
			t.quit = runtime.Goexit
			if v := recover(); v != nil {
				t.quit = func() { panic(v) }
			}
		}()
		err = t.take(given)
		returned = true
	}()
	<-done
	if t.quit != nil {
		return t.take(given) // fails, as its caller has left
	}
	return err
}

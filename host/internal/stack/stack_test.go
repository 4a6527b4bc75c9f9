package stack_test

import (
	"reflect"
	"testing"

	"github.com/turncore/turncore/host/internal/stack"
)

//go:noinline
func mark(fn func()) { fn() }

//go:noinline
func other(fn func()) { fn() }

// deep calls a function below n others.
func deep(n int, fn func()) {
	if n == 0 {
		fn()
		return
	}
	deep(n-1, fn)
}

func TestRuns(t *testing.T) {
	marked := stack.Of(reflect.ValueOf(mark).Pointer())
	is := func(want bool) func() {
		return func() {
			t.Helper()
			if got := marked.Runs(); got != want {
				t.Errorf("the function runs: %t, want %t", got, want)
			}
		}
	}
	is(false)()
	other(is(false))
	for _, n := range []int{0, 1, 60, 61, 62, 63, 64, 200} {
		mark(func() { deep(n, is(true)) })
		deep(n, func() { mark(is(true)) })
		deep(n, is(false))
	}
	mark(func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			is(false)()
		}()
		<-done
	})
}

package host

import (
	"fmt"
	"log/slog"
)

// PanicError is what a panic in the program's code becomes: of an executor, a middleware, a tool's handler, a listener, a
// storage function. It is the cause of the error that the turn tells, where errors.As finds it.
type PanicError struct {
	Value any    // what the code panicked with
	Stack []byte // of its goroutine, as debug.Stack gives it
}

// Error returns what the code panicked with, as text.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the error that the code panicked with, if it was one.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// LogValue gives slog the stack as well.
func (e *PanicError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("panic", fmt.Sprint(e.Value)), slog.String("stack", string(e.Stack)))
}

package host

import (
	"fmt"
	"log/slog"
)

// PanicError is a panic in the program's code: in an executor, a middleware, a tool's handler, a listener or a
// storage function. It is the cause of the turn's error; errors.As finds it.
type PanicError struct {
	Value any    // the value of the panic
	Stack []byte // stack of its goroutine, from debug.Stack
}

// Error returns the value of the panic as text.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// LogValue gives slog the stack as well.
func (e *PanicError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("panic", fmt.Sprint(e.Value)), slog.String("stack", string(e.Stack)))
}

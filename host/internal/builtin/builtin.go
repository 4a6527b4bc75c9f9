// Package builtin describes what is compiled into the core to packages middleware and tools, which make it, and to
// package turns, which runs it. Package turns sets [NewMiddleware] and [NewTool].
package builtin

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
)

// NewMiddleware makes a turns.DispatchMiddleware.
var NewMiddleware func(m *Middleware) any

// NewTool makes a *turns.Tool.
var NewTool func(t *Tool) any

// Tool is a tool whose handler is in the core, under the tool's name.
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	Trusted     bool
	Argument    map[string]any // of the handler; nil for none
	Origins     []string       // where its requests may go
}

// Middleware is a middleware that is in the core.
type Middleware struct {
	Name          string
	Arg           abi.Raw
	Input, Output bool   // the dispatch pipelines that it belongs in
	Broken        string // what is wrong with its argument
	// Run is what it does where the program's code calls it; nil for what only the core can do.
	Run func(ctx Dispatch, next func()) error
}

// Error makes a Middleware what its own function can return, and is never told to anybody.
func (m *Middleware) Error() string { return m.Name }

// Dispatch is what a Middleware uses of a *turns.DispatchContext.
type Dispatch interface {
	Iteration() int
	IsSignalled() bool
	Nack(cause error) error
}

// MaxIterations ends a dispatch that begins an iteration after its n-th.
func MaxIterations(n int) *Middleware {
	return &Middleware{
		Name: "maxIterations", Arg: value.AppendInt(nil, int64(n)), Input: true, Broken: Positive("maxIterations", n),
		Run: func(ctx Dispatch, next func()) error {
			if ctx.Iteration() >= n && !ctx.IsSignalled() {
				return ctx.Nack(host.NewError(host.CodeMaxIterations, strconv.Itoa(n), nil))
			}
			next()
			return nil
		},
	}
}

// Positive says what is wrong with a number that must be at least 1, "" for nothing.
func Positive(name string, n int) string {
	if n < 1 || n > math.MaxInt32 {
		return name + " must be a positive integer"
	}
	return ""
}

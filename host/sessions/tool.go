package sessions

import (
	"context"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/invocation"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/turns"
)

// NewTool is [turns.NewTool] for a handler that gets a [ToolContext]. The tool serves LLM agents alone.
func NewTool[In, Out any](name, description string, run func(ctx *ToolContext, args In) (Out, error)) *turns.Tool {
	if run == nil {
		return turns.NewTool[In, Out](name, description, nil)
	}
	return turns.NewTool(name, description, func(d *turns.DispatchContext, args In) (Out, error) {
		ctx := ToolContextOf(d)
		if ctx == nil {
			var none Out
			return none, host.NewError(host.CodeInvalidValue, "ctx: the tool "+name+" belongs to an LLM agent", nil)
		}
		return run(ctx, args)
	})
}

// ToolContextOf returns what the handler of a [turns.Tool] can do in an invocation; nil elsewhere.
func ToolContextOf(ctx context.Context) *ToolContext {
	c, _ := ctx.Value(toolKey{}).(*ToolContext)
	return c
}

// Keys of values in contexts.
type (
	runningKey struct{}
	toolKey    struct{}
)

// runningOf is the invocation that a context is of.
func runningOf(ctx context.Context) *running {
	inv, _ := ctx.Value(runningKey{}).(*running)
	return inv
}

// wrapTool gives the handlers of an agent's tools their context, and tells the core what they do besides their results.
func wrapTool(a *LLMAgent) turns.ToolWrapper {
	return func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
		inv, state := runningOf(ctx), invocation.StateOf(ctx)
		c := &ToolContext{call: call, turn: ctx}
		c.base = base{Context: ctx, inv: inv, agent: a.Name, state: State{state, &c.changes}}
		result, err := next(context.WithValue(ctx, toolKey{}, c), call)
		c.changes.mu.Lock()
		defer c.changes.mu.Unlock()
		if c.changes.actions.Empty() {
			return result, err
		}
		actions, failure := wire.Append(nil, c.changes.actions.form(), "actions")
		if failure == nil {
			_, failure = state.Invoke(abi.SessionMethodActions, turn.Payload(&abi.ActionsArgs{
				ExecutionID: call.ExecutionID, Actions: actions,
			}))
		}
		if err == nil {
			err = failure
		}
		return result, err
	}
}

// execute runs an agent's executor.
func execute(ctx *turns.DispatchContext, a *LLMAgent) error {
	step := invocation.StateOf(ctx)
	c := &ModelContext{step: step}
	c.base = base{Context: ctx, inv: runningOf(ctx), agent: a.Name, state: State{of: step}}
	return a.Executor(c, func(r *Response) error {
		if r == nil {
			return host.NewError(host.CodeInvalidEvent, "the response must not be nil", nil)
		}
		v, err := r.event().encode(nil)
		if err != nil {
			return err
		}
		_, err = step.Invoke(abi.SessionMethodRespond, turn.Payload(&abi.RespondArgs{Response: v}))
		return err
	})
}

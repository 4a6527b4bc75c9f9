package turns

import (
	"context"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/panics"
)

// ToolInvocation is one call of a tool's handler, as a [ToolWrapper] sees it.
type ToolInvocation struct {
	Tool *Tool
	Args Args // validated, with the schema's defaults; SetArgs replaces them
	// CallID is the checksum, ExecutionID names this execution, and ProviderCallID is the provider's id of the call, ""
	// for none: as in the events of the execution.
	CallID, ExecutionID, ProviderCallID string
	TurnID                              string // "" in a standalone dispatch
	DispatchID                          string
	Iteration                           int    // from 0
	Attempt                             int    // the number of the call among equal calls of the iteration, from 1
	IdempotencyKey                      string // as the handler's context has it
}

// SetArgs replaces the arguments that the handler gets by any value that encodes to an object. They are not validated
// again.
func (c *ToolInvocation) SetArgs(args any) error {
	raw, err := c.Tool.encodeArgs(args)
	if err == nil {
		c.Args = Args{raw}
	}
	return err
}

// ToolNext runs what is inside a [ToolWrapper]: the next wrapper, or at last the handler. The handler's context has the
// values, the end and the deadline of ctx, which the wrapper's own context is or was made from.
type ToolNext func(ctx context.Context, call *ToolInvocation) (any, error)

// ToolWrapper runs around one call of a tool's handler, between its toolExecutionStart and toolExecutionEnd. It returns
// the call's result. It may answer without next, call next several times, and change the arguments or the result.
//
// An error that next gave goes on unchanged; next fails with a panic of the handler too. Any other error, and a panic
// of the wrapper's own, becomes a *host.Error with the Name "WrapperError", whose message begins with the wrapper's
// place, such as "wrapTool[0]". Once the wrapper has returned, next fails with E_CALL_AFTER_END.
type ToolWrapper func(ctx *DispatchContext, call *ToolInvocation, next ToolNext) (any, error)

// handler is what calls the handler of a tool: itself, or the wrappers around it.
func (d *definition) handler(ctx *DispatchContext, tool *Tool, f *abi.Effect, args *abi.ToolArgs) func() (any, error) {
	given := Args{args.Args}
	if d.key != nil {
		ctx.effect.named = func() string { return d.key(ctx.state, args.ProviderCallID) }
	}
	if len(d.wrapTool) == 0 {
		return func() (any, error) { return tool.Handler(ctx, given) }
	}
	call := &ToolInvocation{
		Tool: tool, Args: given, CallID: args.CallID, ExecutionID: args.ExecutionID, ProviderCallID: args.ProviderCallID,
		Attempt: int(f.Ordinal),
	}
	return func() (any, error) {
		call.TurnID, call.DispatchID, call.Iteration = ctx.TurnID(), ctx.DispatchID(), ctx.Iteration()
		call.IdempotencyKey = ctx.IdempotencyKey()
		return d.wrappedTool(0, ctx, call, tool)
	}
}

// wrappedTool runs the wrappers from one on, and then the handler.
func (d *definition) wrappedTool(from int, ctx *DispatchContext, call *ToolInvocation, tool *Tool) (result any, err error) {
	if from == len(d.wrapTool) {
		defer panics.Recovered(&err) // the handler's, and no wrapper's
		return tool.Handler(ctx, call.Args)
	}
	layer := &wrapped{field: "wrapTool", index: from}
	err = layer.run(func() error {
		var err error
		result, err = d.wrapTool[from](ctx, call, func(in context.Context, call *ToolInvocation) (any, error) {
			if err := layer.enter(call != nil); err != nil {
				return nil, err
			}
			result, err := d.wrappedTool(from+1, ctx.within(in), call, tool)
			layer.gave(err)
			return result, err
		})
		return err
	})
	return result, err
}

// within is the same context with the values and the end of another one, which was made from it.
func (c *DispatchContext) within(ctx context.Context) *DispatchContext {
	if ctx == context.Context(c) || ctx == nil {
		return c
	}
	view := *c
	view.call, view.scope = ctx, nil
	return &view
}

package sessions

import (
	"cmp"
	"context"
	"slices"
	"sync"

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

// runningOf is the invocation that a turn's context is of.
func runningOf(c *turn.Context) *running {
	inv, _ := c.Turn().Value(runningKey{}).(*running)
	return inv
}

// wrapTool gives the handlers of an agent's tools their context, and tells the core what they do besides their results.
func wrapTool(a *LLMAgent) turns.ToolWrapper {
	return func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
		state := invocation.StateOf(ctx)
		c := &ToolContext{call: call, turn: ctx}
		c.base = base{Context: ctx, inv: runningOf(state), agent: a.Name, state: State{state, &c.changes, call.ExecutionID}}
		result, err := next(context.WithValue(ctx, toolKey{}, c), call)
		c.changes.acting.Lock()
		defer c.changes.acting.Unlock()
		if !c.changes.beyondWrites() || c.changes.all().Empty() {
			return result, err
		}
		actions, failure := wire.Append(nil, c.changes.actions.form(), "actions")
		if failure != nil {
			failure = invalidIn("", failure)
		} else {
			_, failure = state.Invoke(abi.SessionMethodActions, turn.Payload(&abi.ActionsArgs{
				ExecutionID: call.ExecutionID, Actions: actions,
			}))
		}
		if err == nil && failure != nil {
			err = &invocation.OfHandler{Err: failure}
		}
		return result, err
	}
}

// confirmedKey is the idempotency key of a call that the user has confirmed; "" for another one.
func confirmedKey(of *turn.Context, id string) string {
	inv := runningOf(of)
	session, answered := inv.handle(), false
	for i := session.Len() - 1; i >= 0; i-- {
		e, err := session.Event(i)
		switch {
		case err != nil:
			return ""
		case e.Author == RoleUser:
			answered = answered || slices.ContainsFunc(e.FunctionResponses(), func(r *FunctionResponse) bool { return r.ID == id })
		case slices.ContainsFunc(e.FunctionCalls(), func(c *FunctionCall) bool { return c.ID == id }):
			if !answered {
				return ""
			}
			return inv.key + "." + e.InvocationID + "." + id
		}
	}
	return ""
}

// execute runs an agent's executor. Its last answer goes to the core as its result.
func execute(ctx *turns.DispatchContext, a *LLMAgent) error {
	step := invocation.StateOf(ctx)
	c := &ModelContext{answers: answers{step: step}}
	c.base = base{Context: ctx, inv: runningOf(step), agent: a.Name, state: State{of: step}}
	err := a.Executor(c, c.answers.give)
	return c.answers.end(err)
}

// answers are those of an executor.
type answers struct {
	step *turn.Context
	mu   sync.Mutex
	last abi.Raw // a whole answer that the core does not have
}

// give tells the core an answer, or keeps it if it may be the last one.
func (a *answers) give(r *Response) error {
	if r == nil {
		return host.NewError(host.CodeInvalidEvent, "the response must not be nil", nil)
	}
	v, err := encodeEvent(nil, r.form())
	if err != nil {
		return err
	}
	a.mu.Lock()
	before := a.last
	a.last = nil
	if !r.Partial {
		a.last = v
	}
	a.mu.Unlock()
	if before != nil {
		err = a.tell(before)
	}
	if r.Partial && err == nil {
		err = a.tell(v)
	}
	return err
}

func (a *answers) tell(v abi.Raw) error {
	_, err := a.step.Invoke(abi.SessionMethodRespond, turn.Payload(&abi.RespondArgs{Response: v}))
	return err
}

// end gives the last answer. An executor that fails has given it all the same.
func (a *answers) end(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && a.last != nil {
		return cmp.Or(a.tell(a.last), err)
	}
	a.step.Answer = a.last
	return err
}

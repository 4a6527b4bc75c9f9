package sessions

import (
	"errors"
	"fmt"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// callback is a function of the program with what it gets. Its answer is nil, or a form that can be encoded.
type callback func(ctx *CallbackContext) (any, error)

// hookNames are the names of hooks in errors.
var hookNames = [...]string{
	abi.HookUserMessage: "onUserMessage", abi.HookBeforeRun: "beforeRun", abi.HookAfterRun: "afterRun", abi.HookEvent: "onEvent",
	abi.HookBeforeAgent: "beforeAgent", abi.HookAfterAgent: "afterAgent",
	abi.HookBeforeModel: "beforeModel", abi.HookAfterModel: "afterModel", abi.HookModelError: "onModelError",
	abi.HookBeforeTool: "beforeTool", abi.HookAfterTool: "afterTool", abi.HookToolError: "onToolError",
	abi.HookInstruction: "instruction", abi.HookGlobalInstruction: "globalInstruction", abi.HookConfirm: "confirm",
	abi.HookSummary: "summarize", abi.HookSummaryError: "onError",
}

// answer calls the callback of a hook and encodes its answer.
func (c *CallbackContext) answer(hook uint8, call callback) (abi.Raw, error) {
	v, err := call(c)
	if err != nil {
		return nil, err
	}
	c.changes.acting.Lock()
	defer c.changes.acting.Unlock()
	return answerOf(hookNames[hook], v, c.changes.all())
}

// name is the name of an agent, "" for none.
func (r *Runner) name(agent uint32) string {
	if n, err := r.tree.agent(agent); err == nil {
		return n.name
	}
	return ""
}

// hooks are the functions that a hook may be.
type hookFunctions struct {
	beforeAgent, afterAgent AgentCallback
	beforeModel             BeforeModelCallback
	afterModel              AfterModelCallback
	modelError              ModelErrorCallback
	beforeTool              BeforeToolCallback
	afterTool               AfterToolCallback
	toolError               ToolErrorCallback
}

// hook finds what a hook calls.
func (r *Runner) hook(a *abi.HookArgs) (callback, error) {
	if a.Plugin != 0 {
		if uint64(a.Plugin) > uint64(len(r.plugins)) {
			return nil, fmt.Errorf("there is no plugin %d", a.Plugin)
		}
		p := r.plugins[a.Plugin-1]
		if p.hooks()&(1<<a.Hook) == 0 {
			return nil, fmt.Errorf("plugin %d has no hook %d", a.Plugin, a.Hook)
		}
		switch a.Hook {
		case abi.HookUserMessage:
			return func(ctx *CallbackContext) (any, error) {
				message, err := decodeContent(a.Value)
				if err != nil {
					return nil, err
				}
				return contentAnswer(p.OnUserMessage(ctx, message))
			}, nil
		case abi.HookBeforeRun:
			return func(ctx *CallbackContext) (any, error) { return contentAnswer(p.BeforeRun(ctx)) }, nil
		case abi.HookAfterRun:
			return func(ctx *CallbackContext) (any, error) { return nil, p.AfterRun(ctx) }, nil
		case abi.HookEvent:
			return func(ctx *CallbackContext) (any, error) {
				e, err := decodeEvent(a.Value)
				if err != nil {
					return nil, err
				}
				if e, err = p.OnEvent(ctx, e); err != nil || e == nil {
					return nil, err
				}
				return e.form(), nil
			}, nil
		}
		return callOf(a, &hookFunctions{
			p.BeforeAgent, p.AfterAgent, p.BeforeModel, p.AfterModel, p.ModelError, p.BeforeTool, p.AfterTool, p.ToolError,
		})
	}
	n, err := r.tree.agent(a.Agent)
	if err != nil {
		return nil, err
	}
	return n.hook(a)
}

// hook finds what a hook calls of an agent.
func (n *node) hook(a *abi.HookArgs) (callback, error) {
	if counts := n.hooks(); int(a.Hook) >= len(counts) || a.Index >= counts[a.Hook] {
		return nil, fmt.Errorf("agent %q has no callback %d of hook %d", n.name, a.Index, a.Hook)
	}
	f := &hookFunctions{}
	switch i := int(a.Index); a.Hook {
	case abi.HookBeforeAgent:
		f.beforeAgent = n.before[i]
	case abi.HookAfterAgent:
		f.afterAgent = n.after[i]
	case abi.HookBeforeModel:
		f.beforeModel = n.llm.BeforeModel[i]
	case abi.HookAfterModel:
		f.afterModel = n.llm.AfterModel[i]
	case abi.HookModelError:
		f.modelError = n.llm.ModelError[i]
	case abi.HookBeforeTool:
		f.beforeTool = n.llm.BeforeTool[i]
	case abi.HookAfterTool:
		f.afterTool = n.llm.AfterTool[i]
	case abi.HookToolError:
		f.toolError = n.llm.ToolError[i]
	case abi.HookInstruction:
		return instruction(n.llm.InstructionFunc), nil
	case abi.HookGlobalInstruction:
		return instruction(n.llm.GlobalInstructionFunc), nil
	case abi.HookSummary:
		return n.compaction.summarize(a.Value), nil
	case abi.HookSummaryError:
		return n.compaction.failed(a.Value), nil
	case abi.HookConfirm:
		return func(ctx *CallbackContext) (any, error) { return n.llm.asks(ctx, a.Value) }, nil
	}
	return callOf(a, f)
}

// callOf is the call of the function that a hook is of.
func callOf(a *abi.HookArgs, f *hookFunctions) (callback, error) {
	switch a.Hook {
	case abi.HookBeforeAgent:
		return func(ctx *CallbackContext) (any, error) { return contentAnswer(f.beforeAgent(ctx)) }, nil
	case abi.HookAfterAgent:
		return func(ctx *CallbackContext) (any, error) { return contentAnswer(f.afterAgent(ctx)) }, nil
	case abi.HookBeforeModel:
		return func(ctx *CallbackContext) (any, error) { return responseAnswer(f.beforeModel(ctx)) }, nil
	case abi.HookAfterModel:
		return func(ctx *CallbackContext) (any, error) {
			e, err := decodeEvent(a.Value)
			if err != nil {
				return nil, err
			}
			return responseAnswer(f.afterModel(ctx, responseOf(e)))
		}, nil
	case abi.HookModelError:
		return func(ctx *CallbackContext) (any, error) {
			failure, err := ctx.state.of.ErrorOf(a.Value)
			if err != nil {
				return nil, err
			}
			return responseAnswer(f.modelError(ctx, failure))
		}, nil
	case abi.HookBeforeTool:
		return func(ctx *CallbackContext) (any, error) {
			call, _, err := decodeCall(a.Value, "")
			if err != nil {
				return nil, err
			}
			return f.beforeTool(ctx, call)
		}, nil
	case abi.HookAfterTool:
		return func(ctx *CallbackContext) (any, error) {
			call, result, err := decodeCall(a.Value, "result")
			if err != nil {
				return nil, err
			}
			return f.afterTool(ctx, call, result)
		}, nil
	case abi.HookToolError:
		return func(ctx *CallbackContext) (any, error) {
			call, reason, err := decodeCall(a.Value, "error")
			if err != nil {
				return nil, err
			}
			text, _ := reason.(string)
			return f.toolError(ctx, call, text)
		}, nil
	}
	return nil, fmt.Errorf("hook %d is unknown", a.Hook)
}

func contentAnswer(c *Content, err error) (any, error) {
	if err != nil || c == nil {
		return nil, err
	}
	return c.form(), nil
}

func responseAnswer(r *Response, err error) (any, error) {
	if err != nil || r == nil {
		return nil, err
	}
	return r.form(), nil
}

func instruction(give InstructionFunc) callback {
	return func(ctx *CallbackContext) (any, error) {
		text, err := give(ctx)
		if err != nil || text == "" {
			return nil, err
		}
		return text, nil
	}
}

// asks asks whether a person must confirm a call.
func (a *LLMAgent) asks(ctx *CallbackContext, v []byte) (any, error) {
	call, _, err := decodeCall(v, "")
	if err != nil {
		return nil, err
	}
	must := a.ConfirmIf[call.Tool]
	if must == nil {
		return nil, nil
	}
	ask, err := must(ctx, call)
	if err != nil || ask == nil {
		return nil, err
	}
	m := members{}
	m.text("hint", ask.Hint)
	if ask.Payload != nil {
		m.put("payload", ask.Payload)
	}
	if len(m) == 0 {
		return true, nil
	}
	return m.value(), nil
}

func invalidEvent(why string) error { return invalid(host.CodeInvalidEvent, "", errors.New(why)) }

package invocations

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/sessions"
)

// acting is the context of code that acts: of a callback, or of a tool.
type acting interface {
	State() *sessions.State
	Actions(change func(a *sessions.Actions))
	SaveArtifact(name, mimeType string, data []byte) (version int, err error)
}

// act does what an act says, but for what it answers.
func (g *game) act(by string, a *Act, ctx acting) error {
	for _, name := range slices.Sorted(maps.Keys(a.State)) {
		if err := ctx.State().Set(name, odd(a.State[name])); err != nil {
			return err
		}
	}
	if err := g.see(by, ctx.State(), a.See); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(a.Save)) {
		version, err := ctx.SaveArtifact(name, "text/plain", []byte(a.Save[name]))
		if err != nil {
			return err
		}
		g.write(by, conformance.Line{"saved": name, "version": version})
	}
	if a.Actions != nil {
		ctx.Actions(func(to *sessions.Actions) {
			to.Escalate, to.SkipSummarization = a.Actions.Escalate, a.Actions.SkipSummarization
			to.TransferToAgent = a.Actions.TransferToAgent
			if a.Actions.ArtifactDelta != nil {
				to.ArtifactDelta = a.Actions.ArtifactDelta
			}
			for name, v := range a.Actions.StateDelta {
				if to.StateDelta == nil {
					to.StateDelta = map[string]any{}
				}
				to.StateDelta[name] = odd(v)
			}
		})
	}
	if a.Abort {
		g.abort()
	}
	if a.Fail != "" {
		return errors.New(a.Fail)
	}
	return nil
}

// see writes a line with values of the state.
func (g *game) see(by string, state *sessions.State, names []string) error {
	if len(names) == 0 {
		return nil
	}
	values := map[string]any{}
	for _, name := range names {
		v, err := state.Get(name)
		if err != nil {
			return err
		}
		values[name] = plain(v)
	}
	who, _, _ := strings.Cut(by, " ") // without the id of a call
	g.write(by, conformance.Line{"saw": who, "values": values})
	return nil
}

// called writes that a callback is called, and does what it does. It returns what it answers, nil for nothing.
func (g *game) called(by string, hooks map[string][]*Act, hook string, with any, ctx *sessions.CallbackContext) (json.RawMessage, error) {
	line := conformance.Line{"hook": hook, "of": by}
	if with != nil {
		line["with"] = with
	}
	g.write(by, line)
	n := g.next(by + " " + hook)
	if n >= len(hooks[hook]) || hooks[hook][n] == nil {
		return nil, nil
	}
	a := hooks[hook][n]
	return a.Value, g.act(by, a, ctx)
}

// next counts the uses of a list.
func (g *game) next(what string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used[what]++
	return g.used[what] - 1
}

// content decodes what a callback answers.
func content(v json.RawMessage, err error) (*sessions.Content, error) {
	if err != nil || v == nil {
		return nil, err
	}
	to := &sessions.Content{}
	if err := json.Unmarshal(v, to); err != nil {
		return nil, err
	}
	return oddEvent(&sessions.Event{Content: to}).Content, nil
}

func response(v json.RawMessage, err error) (*sessions.Response, error) {
	if err != nil || v == nil {
		return nil, err
	}
	e := &sessions.Event{}
	if err := json.Unmarshal(v, e); err != nil {
		return nil, err
	}
	return responseOf(oddEvent(e)), nil
}

func responseOf(e *sessions.Event) *sessions.Response {
	return &sessions.Response{
		Content: e.Content, Partial: e.Partial, TurnComplete: e.TurnComplete, Interrupted: e.Interrupted,
		FinishReason: e.FinishReason, ErrorCode: e.ErrorCode, ErrorMessage: e.ErrorMessage, Usage: e.Usage,
		CustomMetadata: e.CustomMetadata,
	}
}

// given is an answer of a model as lines have it.
func given(r *sessions.Response) any {
	return plain(&sessions.Event{
		Content: r.Content, Partial: r.Partial, TurnComplete: r.TurnComplete, Interrupted: r.Interrupted,
		FinishReason: r.FinishReason, ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage, Usage: r.Usage,
		CustomMetadata: r.CustomMetadata,
	})
}

func result(v json.RawMessage, err error) (any, error) {
	if err != nil || v == nil {
		return nil, err
	}
	return odd(plainOf(string(v))), nil
}

func (g *game) around(a *AgentSpec, hook string) []sessions.AgentCallback {
	if a.Hooks[hook] == nil {
		return nil
	}
	return []sessions.AgentCallback{func(ctx *sessions.CallbackContext) (*sessions.Content, error) {
		return content(g.called(a.Name, a.Hooks, hook, nil, ctx))
	}}
}

func (g *game) confirm(a *AgentSpec) sessions.ConfirmFunc {
	return func(ctx *sessions.CallbackContext, call *sessions.ToolCall) (*sessions.Ask, error) {
		v, err := g.called(a.Name, a.Hooks, "confirm", plain(call.Args), ctx)
		if err != nil || v == nil || string(v) == "false" {
			return nil, err
		}
		ask := &sessions.Ask{}
		err = json.Unmarshal(v, ask)
		ask.Payload = odd(ask.Payload)
		return ask, err
	}
}

// callbacks sets those of an agent with a model.
func (g *game) callbacks(a *AgentSpec, made *sessions.LLMAgent) error {
	for _, hook := range slices.Sorted(maps.Keys(a.Hooks)) {
		call := func(ctx *sessions.CallbackContext, with any) (json.RawMessage, error) {
			return g.called(a.Name, a.Hooks, hook, with, ctx)
		}
		switch hook {
		case "beforeAgent", "afterAgent", "confirm":
		case "instruction":
			made.InstructionFunc = func(ctx *sessions.CallbackContext) (text string, err error) {
				v, err := call(ctx, nil)
				if err != nil || v == nil {
					return "", err
				}
				return text, json.Unmarshal(v, &text)
			}
		case "beforeModel":
			made.BeforeModel = []sessions.BeforeModelCallback{func(ctx *sessions.CallbackContext) (*sessions.Response, error) {
				return response(call(ctx, nil))
			}}
		case "afterModel":
			made.AfterModel = []sessions.AfterModelCallback{
				func(ctx *sessions.CallbackContext, r *sessions.Response) (*sessions.Response, error) {
					return response(call(ctx, given(r)))
				},
			}
		case "onModelError":
			made.ModelError = []sessions.ModelErrorCallback{
				func(ctx *sessions.CallbackContext, err error) (*sessions.Response, error) {
					return response(call(ctx, described(err)["message"]))
				},
			}
		case "beforeTool":
			made.BeforeTool = []sessions.BeforeToolCallback{func(ctx *sessions.CallbackContext, of *sessions.ToolCall) (any, error) {
				return result(call(ctx, callOf(of, "", nil)))
			}}
		case "afterTool":
			made.AfterTool = []sessions.AfterToolCallback{
				func(ctx *sessions.CallbackContext, of *sessions.ToolCall, v any) (any, error) {
					return result(call(ctx, callOf(of, "result", v)))
				},
			}
		case "onToolError":
			made.ToolError = []sessions.ToolErrorCallback{
				func(ctx *sessions.CallbackContext, of *sessions.ToolCall, reason string) (any, error) {
					return result(call(ctx, callOf(of, "error", reason)))
				},
			}
		default:
			return fmt.Errorf("there is no hook %s", hook)
		}
	}
	return nil
}

// callOf is the call of a tool as lines have it, with another member unless its name is empty.
func callOf(of *sessions.ToolCall, name string, v any) map[string]any {
	line := map[string]any{"tool": of.Tool, "id": of.ID, "args": plain(of.Args)}
	if name != "" {
		line[name] = plain(v)
	}
	return line
}

func (g *game) plugins() (list []*sessions.Plugin, err error) {
	for _, of := range g.Plugins {
		made := &sessions.Plugin{Name: of.Name}
		for _, hook := range slices.Sorted(maps.Keys(of.Hooks)) {
			call := func(ctx *sessions.CallbackContext, with any) (json.RawMessage, error) {
				return g.called(of.Name, of.Hooks, hook, with, ctx)
			}
			switch hook {
			case "onUserMessage":
				made.OnUserMessage = func(ctx *sessions.CallbackContext, message *sessions.Content) (*sessions.Content, error) {
					return content(call(ctx, plain(message)))
				}
			case "beforeRun":
				made.BeforeRun = func(ctx *sessions.CallbackContext) (*sessions.Content, error) { return content(call(ctx, nil)) }
			case "afterRun":
				made.AfterRun = func(ctx *sessions.CallbackContext) error {
					_, err := call(ctx, nil)
					return err
				}
			case "onEvent":
				made.OnEvent = func(ctx *sessions.CallbackContext, e *sessions.Event) (*sessions.Event, error) {
					v, err := call(ctx, plain(e))
					if err != nil || v == nil {
						return nil, err
					}
					to := &sessions.Event{}
					if err := json.Unmarshal(v, to); err != nil {
						return nil, err
					}
					return oddEvent(to), nil
				}
			default:
				return nil, fmt.Errorf("no plugin of the corpus has the hook %s", hook)
			}
		}
		list = append(list, made)
	}
	return list, nil
}

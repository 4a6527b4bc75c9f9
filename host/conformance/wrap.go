package conformance

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
)

// toolWrappers are wrappers of tools that do scripts. Their step next gives what the call gave, which is what the
// wrapper returns unless its script returns something else.
func toolWrappers(g *game, by string, scripts []Script) []turns.ToolWrapper {
	var list []turns.ToolWrapper
	for i, script := range scripts {
		list = append(list, func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
			f := g.frame(fmt.Sprintf("%s %d", by, i), ctx)
			f.args = call.Args.JSON()
			f.wrapped = map[string]any{
				"tool": call.Tool.Name, "callId": call.CallID, "executionId": call.ExecutionID, "providerCallId": call.ProviderCallID,
				"turnId": call.TurnID, "dispatchId": call.DispatchID, "iteration": call.Iteration, "attempt": call.Attempt,
				"idempotencyKey": call.IdempotencyKey,
			}
			f.inner = func(arg any) (any, error) {
				inner := *call
				if arg != nil {
					a := fieldsOf(arg)
					args := a.any("args")
					a.end()
					if err := inner.SetArgs(args); err != nil {
						return nil, err
					}
				}
				got, err := next(ctx, &inner)
				if err == nil {
					f.result = got
				}
				return got, err
			}
			err := f.run(script)
			return f.result, err
		})
	}
	return list
}

// modelWrappers are wrappers of models that do scripts. Their step next passes the answer on as it comes; the step
// answer gives one.
func modelWrappers(g *game, by string, scripts []Script) []model.Wrapper {
	var list []model.Wrapper
	for i, script := range scripts {
		list = append(list, func(ctx context.Context, call *model.Invocation, send func(model.Chunk) error, next model.Next) error {
			f := g.frame(fmt.Sprintf("%s %d", by, i), nil)
			f.until = ctx
			f.wrapped = map[string]any{
				"model": call.Model, "turnId": call.TurnID, "dispatchId": call.DispatchID, "iteration": call.Iteration,
				"attempt": call.Attempt, "method": call.Method, "url": call.URL, "headers": plain(call.Headers), "body": string(call.Body),
			}
			if call.Provider != "" {
				f.wrapped["provider"] = string(call.Provider)
			}
			f.inner = func(arg any) (any, error) {
				inner := *call
				if arg != nil {
					a := fieldsOf(arg)
					inner.URL, inner.Body = a.str("url", inner.URL), []byte(a.str("body", string(inner.Body)))
					a.end()
				}
				return nil, next(ctx, &inner, send)
			}
			f.answer = func(arg any) error { return sendAnswer(arg, send) }
			return f.run(script)
		})
	}
	return list
}

// sendAnswer sends the answer of an API, or a list of an engine's parts.
func sendAnswer(arg any, send func(model.Chunk) error) error {
	if parts, ok := arg.([]any); ok {
		var lines bytes.Buffer
		for _, part := range parts {
			lines.Write(append(appendValue(nil, part), '\n'))
		}
		return send(model.Chunk{Data: lines.Bytes()})
	}
	var a Answer
	decode(arg, &a)
	if err := send(model.Chunk{Status: cmp.Or(a.Status, http.StatusOK), Headers: a.headers()}); err != nil {
		return err
	}
	for _, piece := range a.pieces() {
		if err := send(model.Chunk{Data: []byte(piece)}); err != nil {
			return err
		}
	}
	return nil
}

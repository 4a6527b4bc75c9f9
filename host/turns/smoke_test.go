package turns_test

import (
	"context"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

func TestSmoke(t *testing.T) {
	h := turns.NewHost(turns.HostOptions{Engine: native.New(), Clock: host.FixedClock(host.FixedTime), Verify: true})
	tool := &turns.Tool{Name: "calc", Description: "d", InputSchema: `{"type":"object","properties":{"a":{"type":"number"}}}`,
		Handler: func(ctx *turns.DispatchContext, args turns.Args) (any, error) { return args.Number("a") + 1, nil }}
	r := newRunner(t, turns.TurnRunnerConfig{Host: h, Tools: []*turns.Tool{tool}, Executor: func(ctx *turns.DispatchContext, hp *turns.Helpers) error {
		if ctx.Iteration() == 0 {
			if err := hp.ReportToolCall("c1", turns.ToolCallReport{Tool: "calc", Args: map[string]any{"a": 1}}); err != nil {
				return err
			}
			v, err := tool.Executor(ctx)(map[string]any{"a": 1})
			t.Log("result", v, err)
			return hp.ReportToolCall("c1", turns.ToolCallReport{Results: v, IsComplete: true})
		}
		hp.ReportMessage("m", "Hi", false)
		hp.ReportMessage("m", " you", true)
		return ctx.Ack()
	}})
	r.OnAny(func(ev turns.Event) { b, err := ev.MarshalJSON(); t.Log(string(b), err) })
	res, err := r.Run(context.Background(), turns.TurnInput{SystemPrompt: "test", Text: "hello"})
	t.Logf("%+v %v", res, err)
}

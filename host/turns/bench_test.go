package turns_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/turns"
)

var instant = time.UnixMilli(1767225600000)

func toolTurn(deltas int) (turns.Executor, *turns.Tool) {
	tool := &turns.Tool{
		Name: "calc", Description: "adds one", InputSchema: `{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}`,
		Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) { return args.Number("a") + 1, nil },
	}
	return func(ctx *turns.DispatchContext, h *turns.Helpers) error {
		if ctx.Iteration() == 0 {
			if _, err := tool.Executor(ctx)(map[string]any{"a": 1}); err != nil {
				return err
			}
			return ctx.StoreToolCall(&turns.ToolCall{
				ID: "c1", Tool: "calc", Args: []byte(`{"a":1}`), Checksum: "x", Results: "2", IsComplete: true,
				CreatedAt: instant, UpdatedAt: instant, CompletedAt: instant,
			})
		}
		for i := range deltas {
			if err := h.ReportMessage("m1", "some text ", i == deltas-1); err != nil {
				return err
			}
		}
		if err := ctx.StoreMessage(turns.NewMessage("m1", turns.Assistant, "the answer", instant)); err != nil {
			return err
		}
		return ctx.Ack()
	}, tool
}

func BenchmarkToolTurn(b *testing.B) {
	for _, engine := range hosttest.Engines(b) {
		for _, deltas := range []int{0, 20, 500} {
			b.Run(fmt.Sprintf("%s/%d", engine.Name(), deltas), func(b *testing.B) {
				executor, tool := toolTurn(deltas)
				r := newRunner(b, turns.TurnRunnerConfig{
					Host: turns.NewHost(turns.HostOptions{Engine: engine}), Executor: executor, Tools: []*turns.Tool{tool},
				})
				b.ReportAllocs()
				for b.Loop() {
					result, err := r.Run(context.Background(), turns.TurnInput{SystemPrompt: "test", Text: "hello"})
					if err != nil || result.Status != turns.Ack {
						b.Fatal(result, err)
					}
				}
			})
		}
	}
}

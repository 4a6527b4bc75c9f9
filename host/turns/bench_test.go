package turns_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/record"
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
			return ctx.StoreToolCall(&record.ToolCall{
				ID: "c1", Tool: "calc", Args: []byte(`{"a":1}`), Checksum: "x", Results: "2", IsComplete: true,
				CreatedAt: instant, UpdatedAt: instant, CompletedAt: instant,
			})
		}
		for i := range deltas {
			if err := h.ReportMessage("m1", "some text ", i == deltas-1); err != nil {
				return err
			}
		}
		if err := ctx.StoreMessage(record.NewMessage("m1", record.Assistant, "the answer", instant)); err != nil {
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
					if err != nil || result.Status != event.Ack {
						b.Fatal(result, err)
					}
				}
			})
		}
	}
}

// Turns of one instance, some at a time: they wait for one another.
func BenchmarkTurnsTogether(b *testing.B) {
	for _, engine := range hosttest.Engines(b) {
		for _, together := range []int{1, 2, 16, 256} {
			b.Run(fmt.Sprintf("%s/%d", engine.Name(), together), func(b *testing.B) {
				executor, tool := toolTurn(0)
				r := newRunner(b, turns.TurnRunnerConfig{
					Host: turns.NewHost(turns.HostOptions{Engine: engine}), Executor: executor, Tools: []*turns.Tool{tool},
				})
				var left atomic.Int64
				left.Store(int64(b.N))
				b.ResetTimer()
				var running sync.WaitGroup
				for range together {
					running.Go(func() {
						for left.Add(-1) >= 0 {
							result, err := r.Run(context.Background(), turns.TurnInput{SystemPrompt: "test", Text: "hello"})
							if err != nil || result.Status != event.Ack {
								b.Error(result, err)
								return
							}
						}
					})
				}
				running.Wait()
			})
		}
	}
}

// A further turn on a held history.
func BenchmarkHeldHistory(b *testing.B) {
	for _, engine := range hosttest.Engines(b) {
		for _, n := range []int{0, 50, 5000} {
			b.Run(fmt.Sprintf("%s/%d", engine.Name(), n), func(b *testing.B) {
				history, err := turns.NewHistory(messages(n)...)
				if err != nil {
					b.Fatal(err)
				}
				executor, tool := toolTurn(0)
				r := newRunner(b, turns.TurnRunnerConfig{
					Host: turns.NewHost(turns.HostOptions{Engine: engine}), Executor: executor, Tools: []*turns.Tool{tool},
					TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
						if err := ctx.TurnMessages().AddAll(history); err != nil {
							return err
						}
						next()
						return nil
					}},
				})
				for b.Loop() {
					if result, err := r.Run(context.Background(), turns.TurnInput{SystemPrompt: "test"}); err != nil || result.Status != event.Ack {
						b.Fatal(result, err)
					}
				}
			})
		}
	}
}

// Fresh messages, added one by one: one crossing for all of them.
func BenchmarkAddFresh(b *testing.B) {
	const n = 5000
	for _, engine := range hosttest.Engines(b) {
		b.Run(engine.Name(), func(b *testing.B) {
			var spent time.Duration
			r := newRunner(b, turns.TurnRunnerConfig{
				Host: turns.NewHost(turns.HostOptions{Engine: engine}),
				Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
					list := messages(n)
					start := time.Now()
					for _, m := range list {
						if err := ctx.TurnMessages().Add(m); err != nil {
							return err
						}
					}
					h.Log(event.LevelInfo, "", "", nil) // takes them across
					spent += time.Since(start)
					return ctx.Ack()
				},
			})
			input := turns.TurnInput{SystemPrompt: "test"}
			for b.Loop() {
				if result, err := r.Run(context.Background(), input); err != nil || result.Err != nil {
					b.Fatal(result, err)
				}
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N)/n, "ns/message")
		})
	}
}

// An effect and its result, without listeners: a tool call less what surrounds it.
func BenchmarkToolCall(b *testing.B) {
	for _, engine := range hosttest.Engines(b) {
		b.Run(engine.Name(), func(b *testing.B) {
			_, tool := toolTurn(0)
			r := newRunner(b, turns.TurnRunnerConfig{
				Host: turns.NewHost(turns.HostOptions{Engine: engine}), Tools: []*turns.Tool{tool},
				Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
					run := tool.Executor(ctx)
					for b.Loop() {
						if _, err := run(map[string]any{"a": 1}); err != nil {
							return err
						}
					}
					return ctx.Ack()
				},
			})
			if result, err := r.Run(context.Background(), turns.TurnInput{SystemPrompt: "test"}); err != nil || result.Err != nil {
				b.Fatal(result, err)
			}
		})
	}
}

func messages(n int) []*record.Message {
	list := make([]*record.Message, n)
	for i := range list {
		list[i] = record.NewMessage(fmt.Sprint(i), record.User, "a message of an ordinary length, as people write them", instant)
	}
	return list
}

package turns_test

import (
	"errors"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/turns"
)

// An ack of the chat executor, inside the core, shows in the output pipeline, and its handlers run once, before the
// middleware and before the iteration's end.
func TestAckInsideTheCore(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			provider, err := hosttest.NewProvider(1, hosttest.Response{Body: answer})
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			h, chat := chatHost(t, engine, provider.URL)
			var order []string
			log, result := play(t, h, turns.TurnRunnerConfig{
				Chat: chat,
				DispatchInputPipeline: []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, next func()) error {
					ctx.OnAck(func() {
						order = append(order, "ack")
						if err := ctx.EmitMessage("late", "from an ack handler", true); err != nil {
							t.Error(err)
						}
					})
					ctx.OnAck(func() { panic("swallowed") })
					ctx.OnAck(func() { order = append(order, "never") })()
					next()
					return nil
				}},
				DispatchOutputPipeline: []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, next func()) error {
					order = append(order, "output")
					if !ctx.IsSignalled() || !ctx.IsAcked() || ctx.NackError() != nil {
						t.Errorf("signalled %v, acked %v, nacked with %v", ctx.IsSignalled(), ctx.IsAcked(), ctx.NackError())
					}
					ctx.OnAck(func() { order = append(order, "too late") })
					next()
					return nil
				}},
			}, turns.TurnInput{Text: "Hi!"})
			if result.Status != event.Ack {
				t.Fatalf("%+v", result)
			}
			if len(order) != 2 || order[0] != "ack" || order[1] != "output" {
				t.Errorf("order %q", order)
			}
			last := ""
			for _, ev := range log.events {
				if m, ok := ev.(*event.Message); ok {
					last = m.Full
				}
			}
			if last != "from an ack handler" {
				t.Errorf("the last message is %q: the handler's is to follow the answer", last)
			}
		})
	}
}

// The nack of a built-in middleware shows in the middleware behind it, as the very error that the turn ends with.
func TestNackInsideTheCore(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			h := turns.NewHost(turns.HostOptions{Engine: engine, Verify: true})
			defer h.Close(t.Context())
			var seen []error
			acked := false
			_, result := play(t, h, turns.TurnRunnerConfig{
				Executor: nothing, MaxIterations: 2,
				DispatchInputPipeline: []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, next func()) error {
					ctx.OnAck(func() { acked = true })
					if ctx.IsSignalled() != (ctx.Iteration() == 2) || ctx.IsAcked() {
						t.Errorf("iteration %d: signalled %v, acked %v", ctx.Iteration(), ctx.IsSignalled(), ctx.IsAcked())
					}
					seen = append(seen, ctx.NackError())
					next()
					return nil
				}},
			}, turns.TurnInput{})
			if len(seen) != 3 || seen[0] != nil || seen[1] != nil || !errors.Is(seen[2], host.CodeMaxIterations) || seen[2] != result.Err {
				t.Errorf("nack errors %v, result %v", seen, result.Err)
			}
			if acked {
				t.Error("an ack handler ran on a nack")
			}
		})
	}
}

// A nack of host code has its own error, and one without any has the error that the dispatch fails with.
func TestNackError(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			h := turns.NewHost(turns.HostOptions{Engine: engine, Verify: true})
			defer h.Close(t.Context())
			for _, cause := range []error{errX, nil} {
				var seen error
				_, result := play(t, h, turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
					err := ctx.Nack(cause)
					seen = ctx.NackError()
					return err
				}}, turns.TurnInput{})
				if seen == nil || seen != result.Err || cause != nil && seen != cause {
					t.Errorf("nacked with %v, seen %v, result %v", cause, seen, result.Err)
				}
			}
		})
	}
}

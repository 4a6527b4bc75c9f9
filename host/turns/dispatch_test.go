package turns_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

// raw is a dispatch without a turn.
func raw(h *turns.Host, log *recorder, executor turns.Executor) turns.DispatchInput {
	return turns.DispatchInput{
		Raw: &turns.RawContext{SystemPrompt: "test", Callbacks: noStorage()}, Executor: executor, OnEvent: log.add, Host: h,
	}
}

func TestDispatchScenarios(t *testing.T) {
	ackAt := func(n int) turns.DispatchMiddleware {
		return func(ctx *turns.DispatchContext, next func()) error {
			if ctx.Iteration() >= n {
				if err := ctx.Ack(); err != nil {
					return err
				}
			}
			next()
			return nil
		}
	}
	type dispatch = turns.DispatchInput
	cases := []struct {
		name     string
		executor turns.Executor
		change   func(*dispatch)
		want     string
		err      error
	}{
		{
			"B4 output middleware acks", nothing, func(d *dispatch) { d.OutputPipeline = []turns.DispatchMiddleware{ackAt(1)} },
			"dS iS(0) iE(0,continue) iS(1) iE(1,ack) dE(ack,2)", nil,
		},
		{
			"B6 input middleware acks", nil, func(d *dispatch) { d.InputPipeline = []turns.DispatchMiddleware{ackAt(0)} },
			"dS iS(0) iE(0,ack) dE(ack,1)", nil,
		},
		{
			"B7 input middleware acks without next", nil, func(d *dispatch) {
				d.InputPipeline = []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, _ func()) error { return ctx.Ack() }}
			},
			"dS iS(0) iE(0,ack) dE(ack,1)", nil,
		},
		{
			"B20 ack, then failure", func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return errors.Join(ctx.Ack(), errX) }, nil,
			"dS iS(0) err(E_LLM_EXECUTION_EXECUTOR_ERROR) iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR)", host.CodeLLMExecutionExecutorError,
		},
		{
			"B22 nack", func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Nack(errX) }, nil,
			"dS iS(0) iE(0,nack) err(X) dE(nack,1,X)", errX,
		},
		{
			"B23 input middleware fails", ack, func(d *dispatch) {
				d.InputPipeline = []turns.DispatchMiddleware{func(*turns.DispatchContext, func()) error { return errX }}
			},
			"dS iS(0) err(E_DISPATCH_PIPELINE_ERROR) iE(0,nack) dE(nack,1,E_DISPATCH_PIPELINE_ERROR)", errX,
		},
		{
			"B24 output middleware forgets next", nothing, func(d *dispatch) {
				d.OutputPipeline = []turns.DispatchMiddleware{func(*turns.DispatchContext, func()) error { return nil }}
			},
			"dS iS(0) err(E_PIPELINE_SHORT_CIRCUITED) iE(0,nack) dE(nack,1,E_PIPELINE_SHORT_CIRCUITED)", host.CodePipelineShortCircuited,
		},
		{
			"B25 output middleware acks and forgets next", nothing, func(d *dispatch) {
				d.OutputPipeline = []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, _ func()) error { return ctx.Ack() }}
			},
			"dS iS(0) iE(0,ack) dE(ack,1)", nil,
		},
		{
			"abort", func(ctx *turns.DispatchContext, _ *turns.Helpers) error { ctx.Abort(nil); return nil }, nil,
			"dS iS(0) iE(0,aborted) dE(aborted,1)", nil,
		},
		{
			"C2 report on a sealed stream", func(_ *turns.DispatchContext, h *turns.Helpers) error {
				return errors.Join(h.ReportMessage("a", "x", true), h.ReportMessage("a", "y", false))
			}, nil,
			"dS iS(0) msg err(E_LLM_EXECUTION_EXECUTOR_ERROR) iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR)", turns.ErrStreamSealed,
		},
	}
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				log := &recorder{}
				executor := c.executor
				if executor == nil {
					executor = func(*turns.DispatchContext, *turns.Helpers) error {
						t.Error("the executor was called")
						return nil
					}
				}
				in := raw(h, log, executor)
				if c.change != nil {
					c.change(&in)
				}
				_, err := turns.Dispatch(t.Context(), in)
				if !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
					t.Errorf("error %v, want %v", err, c.err)
				}
				if got := log.words(); got != c.want {
					t.Errorf("events\n got %s\nwant %s", got, c.want)
				}
			})
		}
	})
}

func TestDispatchInputIsRefused(t *testing.T) {
	if _, err := turns.Dispatch(t.Context(), turns.DispatchInput{Executor: ack}); !errors.Is(err, host.CodeInvalidLLMDispatchInput) {
		t.Errorf("neither source nor raw: %v", err)
	}
	callbacks := noStorage()
	callbacks.StoreMessage = nil
	_, err := turns.Dispatch(t.Context(), turns.DispatchInput{Executor: ack, Raw: &turns.RawContext{Callbacks: callbacks}})
	if !errors.Is(err, host.CodeInvalidLLMExecutionContext) || !strings.Contains(err.Error(), "storeMessage") || !strings.Contains(err.Error(), "systemPrompt") {
		t.Errorf("raw context without a function: %v", err)
	}
}

func TestSignals(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var trace []string
		_, err := turns.Dispatch(t.Context(), raw(h, &recorder{}, func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			ctx.OnAck(func() { trace = append(trace, "a"); panic("swallowed") })
			cancel := ctx.OnAck(func() { trace = append(trace, "b") })
			ctx.OnAck(func() { trace = append(trace, "c") })
			cancel()
			if ctx.IsSignalled() {
				t.Error("signalled before")
			}
			if err := ctx.Ack(); err != nil {
				return err
			}
			trace = append(trace, "acked")
			if !ctx.IsAcked() || !ctx.IsSignalled() {
				t.Error("not acked after Ack")
			}
			for _, again := range []error{ctx.Ack(), ctx.Nack(errX)} {
				if !errors.Is(again, host.CodeLLMExecutionAlreadySignalled) {
					t.Errorf("a second signal: %v", again)
				}
			}
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(trace, " "); got != "a c acked" {
			t.Errorf("ack handlers: %s", got)
		}
	})
}

// A dispatch inside a turn: its writes go to its source, and share the source's fate.
func TestNestedDispatch(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		inner := &recorder{}
		log, result := play(t, h, turns.TurnRunnerConfig{
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				got, err := turns.Dispatch(ctx, turns.DispatchInput{Source: ctx, OnEvent: inner.add, Executor: func(in *turns.DispatchContext, _ *turns.Helpers) error {
					if in.Stash().Has("k") != true {
						t.Error("the stash was not copied")
					}
					if err := in.Stash().Set("k", 2); err != nil {
						return err
					}
					return errors.Join(in.StoreMessage(message("m", "from inside")), in.Ack())
				}})
				if err != nil || got.Status != event.Ack || got.Iterations != 1 || got.DispatchID == ctx.DispatchID() {
					t.Errorf("inner dispatch: %+v, %v", got, err)
				}
				if ctx.TurnMessages().Len() != 1 {
					t.Errorf("%d messages in the source", ctx.TurnMessages().Len())
				}
				if v, _ := ctx.Stash().Get("k"); v != int64(1) {
					t.Errorf("the stash was copied back: %v", v)
				}
				return ctx.Ack()
			},
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				if err := ctx.Stash().Set("k", 1); err != nil {
					return err
				}
				next()
				return nil
			}},
			TurnOutputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				if m, ok := ctx.TurnMessages().Get("m"); !ok || m.Content != "from inside" {
					t.Error("the message did not reach the turn")
				}
				next()
				return nil
			}},
		}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Errorf("%+v", result)
		}
		if want := started + "dS iS(0) iE(0,ack) dE(ack,1) iE(0,ack) dE(ack,1) tE(ack)"; log.words() != want {
			t.Errorf("events\n got %s\nwant %s", log.words(), want)
		}
		if want := "dS iS(0) iE(0,ack) dE(ack,1)"; inner.words() != want {
			t.Errorf("inner events\n got %s\nwant %s", inner.words(), want)
		}
	})
}

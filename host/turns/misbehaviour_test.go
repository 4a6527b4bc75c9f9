package turns_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// hostile is an error that cannot be read.
type hostile struct{}

func (*hostile) Error() string { panic("no text") }

// ways are ways for user code to go wrong.
var ways = map[string]func() error{
	"fails":                          func() error { return errX },
	"panics with an error":           func() error { panic(errX) },
	"panics with text":               func() error { panic("boom") },
	"panics with nil":                func() error { panic(nil) },
	"fails with a nil pointer":       func() error { return (*host.Error)(nil) },
	"fails with no text":             func() error { return errors.New("") },
	"fails with what cannot be read": func() error { return &hostile{} },
	"fails with several":             func() error { return errors.Join(errX, errors.New("Y")) },
	"reads beyond a list":            func() error { var list []error; return list[len(list)] },
	"ends its goroutine":             func() error { runtime.Goexit(); return nil },
}

func TestMisbehaviour(t *testing.T) {
	type config = turns.TurnRunnerConfig
	sessions := func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		if err := ctx.StoreMessage(message("m", "x")); err != nil {
			return err
		}
		return ctx.Ack()
	}
	places := map[string]func(c *config, bad func() error){
		"executor": func(c *config, bad func() error) {
			c.Executor = func(*turns.DispatchContext, *turns.Helpers) error { return bad() }
		},
		"turn input": func(c *config, bad func() error) {
			c.TurnInputPipeline = []turns.TurnMiddleware{func(*turns.TurnContext, func()) error { return bad() }}
		},
		"turn output": func(c *config, bad func() error) {
			c.TurnOutputPipeline = []turns.TurnMiddleware{func(*turns.TurnContext, func()) error { return bad() }}
		},
		"dispatch input": func(c *config, bad func() error) {
			c.DispatchInputPipeline = []turns.DispatchMiddleware{func(*turns.DispatchContext, func()) error { return bad() }}
		},
		"dispatch output": func(c *config, bad func() error) {
			c.DispatchOutputPipeline = []turns.DispatchMiddleware{func(*turns.DispatchContext, func()) error { return bad() }}
		},
		"storage": func(c *config, bad func() error) {
			c.StoreMessage = func(turns.Context, *record.Message) error { return bad() }
		},
		"commit": func(c *config, bad func() error) {
			c.Commit = func(turns.Context, []store.Delta) error { return bad() }
		},
		"tool": func(c *config, bad func() error) {
			tool := named("t")
			tool.Handler = func(*turns.DispatchContext, turns.Args) (any, error) { return nil, bad() }
			c.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				if _, err := tool.Executor(ctx)(nil); err != nil {
					return err
				}
				return ctx.Ack()
			}
		},
		"listener": func(c *config, bad func() error) {},
	}
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for place, configure := range places {
			for way, bad := range ways {
				if place == "listener" && way == "ends its goroutine" {
					continue // the goroutine of the test itself would end
				}
				where := place + " " + way
				c := config{Callbacks: noStorage(), Executor: sessions, Host: h}
				configure(&c, bad)
				log := &recorder{}
				r := newRunner(t, c)
				if place == "listener" {
					r.Observe(event.KindIterationStart, func(event.Event) {
						if err := bad(); err != nil {
							panic(err)
						}
					})
				}
				ended := make(chan struct{})
				r.OnAny(log.add)
				r.Observe(event.KindTurnEnd, func(event.Event) { close(ended) })
				go r.Run(context.WithoutCancel(t.Context()), turns.TurnInput{SystemPrompt: "test"}) //nolint:errcheck // user code may end this goroutine
				<-ended
				words := log.words()
				checkBrackets(t, where, words)
				if n := strings.Count(words, " err("); n != 1 || strings.Contains(words, string(host.CodeInstanceFailed)) {
					t.Errorf("%s: %d errors, want one: %s", where, n, words)
				}
			}
		}
		log, _ := play(t, h, config{Executor: ack}, turns.TurnInput{})
		if want := started + "iE(0,ack) dE(ack,1) tE(ack)"; log.words() != want {
			t.Errorf("the instance does not go on: %s", log.words())
		}
	})
}

func TestUseAfterTheEnd(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var kept *turns.DispatchContext
		var helpers *turns.Helpers
		var late func()
		play(t, h, turns.TurnRunnerConfig{
			Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
				kept, helpers = ctx, h
				return ctx.Ack()
			},
			TurnInputPipeline: []turns.TurnMiddleware{func(_ *turns.TurnContext, next func()) error {
				late = next
				next()
				next()
				return nil
			}},
		}, turns.TurnInput{})
		late()
		_, count := kept.ToolCallCount("x")
		_, executed := named("t").Executor(kept)(nil)
		for name, err := range map[string]error{
			"StoreMessage": kept.StoreMessage(message("m", "x")), "Commit": kept.Commit(), "Ack": kept.Ack(), "Nack": kept.Nack(errX),
			"ToolCallCount": count, "Executor": executed, "ReportMessage": helpers.ReportMessage("m", "x", false),
			"DeleteMessage": kept.DeleteMessage("m"),
		} {
			if !errors.Is(err, host.CodeCallAfterEnd) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if kept.Err() == nil {
			t.Error("the dispatch's context lives on")
		}
	})
}

func TestWrongArguments(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		log, _ := play(t, h, turns.TurnRunnerConfig{
			Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
				_, media := ctx.StoreMediaBytes("m", nil)
				_, text := ctx.StoreRetrievableBytes("r", nil)
				_, outside := named("t").Executor(nil)(nil)
				for field, err := range map[string]error{
					"bytes: must be a reader": media, " bytes: must be a reader": text, "ctx: must be a DispatchContext": outside,
					"stats.cachedTokens: must":           h.ReportGenerationStats(model.Stats{CachedTokens: -1}),
					"args: a function cannot be encoded": h.ReportToolCall("c", event.ToolCallReport{Tool: "t", Args: func() {}}),
				} {
					if !errors.Is(err, host.CodeInvalidValue) || !strings.Contains(err.Error(), field) {
						t.Errorf("%s: %v", field, err)
					}
				}
				h.Log(event.LevelInfo, "k", "m", map[string]any{"f": func() {}})
				return ctx.Ack()
			},
		}, turns.TurnInput{})
		if !strings.HasSuffix(log.words(), "log(info) iE(0,ack) dE(ack,1) tE(ack)") {
			t.Error(log.words())
		}
	})
}

package turns_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/middleware"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// word is an event in short: what the scenario tables are written in.
func word(ev event.Event) string {
	code := func(err error) string {
		var e *host.Error
		if errors.As(err, &e) && err == error(e) && e.Code != "" {
			return string(e.Code)
		}
		return err.Error()
	}
	switch ev := ev.(type) {
	case *event.TurnStart:
		return "tS"
	case *event.TurnEnd:
		if ev.Err != nil {
			return fmt.Sprintf("tE(%s,%s)", ev.Status, code(ev.Err))
		}
		return fmt.Sprintf("tE(%s)", ev.Status)
	case *event.DispatchStart:
		return "dS"
	case *event.DispatchEnd:
		if ev.Err != nil {
			return fmt.Sprintf("dE(%s,%d,%s)", ev.Status, ev.Iterations, code(ev.Err))
		}
		return fmt.Sprintf("dE(%s,%d)", ev.Status, ev.Iterations)
	case *event.IterationStart:
		return fmt.Sprintf("iS(%d)", ev.Iteration)
	case *event.IterationEnd:
		return fmt.Sprintf("iE(%d,%s)", ev.Iteration, ev.Status)
	case *event.Message:
		return "msg"
	case *event.Thought:
		return "th"
	case *event.ToolCall:
		return fmt.Sprintf("tc(%t)", ev.IsComplete)
	case *event.ToolExecutionStart:
		return "xS"
	case *event.ToolExecutionEnd:
		return fmt.Sprintf("xE(%t)", ev.IsError)
	case *event.Log:
		return "log(" + ev.Level.String() + ")"
	case *event.Warning:
		return "warn(" + ev.Type + ")"
	case *event.Error:
		return "err(" + code(ev.Err) + ")"
	case *event.TurnGateOpen:
		return "gO"
	case *event.TurnGateClosed:
		return "gC(" + ev.Result.String() + ")"
	case *event.GenerationStats:
		return "stats"
	}
	return "?"
}

// recorder collects events. It may be told from many goroutines.
type recorder struct {
	mu     sync.Mutex
	events []event.Event
}

func (r *recorder) add(ev event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, ev)
}

func (r *recorder) words() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]string, len(r.events))
	for i, ev := range r.events {
		list[i] = word(ev)
	}
	return strings.Join(list, " ")
}

func find[E event.Event](r *recorder) (found []E) {
	for _, ev := range r.events {
		if ev, ok := ev.(E); ok {
			found = append(found, ev)
		}
	}
	return found
}

// onEngines runs a test on every engine, with the collections compared after each step.
func onEngines(t *testing.T, test func(t *testing.T, h *turns.Host)) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			h := turns.NewHost(turns.HostOptions{
				Engine: engine, Clock: host.FixedClock(host.FixedTime), Entropy: host.SeededEntropy(1), Verify: true,
			})
			t.Cleanup(func() { _ = h.Close(context.Background()) })
			test(t, h)
		})
	}
}

// play runs a turn and returns what happened.
func play(t *testing.T, h *turns.Host, config turns.TurnRunnerConfig, input turns.TurnInput) (*recorder, *turns.Result) {
	t.Helper()
	config.Host = h
	r := newRunner(t, config)
	log := &recorder{}
	r.OnAny(log.add)
	if input.SystemPrompt == "" {
		input.SystemPrompt = "test"
	}
	result, err := finished(r.Run(t.Context(), input))
	if err != nil {
		t.Fatal(err)
	}
	return log, result
}

var (
	errX    = errors.New("X")
	ack     = func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() }
	nothing = func(*turns.DispatchContext, *turns.Helpers) error { return nil }
)

// say reports a message and acks.
func say(text string) turns.Executor {
	return func(ctx *turns.DispatchContext, h *turns.Helpers) error {
		if err := h.ReportMessage("m", text, true); err != nil {
			return err
		}
		return ctx.Ack()
	}
}

// calc is a tool that adds one.
func calc() *turns.Tool {
	return &turns.Tool{
		Name: "calc", Description: "adds one",
		InputSchema: `{"type":"object","properties":{"a":{"type":"number"}},"required":["a"],"additionalProperties":false}`,
		Handler:     func(_ *turns.DispatchContext, args turns.Args) (any, error) { return args.Number("a") + 1, nil },
	}
}

// callThenSay calls the tool in iteration 0 and answers in iteration 1.
func callThenSay(tool *turns.Tool) turns.Executor {
	return func(ctx *turns.DispatchContext, h *turns.Helpers) error {
		if ctx.Iteration() > 0 {
			return say("2")(ctx, h)
		}
		args := map[string]any{"a": 1}
		if err := h.ReportToolCall("c", event.ToolCallReport{Tool: tool.Name, Args: args}); err != nil {
			return err
		}
		result, err := tool.Executor(ctx)(args)
		if err != nil {
			return err
		}
		return h.ReportToolCall("c", event.ToolCallReport{Results: result, IsComplete: true})
	}
}

func message(id, text string) *record.Message {
	return record.NewMessage(id, record.Assistant, text, instant)
}

const started = "tS dS iS(0) "

func TestTurnScenarios(t *testing.T) {
	tool := calc()
	pass := func(_ *turns.TurnContext, next func()) error { next(); return nil }
	stop := func(*turns.TurnContext, func()) error { return nil }
	fail := func(*turns.TurnContext, func()) error { return errX }
	cases := []struct {
		name   string
		config turns.TurnRunnerConfig
		want   string
		status event.Status
	}{
		{"A1 ack", turns.TurnRunnerConfig{Executor: say("Hi.")}, started + "msg iE(0,ack) dE(ack,1) tE(ack)", event.Ack},
		{
			"A3 A4 A5 tool then answer",
			turns.TurnRunnerConfig{Executor: callThenSay(tool), Tools: []*turns.Tool{tool}},
			started + "tc(false) xS xE(false) tc(true) iE(0,continue) iS(1) msg iE(1,ack) dE(ack,2) tE(ack)", event.Ack,
		},
		{
			"A7 A8 nack",
			turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Nack(errX) }},
			started + "iE(0,nack) dE(nack,1,X) err(X) tE(nack)", event.Nack,
		},
		{
			"A10 input middleware without next",
			turns.TurnRunnerConfig{Executor: ack, TurnInputPipeline: []turns.TurnMiddleware{stop}},
			"tS err(E_PIPELINE_SHORT_CIRCUITED) tE(failed,E_PIPELINE_SHORT_CIRCUITED)", event.Failed,
		},
		{
			"A11 output middleware without next",
			turns.TurnRunnerConfig{Executor: ack, TurnOutputPipeline: []turns.TurnMiddleware{stop}},
			started + "iE(0,ack) dE(ack,1) err(E_PIPELINE_SHORT_CIRCUITED) tE(failed,E_PIPELINE_SHORT_CIRCUITED)", event.Failed,
		},
		{
			"A12 input middleware aborts",
			turns.TurnRunnerConfig{Executor: ack, TurnInputPipeline: []turns.TurnMiddleware{
				func(ctx *turns.TurnContext, _ func()) error { ctx.Abort(errX); return nil },
			}},
			"tS tE(aborted)", event.Aborted,
		},
		{
			"A15 middleware that calls next",
			turns.TurnRunnerConfig{
				Executor: ack, TurnInputPipeline: []turns.TurnMiddleware{pass}, TurnOutputPipeline: []turns.TurnMiddleware{pass},
			},
			started + "iE(0,ack) dE(ack,1) tE(ack)", event.Ack,
		},
		{
			"A17 abort in iteration 0",
			turns.TurnRunnerConfig{
				Executor:           func(ctx *turns.DispatchContext, _ *turns.Helpers) error { ctx.Abort(nil); return ctx.Err() },
				TurnOutputPipeline: []turns.TurnMiddleware{fail},
			},
			started + "iE(0,aborted) dE(aborted,1) tE(aborted)", event.Aborted,
		},
		{
			"A19 input middleware fails",
			turns.TurnRunnerConfig{Executor: ack, TurnInputPipeline: []turns.TurnMiddleware{fail}},
			"tS err(E_INPUT_PIPELINE_ERROR) tE(failed,E_INPUT_PIPELINE_ERROR)", event.Failed,
		},
		{
			"A20 output middleware fails",
			turns.TurnRunnerConfig{Executor: ack, TurnOutputPipeline: []turns.TurnMiddleware{fail}},
			started + "iE(0,ack) dE(ack,1) err(E_OUTPUT_PIPELINE_ERROR) tE(failed,E_OUTPUT_PIPELINE_ERROR)", event.Failed,
		},
		{
			"A35 executor fails",
			turns.TurnRunnerConfig{Executor: func(*turns.DispatchContext, *turns.Helpers) error { return errX }},
			started + "iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR) err(E_LLM_EXECUTION_EXECUTOR_ERROR) tE(nack)", event.Nack,
		},
		{
			"executor panics",
			turns.TurnRunnerConfig{Executor: func(*turns.DispatchContext, *turns.Helpers) error { panic("boom") }},
			started + "iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR) err(E_LLM_EXECUTION_EXECUTOR_ERROR) tE(nack)", event.Nack,
		},
		{
			"A36 log",
			turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
				h.Log(event.LevelWarn, "k", "m", map[string]any{"a": 1})
				h.Log(event.LevelDebug, "k", "m", nil)
				return ctx.Ack()
			}},
			started + "log(warn) log(debug) iE(0,ack) dE(ack,1) tE(ack)", event.Ack,
		},
		{
			"bound on iterations",
			turns.TurnRunnerConfig{Executor: nothing, MaxIterations: 2},
			started + "iE(0,continue) iS(1) iE(1,continue) iS(2) iE(2,nack) dE(nack,3,E_MAX_ITERATIONS) err(E_MAX_ITERATIONS) tE(nack)", event.Nack,
		},
		{
			"bound on iterations as a middleware",
			turns.TurnRunnerConfig{
				Executor: nothing, DispatchInputPipeline: []turns.DispatchMiddleware{middleware.MaxIterations(1)},
			},
			started + "iE(0,continue) iS(1) iE(1,nack) dE(nack,2,E_MAX_ITERATIONS) err(E_MAX_ITERATIONS) tE(nack)", event.Nack,
		},
		{
			"second signal in output middleware",
			turns.TurnRunnerConfig{
				Executor: ack, DispatchOutputPipeline: []turns.DispatchMiddleware{
					func(ctx *turns.DispatchContext, next func()) error {
						if err := ctx.Nack(errX); err != nil {
							return err
						}
						next()
						return nil
					},
				},
			},
			started + "warn(already-signalled) iE(0,ack) dE(ack,1) tE(ack)", event.Ack,
		},
		{
			"B23 dispatch input middleware fails",
			turns.TurnRunnerConfig{
				Executor: ack, DispatchInputPipeline: []turns.DispatchMiddleware{
					func(*turns.DispatchContext, func()) error { return errX },
				},
			},
			started + "iE(0,nack) dE(nack,1,E_DISPATCH_PIPELINE_ERROR) err(E_DISPATCH_PIPELINE_ERROR) tE(failed,E_DISPATCH_PIPELINE_ERROR)", event.Failed,
		},
		{
			"generation stats",
			turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
				if err := h.ReportGenerationStats(model.Stats{PromptTokens: 3, TotalTokens: 5}); err != nil {
					return err
				}
				return ctx.Ack()
			}},
			started + "stats iE(0,ack) dE(ack,1) tE(ack)", event.Ack,
		},
	}
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				log, result := play(t, h, c.config, turns.TurnInput{})
				if got := log.words(); got != c.want {
					t.Errorf("events\n got %s\nwant %s", got, c.want)
				}
				if result.Status != c.status {
					t.Errorf("status %s, want %s", result.Status, c.status)
				}
				last := uint32(0)
				for _, ev := range log.events {
					if ev.Meta().Seq <= last {
						t.Errorf("event %s has seq %d after %d", word(ev), ev.Meta().Seq, last)
					}
					last = ev.Meta().Seq
				}
			})
		}
	})
}

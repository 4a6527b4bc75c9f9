package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/builtin/builtintest"
	"github.com/turncore/turncore/host/middleware"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

var instant = time.UnixMilli(1767225600000)

func toolCall(id string) *record.ToolCall {
	return &record.ToolCall{
		ID: id, Tool: "calc", Args: []byte(`{"a":1}`), Checksum: "same", Results: "2", IsComplete: true,
		CreatedAt: instant, UpdatedAt: instant, CompletedAt: instant,
	}
}

func message(id, text string) *record.Message {
	return record.NewMessage(id, record.Assistant, text, instant)
}

// The core's middleware works where it stands in a pipeline, among the program's own.
func TestBuiltinMiddleware(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		var order []string
		note := func(name string) turns.DispatchMiddleware {
			return func(_ *turns.DispatchContext, next func()) error { order = append(order, name); next(); return nil }
		}
		calls := 0
		result := builtintest.Run(t, h, turns.TurnRunnerConfig{
			DispatchInputPipeline:  []turns.DispatchMiddleware{note("a"), middleware.MaxIterations(5), note("b")},
			DispatchOutputPipeline: []turns.DispatchMiddleware{middleware.MaxRepeats(2), note("c"), middleware.AckOnNoToolCalls(), note("d")},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				calls++
				if calls < 3 {
					return ctx.StoreToolCall(toolCall(fmt.Sprint("c", calls)))
				}
				return ctx.StoreMessage(message("m", "x"))
			},
		}, "test")
		if result.Status != event.Ack || calls != 3 || strings.Join(order, "") != "abcdabcdabcd" {
			t.Errorf("%s after %d calls, order %v", result.Status, calls, order)
		}
	})
}

func TestMaxRepeats(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		n := 0
		result := builtintest.Run(t, h, turns.TurnRunnerConfig{
			DispatchOutputPipeline: []turns.DispatchMiddleware{middleware.MaxRepeats(2)},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				n++
				return ctx.StoreToolCall(toolCall(fmt.Sprint("c", n)))
			},
		}, "test")
		if result.Status != event.Nack || !errors.Is(result.Err, host.Code("E_MAX_REPEATS")) || n != 3 {
			t.Errorf("%s after %d: %v\n%s", result.Status, n, result.Err, result.Text)
		}
	})
}

// A deadline cancels the context of an executor that runs, with its error as the cause.
func TestDeadline(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		var cause error
		result := builtintest.Run(t, h, turns.TurnRunnerConfig{
			DispatchInputPipeline: []turns.DispatchMiddleware{middleware.Deadline(20 * time.Millisecond)},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				<-ctx.Done()
				cause = context.Cause(ctx)
				return fmt.Errorf("the request failed: %w", cause)
			},
		}, "test")
		if result.Status != event.Nack || !errors.Is(result.Err, host.Code("E_DEADLINE")) || !errors.Is(cause, host.Code("E_DEADLINE")) {
			t.Errorf("%s: %v, cause %v", result.Status, result.Err, cause)
		}
	})
}

func TestTokenBudget(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		seen, rest := "", 0
		history := make([]*record.Message, 5)
		for i := range history {
			history[i] = message(fmt.Sprint("m", i), "x")
			history[i].Content = strings.Repeat("x", 35) // 10 tokens of Claude's
			history[i].CreatedAt = history[i].CreatedAt.Add(time.Duration(i) * time.Second)
		}
		config := turns.TurnRunnerConfig{
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				for _, m := range history {
					if err := ctx.TurnMessages().Add(m); err != nil {
						return err
					}
				}
				next()
				return nil
			}},
			TurnOutputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				rest = ctx.TurnMessages().Len()
				next()
				return nil
			}},
			DispatchInputPipeline: []turns.DispatchMiddleware{middleware.TokenBudget(middleware.Budget{Encoding: "claude", Limit: 132, Reserve: 100})},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				for m := range ctx.TurnMessages().All() {
					seen += m.ID
				}
				return ctx.Ack()
			},
		}
		result := builtintest.Run(t, h, config, "answer")
		if result.Status != event.Ack || seen != "m2m3m4" || rest != 5 {
			t.Errorf("%s: the executor saw %q, %d messages are left in the turn", result.Status, seen, rest)
		}
		result = builtintest.Run(t, h, config, strings.Repeat("long", 30))
		var e *host.Error
		if !errors.As(result.Err, &e) || e.Code != "E_TOKEN_BUDGET" || !strings.Contains(e.Message, "35 tokens are needed, 32 are available") {
			t.Errorf("%s: %v", result.Status, result.Err)
		}
	})
}

func TestSpendLimit(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		for _, c := range []struct{ model, code string }{{"m", "E_SPEND_LIMIT"}, {"n", "E_SPEND_UNKNOWN_PRICE"}} {
			result := builtintest.Run(t, h, turns.TurnRunnerConfig{
				DispatchInputPipeline: []turns.DispatchMiddleware{middleware.SpendLimit(middleware.Spending{
					Limit: 2, Currency: "EUR", Prices: map[string]middleware.Price{"m": {Input: 1, Output: 3}},
				})},
				Executor: func(_ *turns.DispatchContext, h *turns.Helpers) error {
					return h.ReportGenerationStats(model.Stats{Model: c.model, PromptTokens: 500_000, CompletionTokens: 250_000})
				},
			}, "test")
			if result.Status != event.Nack || !errors.Is(result.Err, host.Code(c.code)) {
				t.Errorf("%s: %v", result.Status, result.Err)
			}
		}
	})
}

// What stands in the wrong pipeline or breaks a rule is refused with the rest of the configuration.
func TestBuiltinMiddlewareIsValidated(t *testing.T) {
	negative := -1.0
	_, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Executor:  func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() },
		Callbacks: turns.StoreCallbacks(store.NewInMemory()),
		DispatchInputPipeline: []turns.DispatchMiddleware{
			middleware.AckOnNoToolCalls(), nil, middleware.MaxIterations(0), middleware.MaxRepeats(-1), middleware.Deadline(time.Microsecond),
			middleware.TokenBudget(middleware.Budget{Limit: 1}), middleware.TokenBudget(middleware.Budget{Encoding: "e"}),
			middleware.TokenBudget(middleware.Budget{Encoding: "e", Limit: 5, Reserve: 5}),
			middleware.SpendLimit(middleware.Spending{Limit: math.NaN()}), middleware.SpendLimit(middleware.Spending{Limit: 1}),
			middleware.SpendLimit(middleware.Spending{Limit: 1, Prices: map[string]middleware.Price{"m": {CachedInput: &negative}}}),
			middleware.TokenBudget(middleware.Budget{Encoding: "e", Limit: math.MaxInt}),
		},
		DispatchOutputPipeline: []turns.DispatchMiddleware{middleware.MaxRepeats(1), middleware.TokenBudget(middleware.Budget{Encoding: "e", Limit: 1})},
	})
	if !errors.Is(err, host.Code("E_INVALID_TURN_RUNNER_CONFIG")) {
		t.Fatal(err)
	}
	for _, want := range []string{
		"`dispatchInputPipeline[0]` cannot be ackOnNoToolCalls, which belongs in dispatchOutputPipeline",
		"`dispatchInputPipeline[1]` must be a function", "`dispatchInputPipeline[2]`: maxIterations must", "`dispatchInputPipeline[3]`: maxRepeats must",
		"`dispatchInputPipeline[4]`: deadline must", "`dispatchInputPipeline[5]`: tokenBudget.encoding", "`dispatchInputPipeline[6]`: tokenBudget.limit",
		"`dispatchInputPipeline[7]`: tokenBudget.reserve", "`dispatchInputPipeline[8]`: spendLimit.limit", "`dispatchInputPipeline[9]`: spendLimit.prices must",
		"`dispatchInputPipeline[10]`: spendLimit.prices.m", "`dispatchInputPipeline[11]`: tokenBudget.limit",
		"`dispatchOutputPipeline[1]` cannot be tokenBudget, which belongs in dispatchInputPipeline",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "dispatchOutputPipeline[0]") {
		t.Error(err)
	}
}

// A function of the program's that calls one of the core's gets what it can do there, or an error.
func TestBuiltinMiddlewareInAFunction(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		wrap := func(m turns.DispatchMiddleware) []turns.DispatchMiddleware {
			return []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, next func()) error { return m(ctx, next) }}
		}
		quiet := func(*turns.DispatchContext, *turns.Helpers) error { return nil }
		result := builtintest.Run(t, h, turns.TurnRunnerConfig{
			DispatchInputPipeline: wrap(middleware.MaxIterations(2)), Executor: quiet,
		}, "test")
		if !errors.Is(result.Err, host.Code("E_MAX_ITERATIONS")) || result.Iterations != 3 {
			t.Errorf("%d iterations: %v", result.Iterations, result.Err)
		}
		result = builtintest.Run(t, h, turns.TurnRunnerConfig{
			DispatchInputPipeline: wrap(middleware.Deadline(time.Hour)), Executor: quiet,
		}, "test")
		if !errors.Is(result.Err, host.Code("E_INVALID_OPTIONS")) {
			t.Error(result.Err)
		}
	})
}

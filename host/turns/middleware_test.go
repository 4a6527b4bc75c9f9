package turns_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// The core's middleware works where it stands in a pipeline, among the program's own.
func TestBuiltinMiddleware(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var order []string
		note := func(name string) turns.DispatchMiddleware {
			return func(_ *turns.DispatchContext, next func()) error { order = append(order, name); next(); return nil }
		}
		calls := 0
		_, result := play(t, h, turns.TurnRunnerConfig{
			DispatchInputPipeline:  []turns.DispatchMiddleware{note("a"), turns.MaxIterations(5), note("b")},
			DispatchOutputPipeline: []turns.DispatchMiddleware{turns.MaxRepeats(2), note("c"), turns.AckOnNoToolCalls(), note("d")},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				calls++
				if calls < 3 {
					return ctx.StoreToolCall(toolCall(fmt.Sprint("c", calls), "same"))
				}
				return ctx.StoreMessage(message("m", "x"))
			},
		}, turns.TurnInput{})
		if result.Status != event.Ack || calls != 3 || strings.Join(order, "") != "abcdabcdabcd" {
			t.Errorf("%s after %d calls, order %v", result.Status, calls, order)
		}
	})
}

func TestMaxRepeats(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		n := 0
		log, result := play(t, h, turns.TurnRunnerConfig{
			DispatchOutputPipeline: []turns.DispatchMiddleware{turns.MaxRepeats(2)},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				n++
				return ctx.StoreToolCall(toolCall(fmt.Sprint("c", n), "same"))
			},
		}, turns.TurnInput{})
		if result.Status != event.Nack || !errors.Is(result.Err, host.Code("E_MAX_REPEATS")) || n != 3 {
			t.Errorf("%s after %d: %v\n%s", result.Status, n, result.Err, log.words())
		}
	})
}

// A deadline cancels the context of an executor that runs, with its error as the cause.
func TestDeadline(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			h := turns.NewHost(turns.HostOptions{Engine: engine, Verify: true}) // its clock goes
			t.Cleanup(func() { _ = h.Close(context.Background()) })
			var cause error
			_, result := play(t, h, turns.TurnRunnerConfig{
				DispatchInputPipeline: []turns.DispatchMiddleware{turns.Deadline(20 * time.Millisecond)},
				Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
					<-ctx.Done()
					cause = context.Cause(ctx)
					return fmt.Errorf("the request failed: %w", cause)
				},
			}, turns.TurnInput{})
			if result.Status != event.Nack || !errors.Is(result.Err, host.Code("E_DEADLINE")) || !errors.Is(cause, host.Code("E_DEADLINE")) {
				t.Errorf("%s: %v, cause %v", result.Status, result.Err, cause)
			}
		})
	}
}

func TestTokenBudget(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
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
			DispatchInputPipeline: []turns.DispatchMiddleware{turns.TokenBudget(turns.Budget{Encoding: "claude", Limit: 132, Reserve: 100})},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				for m := range ctx.TurnMessages().All() {
					seen += m.ID
				}
				return ctx.Ack()
			},
		}
		_, result := play(t, h, config, turns.TurnInput{SystemPrompt: "answer"})
		if result.Status != event.Ack || seen != "m2m3m4" || rest != 5 {
			t.Errorf("%s: the executor saw %q, %d messages are left in the turn", result.Status, seen, rest)
		}
		_, result = play(t, h, config, turns.TurnInput{SystemPrompt: strings.Repeat("long", 30)})
		var e *host.Error
		if !errors.As(result.Err, &e) || e.Code != "E_TOKEN_BUDGET" || !strings.Contains(e.Message, "35 tokens are needed, 32 are available") {
			t.Errorf("%s: %v", result.Status, result.Err)
		}
	})
}

func TestSpendLimit(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for _, c := range []struct{ model, code string }{{"m", "E_SPEND_LIMIT"}, {"n", "E_SPEND_UNKNOWN_PRICE"}} {
			_, result := play(t, h, turns.TurnRunnerConfig{
				DispatchInputPipeline: []turns.DispatchMiddleware{turns.SpendLimit(turns.Spending{
					Limit: 2, Currency: "EUR", Prices: map[string]turns.Price{"m": {Input: 1, Output: 3}},
				})},
				Executor: func(_ *turns.DispatchContext, h *turns.Helpers) error {
					return h.ReportGenerationStats(model.Stats{Model: c.model, PromptTokens: 500_000, CompletionTokens: 250_000})
				},
			}, turns.TurnInput{})
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
		Executor: ack, Callbacks: noStorage(),
		DispatchInputPipeline: []turns.DispatchMiddleware{
			turns.AckOnNoToolCalls(), nil, turns.MaxIterations(0), turns.MaxRepeats(-1), turns.Deadline(time.Microsecond),
			turns.TokenBudget(turns.Budget{Limit: 1}), turns.TokenBudget(turns.Budget{Encoding: "e"}),
			turns.TokenBudget(turns.Budget{Encoding: "e", Limit: 5, Reserve: 5}),
			turns.SpendLimit(turns.Spending{Limit: math.NaN()}), turns.SpendLimit(turns.Spending{Limit: 1}),
			turns.SpendLimit(turns.Spending{Limit: 1, Prices: map[string]turns.Price{"m": {CachedInput: &negative}}}),
			turns.TokenBudget(turns.Budget{Encoding: "e", Limit: math.MaxInt}),
		},
		DispatchOutputPipeline: []turns.DispatchMiddleware{turns.MaxRepeats(1), turns.TokenBudget(turns.Budget{Encoding: "e", Limit: 1})},
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
	onEngines(t, func(t *testing.T, h *turns.Host) {
		wrap := func(m turns.DispatchMiddleware) []turns.DispatchMiddleware {
			return []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, next func()) error { return m(ctx, next) }}
		}
		quiet := func(*turns.DispatchContext, *turns.Helpers) error { return nil }
		_, result := play(t, h, turns.TurnRunnerConfig{DispatchInputPipeline: wrap(turns.MaxIterations(2)), Executor: quiet}, turns.TurnInput{})
		if !errors.Is(result.Err, host.Code("E_MAX_ITERATIONS")) || result.Iterations != 3 {
			t.Errorf("%d iterations: %v", result.Iterations, result.Err)
		}
		_, result = play(t, h, turns.TurnRunnerConfig{DispatchInputPipeline: wrap(turns.Deadline(time.Hour)), Executor: quiet}, turns.TurnInput{})
		if !errors.Is(result.Err, host.Code("E_INVALID_OPTIONS")) {
			t.Error(result.Err)
		}
	})
}

// Bounds: a turn may not take more than a minute, repeat a tool call more than twice, or cost more than five cents.
func ExampleDeadline() {
	ctx := context.Background()
	runner, err := turns.New(ctx, turns.Config{
		Model: turns.Model{Name: "gpt-4o-mini", BaseURL: baseURL},
		DispatchInputPipeline: []turns.DispatchMiddleware{
			turns.Deadline(time.Minute),
			turns.TokenBudget(turns.Budget{Encoding: "claude", Limit: 128_000, Reserve: 4_000}),
			turns.SpendLimit(turns.Spending{Limit: 0.05, Currency: "USD", Prices: map[string]turns.Price{
				"gpt-4o-mini": {Input: 0.15, Output: 0.6},
			}}),
		},
		DispatchOutputPipeline: []turns.DispatchMiddleware{turns.MaxRepeats(2)},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	result, err := finished(runner.Run(ctx, turns.Input{Message: "Hello!"}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.Text)
	// Output: ack You said: Hello!
}

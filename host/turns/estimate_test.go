package turns_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/middleware"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// wordCounter counts words, and notes what it is asked.
func wordCounter(asked *[]string) record.Tokenizer {
	return func(texts []string) ([]int, error) {
		*asked = append(*asked, strings.Join(texts, "|"))
		counts := make([]int, len(texts))
		for i, text := range texts {
			counts[i] = len(strings.Fields(text))
		}
		return counts, nil
	}
}

func estimated(t *testing.T, ctx turns.Context, encoding string, want []int, texts ...string) {
	t.Helper()
	if got, err := ctx.EstimateTokens(encoding, texts...); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v, %v, want %v", encoding, got, err, want)
	}
}

// G1, G8 and G10: by length, with a warning once for an encoding and context.
func TestEstimateByLength(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var late *turns.DispatchContext
		log, result := play(t, h, turns.TurnRunnerConfig{
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				estimated(t, ctx, "q", []int{1}, "x")
				next()
				return nil
			}},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				late = ctx
				estimated(t, ctx, "claude", []int{10, 11, 0}, strings.Repeat("a", 35), strings.Repeat("a", 36), "")
				estimated(t, ctx, "q", []int{3, 1}, "hello world", "😀é")
				estimated(t, ctx, "q", []int{50}, strings.Repeat("😀", 100))
				if _, err := ctx.EstimateTokens("", "x"); !errors.Is(err, host.Code("E_INVALID_VALUE")) {
					t.Error(err)
				}
				return ctx.Ack()
			},
		}, turns.TurnInput{})
		estimated(t, late, "z", []int{3}, "hello world") // nobody hears
		var told []string
		for _, w := range find[*event.Warning](log) {
			told = append(told, w.Type+" "+string(w.Payload))
		}
		want := []string{
			`token-estimation-degraded {"encoding":"q","textPreview":"x"}`,
			`token-estimation-degraded {"encoding":"q","textPreview":"hello world"}`,
		}
		if result.Status != event.Ack || !slices.Equal(told, want) {
			t.Errorf("%s, warnings %q", result.Status, told)
		}
	})
}

// G4 and G9: by the host's tokenizer, by length when it fails.
func TestTokenizers(t *testing.T) {
	broken := errors.New("no vocabulary")
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var asked []string
		log, _ := play(t, h, turns.TurnRunnerConfig{
			Tokenizers: map[string]record.Tokenizer{
				"q": wordCounter(&asked), "broken": func([]string) ([]int, error) { return nil, broken },
				"short": func([]string) ([]int, error) { return []int{1}, nil }, "negative": func([]string) ([]int, error) { return []int{-1, 1}, nil },
				"endless": func(texts []string) ([]int, error) { return slices.Repeat([]int{math.MaxInt}, len(texts)), nil },
				"panics":  func([]string) ([]int, error) { panic("at once") },
			},
			DispatchInputPipeline: []turns.DispatchMiddleware{middleware.TokenBudget(middleware.Budget{Encoding: "q", Limit: 50})},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				estimated(t, ctx, "q", []int{2, 3}, "a b", "c d e")
				for _, encoding := range []string{"broken", "short", "negative", "endless", "panics"} {
					estimated(t, ctx, encoding, []int{1, 2}, "a b", "c d e")
				}
				artifact := record.NewSpooledArtifact(record.NewBlob([]byte("one two three four")))
				if n, err := artifact.EstimateTokens(ctx, "q"); n != 4 || err != nil {
					t.Errorf("%d, %v", n, err)
				}
				_, err := turns.Dispatch(ctx, turns.DispatchInput{Source: ctx, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
					estimated(t, ctx, "q", []int{1}, "inner")
					return ctx.Ack()
				}})
				if err != nil {
					return err
				}
				return ctx.Ack()
			},
		}, turns.TurnInput{Text: "hi there"})
		if want := []string{"test|hi there", "a b|c d e", "one two three four", "inner"}; !slices.Equal(asked, want) {
			t.Errorf("asked %q, want %q", asked, want)
		}
		warnings := find[*event.Warning](log)
		if len(warnings) != 5 || warnings[0].Err != broken || !strings.Contains(warnings[4].Err.Error(), "at once") { //nolint:errorlint // the very error
			t.Errorf("%d warnings: %v", len(warnings), warnings)
		}
	})
}

// G7.
func TestTokenizersAreValidated(t *testing.T) {
	make := func(tokenizers map[string]record.Tokenizer) error {
		_, err := turns.NewTurnRunner(turns.TurnRunnerConfig{Executor: ack, Callbacks: noStorage(), Tokenizers: tokenizers})
		return err
	}
	if err := make(map[string]record.Tokenizer{"claude": wordCounter(nil)}); !errors.Is(err, host.Code("E_TOKEN_ESTIMATOR_SHADOWS_BUILTIN")) {
		t.Error(err)
	}
	// Beside other violations the built-in name is one of them.
	both := make(map[string]record.Tokenizer{"claude": wordCounter(nil), "a": nil})
	if !errors.Is(both, host.Code("E_INVALID_TURN_RUNNER_CONFIG")) || !strings.HasSuffix(both.Error(), "`tokenizers.claude` is built in and cannot be replaced") {
		t.Error(both)
	}
	err := make(map[string]record.Tokenizer{"a": nil, "": wordCounter(nil)})
	if !errors.Is(err, host.Code("E_INVALID_TURN_RUNNER_CONFIG")) || !strings.Contains(err.Error(), "`tokenizers.a` must be a function") || !strings.Contains(err.Error(), "names that are not empty") {
		t.Error(err)
	}
}

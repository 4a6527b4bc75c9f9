package turns_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// The programs of js/test/contract in Go: the shapes of the published pages that the examples of this package do not
// have.

func contractTool() *turns.Tool {
	return &turns.Tool{
		Name: "lift", Description: "Goes to a floor.",
		InputSchema: `{"type":"object","properties":{"floor":{"type":"integer"}},"required":["floor"]}`,
		Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) {
			if floor := args.Number("floor"); floor != 13 {
				return fmt.Sprint("at ", floor), nil
			}
			return nil, errX
		},
	}
}

func TestContractSealedStream(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		_, result := play(t, h, turns.TurnRunnerConfig{Executor: func(_ *turns.DispatchContext, h *turns.Helpers) error {
			if err := h.ReportMessage("m", "done", true); err != nil {
				return err
			}
			return h.ReportMessage("m", " and more", false)
		}}, turns.TurnInput{})
		if result.Status != event.Nack || !errors.Is(result.Err, host.CodeLLMExecutionExecutorError) || !errors.Is(result.Err, turns.ErrStreamSealed) {
			t.Errorf("%s, %v", result.Status, result.Err)
		}
	})
}

func TestContractAbortReachesTheClient(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		runner := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			if err := ctx.StoreMessage(message("m", "a")); err != nil {
				return err
			}
			if err := h.ReportMessage("m", "a", false); err != nil {
				return err
			}
			<-ctx.Done() // what a client does with the context
			return ctx.Err()
		}})
		log := &recorder{}
		runner.OnAny(log.add)
		turns.Listen(runner, func(*event.Message) { cancel() })
		result, err := finished(runner.Run(ctx, turns.TurnInput{SystemPrompt: "test"}))
		if err != nil || result.Status != event.Aborted {
			t.Errorf("%v, %v", result, err)
		}
		if want := "tS dS iS(0) "; !strings.HasPrefix(log.words(), want) || !strings.HasSuffix(log.words(), "dE(aborted,1) tE(aborted)") {
			t.Errorf("events %s", log.words())
		}
	})
}

func TestContractGhosts(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		left := -1
		play(t, h, turns.TurnRunnerConfig{
			Executor: say("thinking…"),
			TurnOutputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				left = ctx.TurnMessages().Len()
				next()
				return nil
			}},
		}, turns.TurnInput{})
		if left != 0 {
			t.Errorf("%d messages are left of one that was only reported", left)
		}
	})
}

func TestContractDeltas(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		runner := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			for _, r := range []struct {
				id, delta string
				complete  bool
			}{{"deltas", "It ", false}, {"deltas", "rains", true}, {"totals", "It ", false}, {"totals", "It rains", true}} {
				if err := h.ReportMessage(r.id, r.delta, r.complete); err != nil {
					return err
				}
			}
			return ctx.Ack()
		}})
		var full []string
		turns.Listen(runner, func(ev *event.Message) {
			if ev.IsComplete {
				full = append(full, ev.Full)
			}
		})
		if _, err := runner.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(full, []string{"It rains", "It It rains"}) {
			t.Errorf("%q", full)
		}
	})
}

func TestContractStreamsAcrossIterations(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		_, result := play(t, h, turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			if err := h.ReportMessage("m", fmt.Sprint(ctx.Iteration(), " "), ctx.Iteration() == 2); err != nil || ctx.Iteration() < 2 {
				return err
			}
			return ctx.Ack()
		}}, turns.TurnInput{})
		if result.Text != "0 1 2 " {
			t.Errorf("%q", result.Text)
		}
	})
}

func TestContractWritesFlush(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var turn *turns.TurnContext
		var told []int
		runner := newRunner(t, turns.TurnRunnerConfig{
			Host: h,
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				turn = ctx
				next()
				return nil
			}},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				if err := ctx.StoreMessage(message("m", "m")); err != nil {
					return err
				}
				told = append(told, ctx.TurnMessages().Len(), turn.TurnMessages().Len())
				return ctx.Ack()
			},
		})
		turns.Listen(runner, func(*event.IterationEnd) { told = append(told, turn.TurnMessages().Len()) })
		if _, err := runner.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(told, []int{1, 0, 1}) {
			t.Errorf("saw %v messages", told)
		}
	})
}

func TestContractNackDiscards(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		callbacks := noStorage()
		callbacks.StoreMessage = func(turns.Context, *record.Message) error {
			t.Error("a write of a nacked iteration reached storage")
			return nil
		}
		var discarded []string
		runner := newRunner(t, turns.TurnRunnerConfig{Host: h, Callbacks: callbacks, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if err := ctx.StoreMessage(message("m", "m")); err != nil {
				return err
			}
			return ctx.Nack(errX)
		}})
		turns.Listen(runner, func(ev *event.IterationEnd) {
			for _, d := range ev.Discarded {
				discarded = append(discarded, fmt.Sprint(d.Op, " ", d.Kind, " ", d.ID))
			}
		})
		if _, err := finished(runner.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(discarded, []string{"store message m"}) {
			t.Errorf("discarded %q", discarded)
		}
	})
}

func TestContractToolEntry(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		tool := contractTool()
		log, _ := play(t, h, turns.TurnRunnerConfig{Tools: []*turns.Tool{tool}, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if got, err := tool.Executor(ctx)(map[string]any{"floor": 2}); err != nil || got != "at 2" {
				t.Errorf("%v, %v", got, err)
			}
			if _, err := tool.Executor(ctx)(map[string]any{"floor": "two"}); !errors.Is(err, host.CodeInvalidToolArgs) {
				t.Errorf("wrong arguments: %v", err)
			}
			if _, err := tool.Executor(ctx)(map[string]any{"floor": 13}); !errors.Is(err, host.CodeToolDownstreamError) || !errors.Is(err, errX) {
				t.Errorf("a handler that fails: %v", err)
			}
			return ctx.Ack()
		}}, turns.TurnInput{})
		if n, m := strings.Count(log.words(), "xS"), strings.Count(log.words(), "xE"); n != 2 || m != 2 {
			t.Errorf("events %s", log.words())
		}
	})
}

func TestContractGoalMet(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		_, result := play(t, h, turns.TurnRunnerConfig{
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				text := "not yet"
				if ctx.Iteration() == 2 {
					text = "DONE"
				}
				return ctx.StoreMessage(message(fmt.Sprint("m", ctx.Iteration()), text))
			},
			DispatchOutputPipeline: []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, next func()) error {
				for m := range ctx.TurnMessages().All() {
					if m.Content == "DONE" && !ctx.IsSignalled() {
						if err := ctx.Ack(); err != nil {
							return err
						}
					}
				}
				next()
				return nil
			}},
		}, turns.TurnInput{})
		if result.Status != event.Ack || result.Iterations != 3 {
			t.Errorf("%s after %d", result.Status, result.Iterations)
		}
	})
}

func TestContractSignals(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		log, result := play(t, h, turns.TurnRunnerConfig{
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				var acked []string
				stop := ctx.OnAck(func() { acked = append(acked, "taken back") })
				ctx.OnAck(func() { acked = append(acked, "heard") })
				stop()
				err := ctx.Ack()
				if !slices.Equal(acked, []string{"heard"}) || !ctx.IsSignalled() {
					t.Errorf("handlers %q, signalled %t", acked, ctx.IsSignalled())
				}
				for _, second := range []error{ctx.Ack(), ctx.Nack(errX)} {
					if !errors.Is(second, host.CodeLLMExecutionAlreadySignalled) {
						t.Errorf("a second signal: %v", second)
					}
				}
				return err
			},
			// The pages' own bound does no harm when the executor has acked.
			DispatchOutputPipeline: []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, _ func()) error { return ctx.Nack(errX) }},
		}, turns.TurnInput{})
		if result.Status != event.Ack || !strings.Contains(log.words(), "already-signalled") {
			t.Errorf("%s, events %s", result.Status, log.words())
		}
	})
}

// What the list of the pages' samples names is there: a program in JavaScript, and a test or an example in Go.
func TestContractSamples(t *testing.T) {
	const folder = "../../js/test/contract"
	read := func(pattern string) string {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		var all strings.Builder
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		return all.String()
	}
	programs, tests := read(filepath.Join(folder, "*.test.mjs")), read("*_test.go")
	listed := map[string]bool{}
	rows := 0
	for line := range strings.Lines(read(filepath.Join(folder, "SAMPLES.md"))) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 4 || strings.Contains(line, "---") || strings.HasPrefix(cells[0], " page") {
			continue
		}
		rows++
		title := strings.TrimSpace(cells[2])
		listed[title] = true
		if !strings.Contains(programs, "it('"+title+"'") {
			t.Errorf("no program in JavaScript is called %q", title)
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[3], -1) {
			if !strings.Contains(tests, "func "+name[1]+"(") {
				t.Errorf("%s: there is no %s in Go", title, name[1])
			}
		}
	}
	for _, match := range regexp.MustCompile(`it\('([^']+)'`).FindAllStringSubmatch(programs, -1) {
		if !listed[match[1]] {
			t.Errorf("the program %q is not listed", match[1])
		}
	}
	if rows < 20 {
		t.Errorf("%d samples", rows)
	}
}

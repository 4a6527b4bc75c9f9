package turns_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

// schema is a JSON Schema whose encoding runs user code.
type schema func()

func (s schema) MarshalJSON() ([]byte, error) {
	s()
	return []byte(`{"type":"object"}`), nil
}

// A schema that panics when a runner is opened is its caller's misfortune, nobody else's.
func TestSchemaThatPanics(t *testing.T) {
	inBubble(t, func(t *testing.T, h *turns.Host) {
		armed := false
		tool := named("t")
		tool.InputSchema = schema(func() {
			if armed {
				panic(errX)
			}
		})
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack, Tools: []*turns.Tool{tool}})
		armed = true
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_, _ = r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
		}()
		if _, result := play(t, h, turns.TurnRunnerConfig{Executor: ack}, turns.TurnInput{}); result.Status != event.Ack {
			t.Error(result.Err)
		}
	})
}

// A schema may use the context of the turn that it is used in.
func TestSchemaThatAsksTheTurn(t *testing.T) {
	inBubble(t, func(t *testing.T, h *turns.Host) {
		_, result := play(t, h, turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			registered, executed := named("a"), named("b")
			registered.InputSchema = schema(func() { _ = ctx.Aborted() })
			executed.InputSchema = registered.InputSchema
			_, err := executed.Executor(ctx)(nil)
			return errors.Join(err, ctx.Tools().Register(registered, false), ctx.Ack())
		}}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Error(result.Err)
		}
	})
}

// Dispatches that run side by side in a turn, and a journal of all of them.
func TestJournalOfDispatchesSideBySide(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var log bytes.Buffer
		_, result := play(t, h, turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			var running sync.WaitGroup
			for range 4 {
				running.Go(func() {
					for range 5 {
						if _, err := turns.Dispatch(ctx, turns.DispatchInput{Source: ctx, Executor: ack}); err != nil {
							t.Error(err)
						}
					}
				})
			}
			running.Wait()
			return ctx.Ack()
		}}, turns.TurnInput{Journal: &log})
		if result.Status != event.Ack {
			t.Error(result.Err)
		}
		replays(t, &log)
	})
}

// failing is a writer that panics.
type failing struct{ after int }

func (w *failing) Write(p []byte) (int, error) {
	if w.after--; w.after < 0 {
		panic(errX)
	}
	return len(p), nil
}

// A journal's writer that panics has failed, and the turn goes on.
func TestJournalWriterThatPanics(t *testing.T) {
	inBubble(t, func(t *testing.T, h *turns.Host) {
		for after := range 4 {
			r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack})
			result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Journal: &failing{after}})
			if !errors.Is(err, errX) || after > 0 && (result == nil || result.Status != event.Ack) {
				t.Errorf("after %d writes: %v, %v", after, result, err)
			}
		}
	})
}

package turns_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// story is a turn that does a bit of everything, a little different for each n.
func story(tool *turns.Tool, history *turns.History[*record.Message]) turns.TurnRunnerConfig {
	return turns.TurnRunnerConfig{
		Tools: []*turns.Tool{tool},
		TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
			if err := errors.Join(ctx.TurnMessages().AddAll(history), ctx.Stash().Set("id", ctx.ID())); err != nil {
				return err
			}
			next()
			return ctx.StoreMemory(record.NewMemory("done", "x", 1, 1, instant))
		}},
		Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			n := len(ctx.TurnID()) % 3
			if ctx.Iteration() <= n {
				args := map[string]any{"a": ctx.Iteration()}
				result, err := tool.Executor(ctx)(args)
				if err != nil {
					return err
				}
				h.Log(event.LevelInfo, "result", fmt.Sprint(result), args)
				return ctx.StoreToolCall(toolCall(fmt.Sprint("c", ctx.Iteration()), "sum"))
			}
			for i := range 3 {
				if err := h.ReportMessage("m", ctx.TurnID(), i == 2); err != nil {
					return err
				}
			}
			if n == 2 {
				return ctx.Nack(errX)
			}
			return errors.Join(ctx.StoreMessage(message("m", ctx.TurnID())), ctx.Ack())
		},
	}
}

// A turn does the same whether it runs alone or among others, on every engine, and its journal replays on every engine.
func TestTurnsDoNotDependOnEachOther(t *testing.T) {
	const n = 50
	history, err := turns.NewHistory(messages(20)...)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]string, n)
	for _, engine := range hosttest.Engines(t) {
		h := turns.NewHost(turns.HostOptions{
			Engine: engine, Clock: host.FixedClock(host.FixedTime), Entropy: func(p []byte) { clear(p) },
		})
		defer h.Close(context.Background())
		config := story(calc(), history)
		config.Host = h
		r := newRunner(t, config)
		run := func(i int) (lines string, log []byte) {
			var text, record bytes.Buffer
			_, err := finished(r.Run(t.Context(), turns.TurnInput{
				TurnID: fmt.Sprint("turn", i*i), SystemPrompt: "test", Text: "hello", Journal: &record,
				OnEvent: func(ev event.Event) {
					line, err := ev.MarshalJSON()
					if err != nil {
						t.Error(err)
					}
					text.Write(append(line, '\n'))
				},
			}))
			if err != nil {
				t.Error(err)
			}
			return text.String(), record.Bytes()
		}
		for i := range n {
			alone, _ := run(i)
			if want[i] == "" {
				want[i] = alone
			}
			if alone != want[i] {
				t.Errorf("turn %d on %s:\n%s\nwant:\n%s", i, engine.Name(), alone, want[i])
			}
		}
		logs := make([][]byte, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				among, log := run(i)
				if among != want[i] {
					t.Errorf("turn %d on %s, among others:\n%s\nwant:\n%s", i, engine.Name(), among, want[i])
				}
				logs[i] = log
			})
		}
		wg.Wait()
		for _, other := range hosttest.Engines(t) {
			for i, log := range logs {
				reader, err := journal.NewReader(bytes.NewReader(log))
				if err != nil {
					t.Fatal(err)
				}
				if entries, err := journal.Replay(t.Context(), other, reader); err != nil || entries < 5 {
					t.Errorf("turn %d of %s on %s: %d entries, %v", i, engine.Name(), other.Name(), entries, err)
				}
			}
		}
	}
}

// An instance whose memory has grown beyond the mark is replaced when no turn runs in it.
func TestHighWater(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		if engine.Name() == "native" {
			continue // its memory is the program's
		}
		h := turns.NewHost(turns.HostOptions{Engine: engine, HighWater: 1})
		defer h.Close(context.Background())
		history, err := turns.NewHistory(messages(3)...)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			inTurn(t, h, func(ctx *turns.TurnContext) {
				if err := ctx.TurnMessages().AddAll(history); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

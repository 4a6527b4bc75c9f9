package turns_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// What would never be called is refused where it is registered.
func TestListenersThatCannotBe(t *testing.T) {
	r := newRunner(t, turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		defer func() {
			if v := recover(); v != "turns: nil ack handler" {
				t.Errorf("a nil ack handler: %v", v)
			}
			_ = ctx.Ack()
		}()
		ctx.OnAck(nil)
		return nil
	}})
	for _, c := range []struct {
		want     string
		register func()
	}{
		{"turns: nil listener", func() { turns.Listen[*event.Message](r, nil) }},
		{"turns: nil listener", func() { r.On(event.KindMessage, nil) }},
		{"turns: nil listener", func() { r.OnAny(nil) }},
		{"turns: unknown kind of event 18; KindMessage and the constants beside it are the known ones", func() { r.On(event.KindGenerationStats+1, func(event.Event) {}) }},
		{"turns: unknown kind of event 255; KindMessage and the constants beside it are the known ones", func() { r.Observe(255, func(event.Event) {}) }},
		{"turns: Listen is for one type of event, OnAny for all", func() { turns.Listen(r, func(event.Event) {}) }},
	} {
		func() {
			defer func() {
				if v := recover(); v != c.want {
					t.Errorf("%v, want %q", v, c.want)
				}
			}()
			c.register()
		}()
	}
	result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
	if err != nil || result.Status != event.Ack {
		t.Error(result, err)
	}
}

// An event is delivered before the call that caused it returns.
func TestDeliveredBeforeReturn(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		heard := 0
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
			for i := range 10 {
				if err := helpers.ReportMessage("m", "x", i == 9); err != nil {
					return err
				}
				if heard != i+1 {
					t.Errorf("%d events heard after %d reports", heard, i+1)
				}
			}
			return ctx.Ack()
		}})
		turns.Listen(r, func(ev *event.Message) {
			heard++
			if want := strings.Repeat("x", heard); ev.Full != want || ev.Delta != "x" || ev.IsComplete != (heard == 10) {
				t.Errorf("event %d: %+v", heard, ev.StreamDelta)
			}
		})
		if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil {
			t.Fatal(err)
		}
	})
}

// Calls that listeners make return when their reply is there; their events follow after the listener, in order.
func TestListenersMayCall(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var ctx *turns.DispatchContext
		var helpers *turns.Helpers
		tool := calc()
		inner := &turns.Tool{Name: "inner", Description: "reports", InputSchema: `{"type":"object"}`, Handler: func(*turns.DispatchContext, turns.Args) (any, error) {
			// Runs while the listener waits for it, on behalf of a goroutine of its own.
			done := make(chan error)
			go func() { done <- helpers.ReportThought("from-tool", "x", true) }()
			return nil, <-done
		}}
		log := &recorder{}
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Tools: []*turns.Tool{tool, inner}, Executor: func(c *turns.DispatchContext, hs *turns.Helpers) error {
			ctx, helpers = c, hs
			return errors.Join(hs.ReportMessage("m", "x", false), hs.ReportMessage("m", "y", true), c.Ack())
		}})
		turns.Listen(r, func(ev *event.Message) {
			if ev.IsComplete {
				return
			}
			if err := helpers.ReportThought("th", "x", true); err != nil {
				t.Error(err)
			}
			if n := len(find[*event.Thought](log)); n != 0 {
				t.Errorf("%d events of the listener's call were delivered inside it", n)
			}
			if got, err := tool.Executor(ctx)(map[string]any{"a": 1}); got != 2.0 || err != nil {
				t.Errorf("tool: %v, %v", got, err)
			}
			if _, err := inner.Executor(ctx)(nil); err != nil {
				t.Error(err)
			}
		})
		r.OnAny(log.add)
		if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil {
			t.Fatal(err)
		}
		want := started + "msg th xS xE(false) xS th xE(false) msg iE(0,ack) dE(ack,1) tE(ack)"
		if log.words() != want {
			t.Errorf("events\n got %s\nwant %s", log.words(), want)
		}
		for i, ev := range log.events {
			if ev.Meta().Seq != uint32(i+1) {
				t.Errorf("%s has seq %d, delivered as number %d", word(ev), ev.Meta().Seq, i+1)
			}
		}
	})
}

func TestListenerPanics(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		log := &recorder{}
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: say("x")})
		r.On(event.KindMessage, func(event.Event) { panic(errX) })
		r.OnAny(log.add)
		result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
		if err != nil || result.Status != event.Ack {
			t.Fatal(result, err)
		}
		if want := started + "msg err(E_LISTENER_ERROR) iE(0,ack) dE(ack,1) tE(ack)"; log.words() != want {
			t.Errorf("events\n got %s\nwant %s", log.words(), want)
		}
		if ev := find[*event.Error](log)[0]; !errors.Is(ev.Err, errX) || ev.DispatchID == "" {
			t.Errorf("error event %+v", ev)
		}
	})
}

// Many goroutines may use a context at once, and many turns run at once.
func TestConcurrentUse(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		tool := calc()
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Tools: []*turns.Tool{tool}, Executor: func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for i := range 5 {
						id := fmt.Sprintf("%d.%d", g, i)
						got, err := tool.Executor(ctx)(map[string]any{"a": g})
						if got != float64(g)+1 || err != nil {
							t.Errorf("tool: %v, %v", got, err)
						}
						if err := errors.Join(
							helpers.ReportMessage(fmt.Sprint(g), id, false), ctx.StoreMessage(message(id, id)),
							ctx.TurnMemories().Add(record.NewMemory(id, id, 1, 1, instant)), ctx.Stash().Set(id, i),
						); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if ctx.TurnMessages().Len() != 40 || ctx.TurnMemories().Len() != 40 {
				t.Errorf("%d messages, %d memories", ctx.TurnMessages().Len(), ctx.TurnMemories().Len())
			}
			return ctx.Ack()
		}})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				log := &recorder{}
				result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", OnEvent: log.add})
				if err != nil || result.Status != event.Ack {
					t.Error(result, err)
				}
				for i, ev := range log.events {
					if ev.Meta().Seq != uint32(i+1) || ev.Meta().TurnID != result.TurnID {
						t.Errorf("%s has seq %d of turn %s, delivered as number %d", word(ev), ev.Meta().Seq, ev.Meta().TurnID, i+1)
					}
				}
				if n := len(find[*event.Message](log)); n != 40 {
					t.Errorf("%d message events", n)
				}
			})
		}
		wg.Wait()
	})
}

// A handler that ends its goroutine, as t.FailNow does, fails its effect and not the turn's bookkeeping.
func TestGoexit(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		log := &recorder{}
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(*turns.DispatchContext, *turns.Helpers) error {
			runtime.Goexit()
			return nil
		}})
		ended := make(chan struct{})
		r.OnAny(log.add)
		r.Observe(event.KindTurnEnd, func(event.Event) { close(ended) })
		go func() {
			_, _ = r.Run(context.Background(), turns.TurnInput{SystemPrompt: "test"})
		}()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatal("the turn did not end")
		}
		if want := started + "iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR) err(E_LLM_EXECUTION_EXECUTOR_ERROR) tE(nack)"; log.words() != want {
			t.Errorf("events\n got %s\nwant %s", log.words(), want)
		}
	})
}

// After its end a turn's contexts refuse calls, and their context.Context is cancelled.
func TestAfterTheEnd(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var ctx *turns.DispatchContext
		var helpers *turns.Helpers
		play(t, h, turns.TurnRunnerConfig{Executor: func(c *turns.DispatchContext, hs *turns.Helpers) error {
			ctx, helpers = c, hs
			if c.Err() != nil {
				t.Error(c.Err())
			}
			return c.Ack()
		}}, turns.TurnInput{})
		for _, err := range []error{
			ctx.Ack(), helpers.ReportMessage("m", "x", false), ctx.StoreMessage(message("m", "x")), ctx.Commit(),
		} {
			if !errors.Is(err, host.CodeCallAfterEnd) {
				t.Errorf("a call after the end: %v", err)
			}
		}
		if ctx.Err() == nil || ctx.Aborted() {
			t.Errorf("after the end: %v, aborted %t", ctx.Err(), ctx.Aborted())
		}
	})
}

// A listener that is registered twice is called twice, and each registration is taken off by itself.
func TestListenersThatAreThereTwice(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		calls := 0
		fn := func(event.Event) { calls++ }
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack})
		off := r.Observe(event.KindTurnEnd, fn)
		r.Observe(event.KindTurnEnd, fn)
		for _, want := range []int{2, 3} {
			if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil || calls != want {
				t.Errorf("%d calls, %v, want %d", calls, err, want)
			}
			off()
		}
	})
}

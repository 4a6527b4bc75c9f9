package turns_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// inBubble runs a test where nothing may wait for ever, on a host of its own.
func inBubble(t *testing.T, test func(t *testing.T, h *turns.Host)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := turns.NewHost(turns.HostOptions{Engine: native.New(), Verify: true})
		defer h.Close(context.Background())
		test(t, h)
	})
}

// The stream of a turn whose user code ends its goroutine has all events, and the turn's end.
func TestStreamOfGoexit(t *testing.T) {
	inBubble(t, func(t *testing.T, h *turns.Host) {
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(*turns.DispatchContext, *turns.Helpers) error {
			runtime.Goexit()
			return nil
		}})
		for _, id := range []string{"", "T"} {
			s := r.Stream(t.Context(), turns.TurnInput{SystemPrompt: "test", TurnID: id})
			log := &recorder{}
			for ev := range s.Events() {
				if ev != nil {
					log.add(ev)
				}
			}
			if want := started + "iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR) err(E_LLM_EXECUTION_EXECUTOR_ERROR) tE(nack)"; log.words() != want {
				t.Errorf("events\n got %s\nwant %s", log.words(), want)
			}
			if result, err := finished(s.Result()); err != nil || result.Status != event.Nack {
				t.Error(result, err)
			}
		}
	})
}

// Who waits for a turn that another caller has started learns how it went, also when that caller is gone; and the
// caller's context and the host still end the turn.
func TestTurnWhoseCallerIsGone(t *testing.T) {
	for name, end := range map[string]func(h *turns.Host, cancel func(), g event.OpenGate){
		"resolve": func(_ *turns.Host, _ func(), g event.OpenGate) { _ = g.Resolve(true) },
		"cancel":  func(_ *turns.Host, cancel func(), _ event.OpenGate) { cancel() },
		"close":   func(h *turns.Host, _ func(), _ event.OpenGate) { _ = h.Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *turns.Host) {
				r := newRunner(t, turns.TurnRunnerConfig{
					Host: h,
					Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
						if _, err := ctx.WaitFor(ctx, approval("g")); err != nil {
							return err
						}
						return ctx.Ack()
					},
				})
				var leave sync.Once
				r.Observe(event.KindTurnStart, func(event.Event) { leave.Do(runtime.Goexit) })
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go r.Run(ctx, turns.TurnInput{SystemPrompt: "test", TurnID: "T"}) //nolint:errcheck // its goroutine ends
				synctest.Wait()
				type outcome struct {
					result *turns.Result
					err    error
				}
				ended := make(chan outcome)
				go func() {
					result, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", TurnID: "T"}))
					ended <- outcome{result, err}
				}()
				synctest.Wait()
				g, _ := r.Gate("g")
				if g == nil {
					t.Fatal("the turn does not go on")
				}
				end(h, cancel, g)
				want := map[string]event.Status{"resolve": event.Ack, "cancel": event.Aborted, "close": event.Failed}[name]
				if e := <-ended; e.err != nil || e.result == nil || e.result.Status != want {
					t.Errorf("%+v, want %s", e, want)
				}
			})
		})
	}
}

// A listener that ends its goroutine has failed. Others hear of the event, and calls return.
func TestListenerThatEndsItsGoroutine(t *testing.T) {
	kinds := []event.Kind{
		event.KindTurnStart, event.KindDispatchStart, event.KindIterationStart, event.KindMessage,
		event.KindIterationEnd, event.KindDispatchEnd, event.KindTurnEnd,
	}
	for _, kind := range kinds {
		inBubble(t, func(t *testing.T, h *turns.Host) {
			r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, hs *turns.Helpers) error {
				var first sync.WaitGroup
				first.Go(func() { _ = hs.ReportMessage("m", "a", false) }) // the listener may end it
				first.Wait()
				return errors.Join(hs.ReportMessage("m", "b", true), ctx.Ack())
			}})
			var once sync.Once
			r.Observe(kind, func(event.Event) { once.Do(runtime.Goexit) })
			s := r.Stream(t.Context(), turns.TurnInput{SystemPrompt: "test"})
			log := &recorder{}
			for ev := range s.Events() {
				log.add(ev)
			}
			words := strings.ReplaceAll(log.words(), "err("+string(host.CodeListenerError)+") ", "")
			if want := started + "msg msg iE(0,ack) dE(ack,1) tE(ack)"; words != want {
				t.Errorf("%s: events\n got %s\nwant %s", kind, log.words(), want)
			}
			for i, ev := range log.events {
				if ev.Meta().Seq != uint32(i+1) {
					t.Errorf("%s: %s has seq %d, and comes as number %d", kind, word(ev), ev.Meta().Seq, i+1)
				}
			}
			if told := words != log.words(); !told && kind != event.KindIterationEnd && kind != event.KindDispatchEnd && kind != event.KindTurnEnd {
				t.Errorf("%s: nobody was told that the listener failed", kind)
			}
		})
	}
}

package turns_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

func TestPipelines(t *testing.T) {
	var trace []string
	note := func(s string) { trace = append(trace, s) }
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for _, c := range []struct {
			name       string
			middleware []turns.TurnMiddleware
			want       string
			events     string
		}{
			{
				"A13 A14 abort skips what follows, the post-step runs",
				[]turns.TurnMiddleware{
					func(ctx *turns.TurnContext, next func()) error { ctx.Abort(nil); next(); note("post"); return nil },
					func(_ *turns.TurnContext, next func()) error { note("b"); next(); return nil },
				},
				"post", "tS tE(aborted)",
			},
			{
				"A21 the post-step runs after a failure further down",
				[]turns.TurnMiddleware{
					func(_ *turns.TurnContext, next func()) error { next(); note("post"); return nil },
					func(*turns.TurnContext, func()) error { return errX },
				},
				"post", "tS err(E_INPUT_PIPELINE_ERROR) tE(failed,E_INPUT_PIPELINE_ERROR)",
			},
			{
				"A22 a failing post-step is suppressed in the first failure",
				[]turns.TurnMiddleware{
					func(_ *turns.TurnContext, next func()) error { next(); return errors.New("second") },
					func(*turns.TurnContext, func()) error { return errX },
				},
				"", "tS err(E_INPUT_PIPELINE_ERROR) tE(failed,E_INPUT_PIPELINE_ERROR)",
			},
			{
				"A23 next twice",
				[]turns.TurnMiddleware{
					func(_ *turns.TurnContext, next func()) error { next(); next(); return nil },
					func(_ *turns.TurnContext, next func()) error { note("b"); next(); return nil },
				},
				"b", started + "iE(0,ack) dE(ack,1) tE(ack)",
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				trace = nil
				log, result := play(t, h, turns.TurnRunnerConfig{Executor: ack, TurnInputPipeline: c.middleware}, turns.TurnInput{})
				if got := strings.Join(trace, " "); got != c.want {
					t.Errorf("ran %q, want %q", got, c.want)
				}
				if got := log.words(); got != c.events {
					t.Errorf("events\n got %s\nwant %s", got, c.events)
				}
				if result.Status == event.Failed && !errors.Is(result.Err, errX) {
					t.Errorf("the failure %v does not wrap its cause", result.Err)
				}
			})
		}
	})
}

// The error that comes back is the object that user code gave: in the event, in the result, and as a cause.
func TestErrorIdentity(t *testing.T) {
	mine := &host.Error{Code: "E_MINE", Message: "mine", Status: 418}
	onEngines(t, func(t *testing.T, h *turns.Host) {
		log, result := play(t, h, turns.TurnRunnerConfig{
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Nack(mine) },
		}, turns.TurnInput{})
		if result.Err != error(mine) {
			t.Errorf("result: %v", result.Err)
		}
		if ends := find[*event.DispatchEnd](log); len(ends) != 1 || ends[0].Err != error(mine) {
			t.Errorf("dispatchEnd: %v", ends[0].Err)
		}
		if events := find[*event.Error](log); len(events) != 1 || events[0].Err != error(mine) {
			t.Errorf("error event: %v", events[0].Err)
		}

		log, result = play(t, h, turns.TurnRunnerConfig{
			Executor: func(*turns.DispatchContext, *turns.Helpers) error { return mine },
		}, turns.TurnInput{})
		var e *host.Error
		if !errors.As(result.Err, &e) || e.Cause != error(mine) || e.Help == "" || !strings.HasSuffix(e.Message, ": mine") {
			t.Errorf("executor error: %#v", result.Err)
		}
		if find[*event.Error](log)[0].Err != result.Err {
			t.Error("the error event and the result have different objects")
		}
	})
}

func TestInputIsRefused(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack})
		log := &recorder{}
		r.OnAny(log.add)
		_, err := r.Run(t.Context(), turns.TurnInput{StandingInstructions: []string{""}, Stash: map[string]any{"f": func() {}}})
		for _, part := range []string{"systemPrompt", "standingInstructions[0]", "stash.f"} {
			if !errors.Is(err, host.CodeInvalidTurnContext) || !strings.Contains(err.Error(), part) {
				t.Errorf("error %v does not name %s", err, part)
			}
		}
		tool := calc()
		r = newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack, Tools: []*turns.Tool{tool, calc()}})
		r.OnAny(log.add)
		if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); !errors.Is(err, host.CodeToolAlreadyRegistered) {
			t.Errorf("two tools of one name: %v", err)
		}
		if log.words() != "" {
			t.Errorf("events of refused turns: %s", log.words())
		}
	})
	_, err := turns.NewTurnRunner(turns.TurnRunnerConfig{TurnInputPipeline: []turns.TurnMiddleware{nil}})
	for _, part := range []string{"executorCallback", "storeMessageCallback", "turnInputPipeline[0]"} {
		if !errors.Is(err, host.CodeInvalidTurnRunnerConfig) || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not name %s", err, part)
		}
	}
}

func TestContextCancelsTurn(t *testing.T) {
	why := errors.New("why")
	onEngines(t, func(t *testing.T, h *turns.Host) {
		ctx, cancel := context.WithCancelCause(t.Context())
		executor := func(d *turns.DispatchContext, _ *turns.Helpers) error {
			cancel(why)
			<-d.Done()
			if !errors.Is(context.Cause(d), why) || !d.Aborted() {
				t.Errorf("cause %v, aborted %t", context.Cause(d), d.Aborted())
			}
			return d.Err()
		}
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: executor})
		log := &recorder{}
		r.OnAny(log.add)
		result, err := finished(r.Run(ctx, turns.TurnInput{SystemPrompt: "test"}))
		if err != nil || result.Status != event.Aborted || !errors.Is(result.Err, why) {
			t.Errorf("%v, %v", result, err)
		}
		if want := started + "iE(0,aborted) dE(aborted,1) tE(aborted)"; log.words() != want {
			t.Errorf("events\n got %s\nwant %s", log.words(), want)
		}
		// A16: cancelled before the start.
		log.events = nil
		if result, err = finished(r.Run(ctx, turns.TurnInput{SystemPrompt: "test"})); err != nil || result.Status != event.Aborted {
			t.Errorf("%v, %v", result, err)
		}
		if log.words() != "tS tE(aborted)" {
			t.Errorf("events of a turn that was cancelled before: %s", log.words())
		}
	})
}

func TestSecondStartAttaches(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		runs := 0
		var r *turns.TurnRunner
		second := make(chan *turns.Result, 1)
		seen := &recorder{}
		r = newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
			runs++
			attached := make(chan struct{})
			go func() {
				result, err := r.Run(context.Background(), turns.TurnInput{TurnID: "mine", SystemPrompt: "test", OnEvent: func(ev event.Event) {
					seen.add(ev)
					select {
					case <-attached:
					default:
						close(attached)
					}
				}})
				if err != nil {
					t.Error(err)
				}
				second <- result
			}()
			for {
				select {
				case <-attached:
					return ctx.Ack()
				default:
					// Until the other one is there, there is something to hear.
					helpers.Log(event.LevelInfo, "wait", "", nil)
				}
			}
		}})
		first, err := r.Run(t.Context(), turns.TurnInput{TurnID: "mine", SystemPrompt: "test"})
		if err != nil {
			t.Fatal(err)
		}
		if got := <-second; got != first || runs != 1 {
			t.Errorf("runs %d, results %p %p", runs, first, got)
		}
		if !strings.HasSuffix(seen.words(), "tE(ack)") {
			t.Errorf("who attached heard %s", seen.words())
		}
	})
}

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

// How a turn went is told by the error that Run and Result return, and by how a loop over its events ends (decision
// 44).
func TestTheErrorOfATurn(t *testing.T) {
	errMine, errStop := errors.New("mine"), errors.New("stop")
	for name, c := range map[string]struct {
		executor turns.Executor
		input    turns.TurnMiddleware
		stop     bool // the caller's context ends with errStop
		status   event.Status
		is       []error // what the error is; none for a turn without one
		loop     bool    // whether a loop over the events ends with it
	}{
		"ack": {executor: say("Hi."), status: event.Ack},
		"nack": {
			executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Nack(errMine) },
			status:   event.Nack, is: []error{errMine}, loop: true,
		},
		"executor fails": {
			executor: func(*turns.DispatchContext, *turns.Helpers) error { return errMine },
			status:   event.Nack, is: []error{host.CodeLLMExecutionExecutorError, errMine}, loop: true,
		},
		"failure": {
			input:    func(*turns.TurnContext, func()) error { return errMine },
			executor: say("Hi."), status: event.Failed, is: []error{host.CodeInputPipelineError, errMine}, loop: true,
		},
		"abort": {
			executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { ctx.Abort(errStop); return nil },
			status:   event.Aborted, is: []error{errStop},
		},
		"abort by the caller": {
			executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { <-ctx.Done(); return ctx.Err() },
			stop:     true, status: event.Aborted, is: []error{errStop},
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, h *turns.Host) {
				config := turns.TurnRunnerConfig{Host: h, Executor: c.executor}
				if c.input != nil {
					config.TurnInputPipeline = []turns.TurnMiddleware{c.input}
				}
				r := newRunner(t, config)
				begin := func() context.Context {
					ctx, cancel := context.WithCancelCause(t.Context())
					t.Cleanup(func() { cancel(nil) })
					if c.stop {
						turns.Listen(r, func(*event.IterationStart) { cancel(errStop) })
					}
					return ctx
				}
				check := func(what string, result *turns.Result, err error) {
					t.Helper()
					if result == nil || result.Status != c.status || err != result.Err || (err == nil) != (c.is == nil) {
						t.Fatalf("%s: %+v, %v", what, result, err)
					}
					for _, is := range c.is {
						if !errors.Is(err, is) {
							t.Errorf("%s: %v is not %v", what, err, is)
						}
					}
				}
				result, err := r.Run(begin(), turns.TurnInput{SystemPrompt: "test"})
				check("Run", result, err)

				stream := r.Stream(begin(), turns.TurnInput{SystemPrompt: "test"})
				var last event.Event
				var failures []error
				for ev, err := range stream.Events() {
					if err != nil {
						failures = append(failures, err)
						continue
					}
					if last = ev; failures != nil {
						t.Error("an event comes after the error")
					}
				}
				result, err = stream.Result()
				check("Result", result, err)
				if _, ended := last.(*event.TurnEnd); !ended {
					t.Errorf("the last event is %T", last)
				}
				if !c.loop && failures != nil || c.loop && (len(failures) != 1 || failures[0] != result.Err) {
					t.Errorf("the loop ended with %v", failures)
				}
			})
		})
	}
}

// An executor that forgets to signal is called again, and told so when it reports what it has reported.
func TestAnExecutorThatForgetsToSignal(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(_ *turns.DispatchContext, helpers *turns.Helpers) error {
			return helpers.ReportMessage("answer", "Hi.", true)
		}})
		_, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
		if !errors.Is(err, turns.ErrStreamSealed) {
			t.Error(err)
		}
		const want = `the message "answer" takes no more reports: it was completed in iteration 0, and the executor runs again since nobody called ack or nack`
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

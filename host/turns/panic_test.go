package turns_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// However a storage callback goes wrong in the middle of a commit, what it had written before is known to be written:
// the turn has it, and it is not told of as dropped.
func TestCommitThatPanics(t *testing.T) {
	for name, bad := range map[string]func() error{
		"returns": func() error { return errX }, "panics": func() error { panic(errX) }, "exits": func() error { runtime.Goexit(); return nil },
	} {
		onEngines(t, func(t *testing.T, h *turns.Host) {
			c := noStorage()
			c.StoreMessage = func(_ turns.Context, m *record.Message) error {
				if m.ID == "b" {
					return bad()
				}
				return nil
			}
			var turn *turns.TurnContext
			log := &recorder{}
			r := newRunner(t, turns.TurnRunnerConfig{
				Callbacks: c, Host: h,
				TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error { turn = ctx; next(); return nil }},
				Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
					return errors.Join(ctx.StoreMessage(message("a", "x")), ctx.StoreMessage(message("b", "x")), ctx.StoreMessage(message("c", "x")), ctx.Ack())
				},
			})
			ended := make(chan struct{})
			r.OnAny(log.add)
			r.Observe(event.KindTurnEnd, func(event.Event) { close(ended) })
			go r.Run(context.WithoutCancel(t.Context()), turns.TurnInput{SystemPrompt: "test"}) //nolint:errcheck // the callback may end this goroutine
			<-ended
			var dropped []string
			for _, e := range find[*event.IterationEnd](log) {
				for _, d := range e.Discarded {
					dropped = append(dropped, d.ID)
				}
			}
			if got := strings.Join(dropped, " "); got != "b c" {
				t.Errorf("%s: %q were dropped", name, got)
			}
			if has := turn.TurnMessages().Slice(); len(has) != 1 || has[0].ID != "a" {
				t.Errorf("%s: the turn has %v", name, has)
			}
			if e := find[*event.TurnEnd](log)[0].Err; !errors.Is(e, host.CodeStorageCommitError) {
				t.Errorf("%s: %v", name, e)
			}
		})
	}
}

// A callback that is called for what it gives may panic: its caller gets that as an error.
func TestCallbacksThatPanic(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		c := noStorage()
		c.FetchMemories = func(turns.Context) ([]*record.Memory, error) { panic(errX) }
		c.FetchMessages = func(turns.Context) ([]*record.Message, error) { panic(errX) }
		c.FetchThoughts = func(turns.Context) ([]*record.Thought, error) { panic(errX) }
		c.FetchToolCalls = func(turns.Context) ([]*record.ToolCall, error) { panic(errX) }
		c.FetchTools = func(turns.Context) ([]*turns.Tool, error) { panic(errX) }
		c.FetchRetrievables = func(turns.Context) ([]*record.Retrievable, error) { panic(errX) }
		c.RefreshStandingInstructions = func(turns.Context) ([]string, error) { panic(errX) }
		c.StoreMediaBytes = func(turns.Context, string, io.Reader) (record.MediaReader, error) { panic(errX) }
		c.StoreRetrievableBytes = func(turns.Context, string, io.Reader) (record.SpoolReader, error) { panic(errX) }
		_, err := turns.Dispatch(t.Context(), turns.DispatchInput{
			Host: h,
			Raw: &turns.RawContext{Callbacks: c, SystemPrompt: "test", WaitFor: func(context.Context, turns.Gate) (any, error) {
				panic(errX)
			}},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				_, memories := ctx.FetchMemories()
				_, messages := ctx.FetchMessages()
				_, thoughts := ctx.FetchThoughts()
				_, calls := ctx.FetchToolCalls()
				_, tools := ctx.FetchTools()
				_, documents := ctx.FetchRetrievables()
				_, texts := ctx.RefreshStandingInstructions()
				_, media := ctx.StoreMediaBytes("m", strings.NewReader("x"))
				_, bytes := ctx.StoreRetrievableBytes("r", strings.NewReader("x"))
				_, gate := ctx.WaitFor(ctx, turns.Gate{ID: "g", Reason: "why", Payload: 1, CreatedAt: instant})
				for i, err := range []error{memories, messages, thoughts, calls, tools, documents, texts, media, bytes, gate} {
					if !errors.Is(err, errX) {
						t.Errorf("%d: %v", i, err)
					}
				}
				return ctx.Ack()
			},
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// deref fails on its own line, which the stack must name.
func deref(p *int) int { return *p }

// Wherever the program's code panics, the error that the turn tells leads to the panic's stack.
func TestTheStackOfAPanic(t *testing.T) {
	broken := &turns.Tool{Name: "broken", Description: "x", InputSchema: `{"type":"object"}`, Handler: func(*turns.DispatchContext, turns.Args) (any, error) {
		return deref(nil), nil
	}}
	callback := noStorage()
	callback.StoreMessage = func(turns.Context, *record.Message) error { deref(nil); return nil }
	for name, config := range map[string]turns.TurnRunnerConfig{
		"executor": {Executor: func(*turns.DispatchContext, *turns.Helpers) error { deref(nil); return nil }},
		"middleware": {Executor: say("Hi."), TurnInputPipeline: []turns.TurnMiddleware{
			func(*turns.TurnContext, func()) error { deref(nil); return nil },
		}},
		"tool": {Tools: []*turns.Tool{broken}, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			_, err := broken.Executor(ctx)(nil)
			return err
		}},
		"storage": {Callbacks: callback, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			return errors.Join(ctx.StoreMessage(message("a", "x")), ctx.Ack())
		}},
		"listener": {Executor: say("Hi.")},
	} {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, h *turns.Host) {
				config.Host = h
				r := newRunner(t, config)
				var told error
				turns.Listen(r, func(ev *event.Error) { told = ev.Err })
				if name == "listener" {
					turns.Listen(r, func(*event.Message) { deref(nil) })
				}
				if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); name != "listener" && err != told {
					t.Errorf("Run returned %v, the event has %v", err, told)
				}
				var caught *host.PanicError
				if !errors.As(told, &caught) {
					t.Fatalf("%v leads to no panic", told)
				}
				var cause runtime.Error
				if !errors.As(caught, &cause) || !strings.Contains(string(caught.Stack), "turns_test.deref") {
					t.Errorf("%v\n%s", caught, caught.Stack)
				}
				var log bytes.Buffer
				slog.New(slog.NewJSONHandler(&log, nil)).Error("turn failed", "error", told)
				if line := log.String(); !strings.Contains(line, `"code":"E_`) || !strings.Contains(line, "turns_test.deref") {
					t.Errorf("logged %s", line)
				}
			})
		})
	}
}

package turns_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

var errRefused = errors.New("refused")

func approval(id string) turns.Gate {
	return turns.Gate{
		ID: id, Reason: "Delete the file?", Payload: map[string]any{"path": "/a"}, CreatedAt: time.UnixMilli(1000),
		Schema: `{"type":"boolean"}`,
	}
}

// place opens a gate somewhere in a turn.
type place struct {
	name   string
	config func(wait func(ctx turns.Context) error) turns.TurnRunnerConfig
}

var places = []place{
	{"turn middleware", func(wait func(ctx turns.Context) error) turns.TurnRunnerConfig {
		return turns.TurnRunnerConfig{Executor: say("Hi."), TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
			if err := wait(ctx); err != nil {
				return err
			}
			next()
			return nil
		}}}
	}},
	{"dispatch middleware", func(wait func(ctx turns.Context) error) turns.TurnRunnerConfig {
		return turns.TurnRunnerConfig{Executor: say("Hi."), DispatchInputPipeline: []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, next func()) error {
			if err := wait(ctx); err != nil {
				return err
			}
			next()
			return nil
		}}}
	}},
	{"executor", func(wait func(ctx turns.Context) error) turns.TurnRunnerConfig {
		return turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
			if err := wait(ctx); err != nil {
				return err
			}
			return ctx.Ack()
		}}
	}},
	{"tool", func(wait func(ctx turns.Context) error) turns.TurnRunnerConfig {
		tool := &turns.Tool{Name: "remove", Description: "removes", InputSchema: `{"type":"object"}`}
		tool.Handler = func(ctx *turns.DispatchContext, _ turns.Args) (any, error) { return "gone", wait(ctx) }
		return turns.TurnRunnerConfig{Tools: []*turns.Tool{tool}, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if _, err := tool.Executor(ctx)(nil); err != nil {
				return err
			}
			return ctx.Ack()
		}}
	}},
}

// E1 to E13: who waits where, what settles the gate, and what comes of it.
func TestGates(t *testing.T) {
	settle := map[string]func(g event.OpenGate, ctx turns.Context) error{
		"resolve": func(g event.OpenGate, _ turns.Context) error { return g.Resolve(true) },
		"refuse then resolve": func(g event.OpenGate, _ turns.Context) error { // E2
			var e *host.Error
			if err := g.Resolve("true"); !errors.As(err, &e) || e.Code != abi.CodeInvalidTurnGateResolution || e.Details == nil || g.IsSettled() {
				return fmt.Errorf("resolved with a string: %w, settled %t", err, g.IsSettled())
			}
			if err := g.ResolveShown(true, "00"); !errors.Is(err, host.Code(abi.CodeInvalidTurnGateResolution)) || g.IsSettled() {
				return fmt.Errorf("resolved with another digest: %w", err)
			}
			if err := g.ResolveShown(true, ""); !errors.Is(err, host.Code(abi.CodeInvalidTurnGateResolution)) || g.IsSettled() {
				return fmt.Errorf("resolved with an empty digest: %w", err)
			}
			return g.ResolveShown(true, g.Digest())
		},
		"resolve first": func(g event.OpenGate, _ turns.Context) error { // E3
			err := g.Resolve(true)
			for _, again := range []error{
				g.Reject(errRefused), g.Reject(nil), g.Abort(), g.Resolve(false), g.Resolve("breaks the schema"), g.Resolve(func() {}),
				g.ResolveShown(false, g.Digest()), g.ResolveShown(false, "00"), g.ResolveShown(false, ""),
			} {
				var e *host.Error
				if !errors.As(again, &e) || !errors.Is(again, turns.ErrGateSettled) || !reflect.DeepEqual(e.Details, any(map[string]any{"result": "resolved"})) {
					err = errors.Join(err, fmt.Errorf("settling it again gives %w", again))
				}
			}
			return err
		},
		"reject": func(g event.OpenGate, _ turns.Context) error { return g.Reject(errRefused) },
		"abort":  func(g event.OpenGate, _ turns.Context) error { return g.Abort() },
		"abort the turn": func(g event.OpenGate, ctx turns.Context) error {
			if d, ok := ctx.(*turns.DispatchContext); ok {
				d.Abort(errRefused) // leaves it open
				if g.IsSettled() {
					return errors.New("the dispatch's abort settled the gate")
				}
			}
			return nil // the test cancels the turn's context
		},
		"timeout": nil,
	}
	outcome := map[string]struct {
		closed string
		err    error
		status event.Status
	}{
		"resolve": {"resolved", nil, event.Ack}, "refuse then resolve": {"resolved", nil, event.Ack}, "resolve first": {"resolved", nil, event.Ack},
		"reject":         {"rejected", errRefused, event.Failed},
		"abort":          {"aborted", host.Code(abi.CodeTurnGateAborted), event.Failed},
		"abort the turn": {"aborted", host.Code(abi.CodeTurnGateAborted), event.Aborted},
		"timeout":        {"timeout", host.Code(abi.CodeTurnGateTimeout), event.Failed},
	}
	codes := map[string]string{
		"turn middleware": abi.CodeInputPipelineError, "dispatch middleware": abi.CodeDispatchPipelineError,
		"executor": abi.CodeLLMExecutionExecutorError, "tool": abi.CodeToolDownstreamError,
	}
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for _, p := range places {
			for name, act := range settle {
				t.Run(p.name+"/"+name, func(t *testing.T) {
					want := outcome[name]
					outer, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					var seam turns.Context
					closed := false
					var told error
					config := p.config(func(ctx turns.Context) error {
						seam = ctx
						g := approval("g")
						if name == "timeout" {
							g.Timeout = 5 * time.Millisecond
						}
						v, err := ctx.WaitFor(context.Background(), g)
						if !closed {
							t.Error("who waits went on before turnGateClosed")
						}
						if err == nil && v != true {
							t.Errorf("resolved with %v", v)
						}
						told = err
						return err
					})
					config.Host = h
					r := newRunner(t, config)
					log := &recorder{}
					r.OnAny(log.add)
					turns.Listen(r, func(ev *event.TurnGateClosed) {
						closed = true
						if ev.GateID != "g" || ev.TurnID != "T" {
							t.Errorf("closed %+v", ev)
						}
					})
					turns.Listen(r, func(ev *event.TurnGateOpen) {
						g := ev.Gate
						if g.ID() != "g" || g.TurnID() != "T" || g.Reason() != "Delete the file?" || len(g.Digest()) != 64 ||
							string(g.Payload()) != `{"path":"/a"}` || g.CreatedAt().UnixMilli() != 1000 {
							t.Errorf("gate %+v", g)
						}
						if found, ok := r.Gate("g"); (!ok || found != g) && !g.IsSettled() { // its time may have passed
							t.Error("the open gate is not found by its id")
						}
						if act == nil {
							return
						}
						if err := act(g, seam); err != nil {
							t.Error(err)
						}
						if name == "abort the turn" {
							cancel(errRefused)
						}
					})
					result, err := finished(r.Run(outer, turns.TurnInput{SystemPrompt: "test", TurnID: "T"}))
					if err != nil {
						t.Fatal(err)
					}
					if want.err == nil && told != nil || want.err != nil && !errors.Is(told, want.err) {
						t.Errorf("who waits was told %v", told)
					}
					if name == "reject" && told != errRefused {
						t.Errorf("rejected with another error: %v", told)
					}
					status := want.status
					if status == event.Failed && (p.name == "executor" || p.name == "tool") {
						status = event.Nack
					}
					if result.Status != status {
						t.Errorf("status %v, want %v: %v; %s", result.Status, status, result.Err, log.words())
					}
					if status == event.Failed || status == event.Nack {
						if !errors.Is(result.Err, host.Code(codes[p.name])) || !errors.Is(result.Err, want.err) {
							t.Errorf("error %v", result.Err)
						}
					} else if strings.Contains(log.words(), "err(") {
						t.Errorf("events %s", log.words())
					}
					if !strings.Contains(log.words(), "gO gC("+want.closed+")") || strings.Count(log.words(), "gC") != 1 {
						t.Errorf("events %s", log.words())
					}
					if len(r.Gates()) != 0 {
						t.Error("gates are left open")
					}
				})
			}
		}
	})
}

// E6: a gate that is opened after the abort. The listener may still settle it, or else it is aborted.
func TestAGateAfterTheAbort(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for _, inTime := range []bool{true, false} {
			r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: say("Hi."), TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				ctx.Abort(errRefused)
				v, err := ctx.WaitFor(context.Background(), approval("g"))
				if inTime && (v != true || err != nil) || !inTime && (!errors.Is(err, host.Code(abi.CodeTurnGateAborted)) || !errors.Is(err, errRefused)) {
					t.Errorf("in time %t: %v, %v", inTime, v, err)
				}
				return err
			}}})
			log := &recorder{}
			r.OnAny(log.add)
			turns.Listen(r, func(ev *event.TurnGateOpen) {
				time.Sleep(3 * time.Millisecond)
				if inTime {
					if err := ev.Gate.Resolve(true); err != nil {
						t.Error(err)
					}
				}
			})
			if _, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]string{true: "tS gO gC(resolved) tE(aborted)", false: "tS gO gC(aborted) tE(aborted)"}[inTime]; log.words() != want {
				t.Errorf("events %s, want %s", log.words(), want)
			}
		}
	})
}

// E8.
func TestBadGates(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
		log := &recorder{}
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			for _, c := range []struct {
				gate turns.Gate
				want []string
			}{
				{turns.Gate{}, []string{"`id`", "`reason`", "`payload`", "`createdAt`"}},
				{turns.Gate{ID: "g", Reason: "r", Payload: make(chan int), CreatedAt: time.Now(), Schema: "{", Timeout: time.Microsecond}, []string{"payload", "`schema`", "`timeout`"}},
				{turns.Gate{ID: "g", Reason: "r", Payload: json.RawMessage(deep), CreatedAt: time.Now()}, []string{"payload"}},
				{turns.Gate{ID: "g", Reason: "r", Payload: 1, CreatedAt: time.Now(), Schema: `{"type":"nothing"}`}, []string{"`schema`"}},
			} {
				v, err := ctx.WaitFor(context.Background(), c.gate)
				if v != nil || !errors.Is(err, host.Code(abi.CodeInvalidInitialTurnGateValue)) {
					t.Fatalf("%v, %v", v, err)
				}
				for _, w := range c.want {
					if !strings.Contains(err.Error(), w) {
						t.Errorf("%v says nothing of %s", err, w)
					}
				}
			}
			large := approval("g")
			large.Payload = strings.Repeat("x", abi.MaxFrame)
			if _, err := ctx.WaitFor(context.Background(), large); !errors.Is(err, host.Code(abi.CodeABILimitExceeded)) {
				t.Errorf("a payload of 16 MiB: %v", err)
			}
			return ctx.Ack()
		}})
		r.OnAny(log.add)
		if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log.words(), "gO") {
			t.Errorf("events %s", log.words())
		}
	})
}

// A gate that nobody awaits is closed with its turn; settling it afterwards does nothing.
func TestAGateThatIsLeftOpen(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		opened, waited := make(chan struct{}), make(chan error, 1)
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			go func() {
				_, err := ctx.WaitFor(context.Background(), approval("g"))
				waited <- err
			}()
			<-opened
			return ctx.Ack()
		}})
		log := &recorder{}
		r.OnAny(log.add)
		var gate event.OpenGate
		turns.Listen(r, func(ev *event.TurnGateOpen) { gate = ev.Gate; close(opened) })
		if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; !errors.Is(err, host.Code(abi.CodeTurnGateAborted)) {
			t.Errorf("told %v", err)
		}
		if want := "tS dS iS(0) gO iE(0,ack) dE(ack,1) gC(aborted) tE(ack)"; log.words() != want {
			t.Errorf("events %s, want %s", log.words(), want)
		}
		if err := gate.Resolve(true); !errors.Is(err, turns.ErrGateSettled) || !gate.IsSettled() {
			t.Errorf("settled after the end: %v", err)
		}
	})
}

func TestWaitingMayBeGivenUp(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		wait, giveUp := context.WithCancel(t.Context())
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if _, err := ctx.WaitFor(wait, approval("g")); !errors.Is(err, host.Code(abi.CodeTurnGateAborted)) {
				t.Errorf("told %v", err)
			}
			return ctx.Ack()
		}})
		turns.Listen(r, func(*event.TurnGateOpen) { giveUp() })
		result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
		if err != nil || result.Status != event.Ack {
			t.Fatal(result, err)
		}
	})
}

// What a gate was resolved with is plain data, defaults of its schema included.
func TestWaitForGivesPlainData(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		gate := approval("g")
		gate.Schema = `{"type":"object","properties":{"to":{"default":{"names":["a","b"],"n":1}}}}`
		var got any
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) (err error) {
			if got, err = ctx.WaitFor(ctx, gate); err != nil {
				return err
			}
			return ctx.Ack()
		}})
		turns.Listen(r, func(ev *event.TurnGateOpen) {
			if err := ev.Gate.Resolve(map[string]any{"list": []any{1.5, map[string]any{"deep": true}}}); err != nil {
				t.Error(err)
			}
		})
		if _, err := r.Run(t.Context(), turns.TurnInput{NoSystemPrompt: true}); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"list": []any{1.5, map[string]any{"deep": true}},
			"to":   map[string]any{"names": []any{"a", "b"}, "n": int64(1)},
		}
		if !reflect.DeepEqual(got, any(want)) {
			t.Errorf("WaitFor gave %#v", got)
		}
	})
}

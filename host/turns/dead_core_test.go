package turns_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// deadly is an engine that counts its instances, which die of a frame of one kind.
type deadly struct {
	host.Engine
	opened int
	of     atomic.Uint32 // 0 for none
}

type deadlyInstance struct {
	host.Instance
	engine *deadly
}

func (e *deadly) Open(ctx context.Context) (host.Instance, error) {
	e.opened++
	inst, err := e.Engine.Open(ctx)
	return &deadlyInstance{inst, e}, err
}

func (i *deadlyInstance) Step(dst, in []byte) ([]byte, error) {
	for rest := in; len(rest) > 0; {
		op, _, more, err := abi.Next(rest, abi.Limits{})
		if err != nil {
			break
		}
		if rest = more; uint32(op) == i.engine.of.Load() {
			return dst, i.Retire(errors.New("trap"))
		}
	}
	return i.Instance.Step(dst, in)
}

// atGate runs a turn that waits at the gate g, and returns how it ends.
func atGate(t *testing.T, h *turns.Host) (r *turns.TurnRunner, ended chan *turns.Result) {
	t.Helper()
	r = newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		if _, err := ctx.WaitFor(context.Background(), approval("g")); err != nil {
			return err
		}
		return ctx.Ack()
	}})
	open := make(chan struct{})
	r.Observe(event.KindTurnGateOpen, func(event.Event) { close(open) })
	ended = make(chan *turns.Result, 1)
	go func() {
		result, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}))
		if err != nil {
			t.Error(err)
		}
		ended <- result
	}()
	<-open
	return r, ended
}

// When an instance dies of what belongs to no turn, the turns that wait in it end.
func TestDeathOutsideOfTurns(t *testing.T) {
	for name, c := range map[string]struct {
		op    abi.Op
		cause func(t *testing.T, h *turns.Host, arm func())
	}{
		"close of a runner": {abi.OpCloseRunner, func(t *testing.T, h *turns.Host, arm func()) {
			r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack})
			_, _ = finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}))
			arm()
			_ = r.Close()
		}},
		"history": {abi.OpHistory, func(t *testing.T, h *turns.Host, arm func()) {
			history, err := turns.NewHistory(message("a", "x"))
			if err != nil {
				t.Fatal(err)
			}
			arm()
			r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack, TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, _ func()) error {
				return ctx.TurnMessages().AddAll(history)
			}}})
			_, _ = finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}))
		}},
		"open of a runner": {abi.OpOpenRunner, func(t *testing.T, h *turns.Host, arm func()) {
			arm()
			r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack})
			if _, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})); !errors.Is(err, host.CodeInstanceFailed) {
				t.Error(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := &deadly{Engine: native.New()}
				h := turns.NewHost(turns.HostOptions{Engine: engine, Instances: 1})
				defer h.Close(context.Background())
				r, ended := atGate(t, h)
				c.cause(t, h, func() { engine.of.Store(uint32(c.op)) })
				engine.of.Store(0)
				if result := <-ended; result.Status != event.Failed || !errors.Is(result.Err, host.CodeInstanceFailed) {
					t.Errorf("%+v", result)
				}
				if open := r.Gates(); len(open) != 0 {
					t.Errorf("%d gates are open", len(open))
				}
			})
		})
	}
}

// A frame that is too large and belongs to no turn is refused, and harms nobody.
func TestTooLargeOutsideOfTurns(t *testing.T) {
	large := strings.Repeat("x", 70<<10)
	for name, say := range map[string]func(t *testing.T, h *turns.Host) error{
		"runner": func(t *testing.T, h *turns.Host) error {
			tool := named("t")
			tool.Description = large
			r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack, Tools: []*turns.Tool{tool}})
			_, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
			return err
		},
		"validation": func(t *testing.T, h *turns.Host) error {
			_, err := named("t").ValidateArgs(t.Context(), h, map[string]any{"a": large})
			return err
		},
		"history": func(t *testing.T, h *turns.Host) error {
			history, err := turns.NewHistory(message("a", large))
			if err != nil {
				return err
			}
			var refused error
			r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack, TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				refused = ctx.TurnMessages().AddAll(history)
				next()
				return nil
			}}})
			if result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil || result.Status != event.Ack {
				t.Error(result, err)
			}
			return refused
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := &deadly{Engine: native.New()}
				h := turns.NewHost(turns.HostOptions{Engine: engine, Instances: 1, Limits: abi.Limits{Frame: 64 << 10}, Verify: true})
				defer h.Close(context.Background())
				r, ended := atGate(t, h)
				if err := say(t, h); !errors.Is(err, host.CodeABILimitExceeded) {
					t.Error(err)
				}
				synctest.Wait()
				if g, ok := r.Gate("g"); ok {
					_ = g.Resolve(true)
				}
				if result := <-ended; result.Status != event.Ack {
					t.Errorf("%+v", result)
				}
				if engine.opened != 1 {
					t.Errorf("%d instances", engine.opened)
				}
			})
		})
	}
}

// What the host's collections have got reaches the core also when the frame behind it is too large.
func TestEditsBeforeATooLargeFrame(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		half := strings.Repeat("x", 9<<20)
		_, result := play(t, h, turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, hs *turns.Helpers) error {
			if err := ctx.TurnMessages().Add(message("a", "x")); err != nil {
				return err
			}
			if err := hs.ReportToolCall("c", event.ToolCallReport{Tool: "t", Args: map[string]any{"a": half, "b": half}}); !errors.Is(err, host.CodeABILimitExceeded) {
				t.Error(err)
			}
			return errors.Join(ctx.StoreMessage(message("b", "x")), ctx.Ack())
		}}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Error(result.Err)
		}
	})
}

// The reason of an abort may be long: it comes back as it was, and the turn is aborted, not the instance.
func TestLongReasons(t *testing.T) {
	engine := &deadly{Engine: native.New()}
	h := turns.NewHost(turns.HostOptions{Engine: engine, Instances: 1, Limits: abi.Limits{Frame: 64 << 10}})
	defer h.Close(context.Background())
	long := &host.Error{Message: strings.Repeat("é", 70<<10), Cause: errors.New(strings.Repeat("y", 70<<10))}
	for _, by := range []string{"abort", "context"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(d *turns.DispatchContext, _ *turns.Helpers) error {
			if by == "abort" {
				d.Abort(long)
			} else {
				cancel(long)
			}
			return d.StoreMessage(message("a", "x"))
		}})
		result, err := finished(r.Run(ctx, turns.TurnInput{SystemPrompt: "test"}))
		if err != nil || result.Status != event.Aborted || result.Err != error(long) {
			t.Errorf("%s: %+v, %v", by, result, err)
		}
	}
	r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(*turns.DispatchContext, *turns.Helpers) error { return long }})
	if result, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})); err != nil || result.Status != event.Nack || !errors.Is(result.Err, long) {
		t.Errorf("%+v, %v", result, err)
	}
	if engine.opened != 1 {
		t.Errorf("%d instances", engine.opened)
	}
}

// A history that the program has let go of is there for the turn that has taken it over.
func TestHistoryThatNobodyHolds(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		_, result := play(t, h, turns.TurnRunnerConfig{
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				gone := make(chan struct{})
				func() {
					history, err := turns.NewHistory(message("a", "x"))
					if err != nil {
						t.Fatal(err)
					}
					if err := ctx.TurnMessages().AddAll(history); err != nil {
						t.Fatal(err)
					}
					runtime.AddCleanup(new([16]int), func(c chan struct{}) { close(c) }, gone)
				}()
				for waits := true; waits; { // cleanups run one after the other
					runtime.GC()
					select {
					case <-gone:
						waits = false
					default:
						runtime.Gosched()
					}
				}
				next()
				return nil
			}},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				if n := ctx.TurnMessages().Len(); n != 1 {
					t.Errorf("%d messages", n)
				}
				return ctx.Ack()
			},
		}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Error(result.Err)
		}
	})
}

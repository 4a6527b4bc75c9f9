package turns_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// forger is an engine whose instances answer some frames of turns themselves.
type forger struct {
	host.Engine
	// answer returns what a frame is answered with; ok is false for a frame that the core is to answer.
	answer func(op abi.Op, turn uint32) (out []abi.Frame, ok bool)
}

type forgerInstance struct {
	host.Instance
	engine *forger
}

func (e *forger) Open(ctx context.Context) (host.Instance, error) {
	inst, err := e.Engine.Open(ctx)
	return &forgerInstance{inst, e}, err
}

func (i *forgerInstance) Step(dst, in []byte) ([]byte, error) {
	for rest := in; len(rest) > 0; {
		op, frame, more, err := abi.Next(rest, abi.Limits{})
		if err != nil {
			return dst, err
		}
		rest = more
		r := abi.NewReader(frame[2:])
		if out, ok := i.engine.answer(op, uint32(r.Uint(1<<32-1))); ok {
			for _, f := range out {
				dst = abi.Append(dst, f)
			}
			return dst, nil
		}
	}
	return i.Instance.Step(dst, in)
}

// An instance that has lost a turn ends with it: no caller waits for what never comes.
func TestLostTurns(t *testing.T) {
	due := uint64(0)
	for name, c := range map[string]struct {
		answer func(op abi.Op, turn uint32) ([]abi.Frame, bool)
		after  time.Duration
		says   string
	}{
		"silent from the start": {func(op abi.Op, _ uint32) ([]abi.Frame, bool) { return nil, op == abi.OpStartTurn }, 0, "waits for nothing"},
		"silent after a result": {func(op abi.Op, _ uint32) ([]abi.Frame, bool) { return nil, op == abi.OpResult }, 0, "waits for nothing"},
		"silent after a tick": {func(op abi.Op, turn uint32) ([]abi.Frame, bool) {
			if op == abi.OpStartTurn {
				return []abi.Frame{&abi.Timer{Turn: turn, Due: 1000}}, true
			}
			return nil, op == abi.OpTick
		}, time.Second, "waits for nothing"},
		"busy with timers": {func(op abi.Op, turn uint32) ([]abi.Frame, bool) {
			if op == abi.OpStartTurn || op == abi.OpTick || op == abi.OpAbort {
				due++
				return []abi.Frame{&abi.Timer{Turn: turn, Due: due}}, true
			}
			return nil, false
		}, 15 * time.Second, "did not end within 5s of its abort"},
		"deaf to an abort": {func(op abi.Op, turn uint32) ([]abi.Frame, bool) {
			if op == abi.OpStartTurn {
				return []abi.Frame{&abi.Timer{Turn: turn, Due: 1_000_000}}, true
			}
			return nil, op == abi.OpAbort
		}, 15 * time.Second, "did not end within 5s of its abort"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := turns.NewHost(turns.HostOptions{Engine: &forger{native.New(), c.answer}, Instances: 1})
				defer h.Close(context.Background())
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack})
				start := time.Now()
				result, err := r.Run(ctx, turns.TurnInput{SystemPrompt: "test"})
				if result != nil && err == nil {
					err = result.Err
				}
				if !errors.Is(err, host.CodeInstanceFailed) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %q", err, c.says)
				}
				if took := time.Since(start).Round(time.Second); took != c.after {
					t.Errorf("took %v, want %v", took, c.after)
				}
			})
		})
	}
}

// A second end retires the instance; the turn stays what the first end made it.
func TestSecondEnd(t *testing.T) {
	for _, further := range []int{0, 1} {
		engine := &sized{Engine: &forger{native.New(), func(op abi.Op, turn uint32) ([]abi.Frame, bool) {
			return slices.Repeat([]abi.Frame{&abi.End{Turn: turn, Status: abi.StatusAck}}, 1+further), op == abi.OpStartTurn
		}}}
		h := turns.NewHost(turns.HostOptions{Engine: engine, Instances: 1})
		defer h.Close(context.Background())
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack})
		result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
		if err != nil || result.Status != event.Ack {
			t.Errorf("%d ends more: %+v, %v", further, result, err)
		}
		if retired := engine.instances[0].retired.Load(); retired != (further > 0) {
			t.Errorf("%d ends more: retired is %t", further, retired)
		}
	}
}

// User code that is slow to hear of an abort is no lost turn, however long it takes.
func TestSlowCodeAfterAnAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := turns.NewHost(turns.HostOptions{Engine: native.New(), Instances: 1})
		defer h.Close(context.Background())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(*turns.DispatchContext, *turns.Helpers) error {
			time.Sleep(time.Hour)
			return nil
		}})
		if result, _ := r.Run(ctx, turns.TurnInput{SystemPrompt: "test"}); result == nil || result.Status != event.Aborted {
			t.Errorf("%+v", result)
		}
	})
}

// What a step may say is bounded in frames, and nothing of one that says more is decoded.
func TestFloodOfFrames(t *testing.T) {
	flood := func(n int) func(op abi.Op, turn uint32) ([]abi.Frame, bool) {
		return func(op abi.Op, turn uint32) ([]abi.Frame, bool) {
			if op != abi.OpStartTurn {
				return nil, false
			}
			list := make([]abi.Frame, n)
			for i := range list {
				list[i] = &abi.Cancel{Turn: turn, Effect: 1}
			}
			return append(list, &abi.Effect{Turn: turn + 1}), true // of no turn, so that it is told which check comes first
		}
	}
	for n, says := range map[int]string{
		abi.MaxStepFrames:     "the step gave more than 262144 frames",
		abi.MaxStepFrames - 1: "a frame of turn",
	} {
		h := turns.NewHost(turns.HostOptions{Engine: &forger{native.New(), flood(n)}, Instances: 1})
		defer h.Close(context.Background())
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack})
		result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
		if result != nil && err == nil {
			err = result.Err
		}
		if !errors.Is(err, host.CodeInstanceFailed) || !strings.Contains(err.Error(), says) {
			t.Errorf("%d frames: %v, want %q", n+1, err, says)
		}
	}
}

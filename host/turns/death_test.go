package turns_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// mortal is an engine whose instances answer as they are told to.
type mortal struct {
	host.Engine
	spoil func(out []byte, err error) ([]byte, error)
}

type mortalInstance struct {
	host.Instance
	engine *mortal
}

func (e *mortal) Open(ctx context.Context) (host.Instance, error) {
	inst, err := e.Engine.Open(ctx)
	return &mortalInstance{inst, e}, err
}

func (i *mortalInstance) Step(dst, in []byte) ([]byte, error) {
	n := len(dst)
	out, err := i.Instance.Step(dst, in)
	if i.engine.spoil != nil {
		answer, err := i.engine.spoil(out[n:], err)
		return append(out[:n:n], answer...), err
	}
	return out, err
}

// turnOf is the turn of an answer, which begins with an event.
func turnOf(t *testing.T, out []byte) uint32 {
	t.Helper()
	_, frame, _, err := abi.Next(out, abi.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := abi.Decode[abi.Event](frame)
	if err != nil {
		t.Fatal(err)
	}
	return f.Turn
}

func TestInstanceDies(t *testing.T) {
	engine := &mortal{Engine: native.New()}
	h := turns.NewHost(turns.HostOptions{Engine: engine, Instances: 1})
	defer h.Close(context.Background())
	for _, c := range []struct {
		name  string
		heard string // of the answer that was spoiled
		says  string // the error, among other things
		spoil func([]byte, error) ([]byte, error)
	}{
		{"failed step", "", "trap", func([]byte, error) ([]byte, error) { return nil, host.NewError(host.CodeInstanceFailed, "trap", nil) }},
		{"no frame", "", "at byte 0", func([]byte, error) ([]byte, error) { return []byte{0xc1}, nil }},
		{"truncated frame", "msg ", "truncated", func(out []byte, err error) ([]byte, error) { return append(out, 0x92, 35), err }},
		{"another turn's frame", "msg ", "turn 4000000", func(out []byte, err error) ([]byte, error) {
			return abi.Append(out, &abi.Cancel{Turn: 4_000_000, Effect: 1}), err
		}},
		{"effect of an unknown kind", "msg ", "kind 99 is unknown", func(out []byte, err error) ([]byte, error) {
			return abi.Append(out, &abi.Effect{Turn: turnOf(t, out), Effect: 77, Kind: 99}), err
		}},
		{"record whose result is not kept", "msg ", "nothing is kept of effect 7", func(out []byte, err error) ([]byte, error) {
			body := (&abi.ToolCall{ID: "c", Tool: "t", Args: abi.Raw{0x80}, Results: abi.Raw{0xa1, 'r'}}).Append(nil)
			return abi.Append(out, &abi.Sync{Turn: turnOf(t, out), Context: 1, Collection: abi.CollectionToolCalls, Handle: -1, Other: 7, Data: abi.Bytes(body)}), err
		}},
		{"event whose result is not kept", "msg ", "nothing is kept of effect 7", func(out []byte, err error) ([]byte, error) {
			payload := (&abi.ToolCallEvent{ID: "c", Results: abi.ResultsKept, Kept: 7}).Append(nil)
			return abi.Append(out, &abi.Event{Turn: turnOf(t, out), Seq: 4, Kind: abi.EventToolCall, Dispatch: 1, Scope: abi.ScopeTurn, Payload: payload}), err
		}},
		{"frame of the other direction", "msg ", "frame 11", func(out []byte, err error) ([]byte, error) {
			return abi.Append(out, &abi.Tick{Turn: turnOf(t, out)}), err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := &recorder{}
			r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
				engine.spoil = c.spoil
				defer func() { engine.spoil = nil }()
				if err := helpers.ReportMessage("m", "x", false); !errors.Is(err, host.CodeInstanceFailed) {
					t.Errorf("the call returned %v", err)
				}
				if err := ctx.Ack(); !errors.Is(err, host.CodeInstanceFailed) {
					t.Errorf("the next call returned %v", err)
				}
				return nil
			}})
			r.OnAny(log.add)
			result, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}))
			if err != nil || result.Status != event.Failed || !errors.Is(result.Err, host.CodeInstanceFailed) {
				t.Fatalf("%+v, %v", result, err)
			}
			if !strings.Contains(result.Err.Error(), c.says) {
				t.Errorf("%v, want %q", result.Err, c.says)
			}
			want := started + c.heard + "iE(0,nack) dE(nack,1,E_INSTANCE_FAILED) err(E_INSTANCE_FAILED) tE(failed,E_INSTANCE_FAILED)"
			if got := log.words(); got != want {
				t.Errorf("events\n got %s\nwant %s", got, want)
			}
			for i, ev := range log.events {
				if ev.Meta().Seq != uint32(i+1) {
					t.Errorf("%s has seq %d", word(ev), ev.Meta().Seq)
				}
			}
			// A further turn gets an instance of its own.
			r = newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack})
			if result, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})); err != nil || result.Status != event.Ack {
				t.Errorf("the next turn: %+v, %v", result, err)
			}
		})
	}
}

// When an instance dies all its turns end, also those whose own code is busy elsewhere.
func TestInstanceDiesUnderOtherTurns(t *testing.T) {
	engine := &mortal{Engine: native.New()}
	h := turns.NewHost(turns.HostOptions{Engine: engine, Instances: 1})
	defer h.Close(context.Background())
	busy, heard := make(chan struct{}), make(chan struct{})
	waiting := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		close(busy)
		<-ctx.Done() // the turn's end cancels it
		return nil
	}})
	waiting.Observe(event.KindTurnEnd, func(event.Event) { close(heard) })
	var wg sync.WaitGroup
	wg.Go(func() {
		result, err := finished(waiting.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}))
		if err != nil || !errors.Is(result.Err, host.CodeInstanceFailed) {
			t.Errorf("%+v, %v", result, err)
		}
	})
	<-busy
	dying := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		engine.spoil = func([]byte, error) ([]byte, error) { return nil, host.NewError(host.CodeInstanceFailed, "trap", nil) }
		return ctx.Ack()
	}})
	if result, err := finished(dying.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})); err != nil || result.Status != event.Failed {
		t.Errorf("%+v, %v", result, err)
	}
	select {
	case <-heard:
	case <-time.After(10 * time.Second):
		t.Fatal("the other turn did not end")
	}
	wg.Wait()
}

// A result that no frame can hold fails its effect, not the turn's instance.
func TestOversizedValues(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		big := string(make([]byte, 17<<20))
		_, result := play(t, h, turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
			for what, err := range map[string]error{
				"report": helpers.ReportMessage("m", big, false),
				"store":  ctx.StoreMessage(message("m", big)),
				"add":    ctx.TurnMessages().Add(message("m", big)),
				"stash":  ctx.Stash().Set("k", big),
			} {
				if !errors.Is(err, host.CodeABILimitExceeded) && !errors.Is(err, host.CodeInvalidValue) {
					t.Errorf("%s: %v", what, err)
				}
			}
			return ctx.Ack()
		}}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Errorf("%+v", result)
		}
	})
}

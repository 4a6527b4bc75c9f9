package turns_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/fair"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// slow is an engine whose steps take until somebody lets them end, and that writes down what they were for.
type slow struct {
	host.Engine
	step chan struct{} // an element lets a step end; nil for all at once
	log  []string
}

type slowInstance struct {
	host.Instance
	engine *slow
	mu     fair.Mutex
}

func (e *slow) Open(ctx context.Context) (host.Instance, error) {
	inst, err := e.Engine.Open(ctx)
	return &slowInstance{inst, e, fair.NewMutex()}, err
}

func (i *slowInstance) Step(dst, in []byte) ([]byte, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if e := i.engine; e.step != nil {
		for rest := in; len(rest) > 0; {
			op, frame, more, err := abi.Next(rest, abi.Limits{})
			if err != nil {
				return nil, err
			}
			rest = more
			switch op {
			case abi.OpCall:
				if f, err := abi.Decode[abi.Call](frame); err == nil && f.Method == abi.MethodSettleGate {
					e.log = append(e.log, "answer")
				} else if err == nil && f.Method == abi.MethodStore {
					args, _ := abi.Decode[abi.StoreArgs](f.Args)
					body, _ := abi.BytesOf(args.Data)
					m, _ := abi.Decode[abi.Message](body)
					e.log = append(e.log, m.ID)
				}
			case abi.OpAbort:
				e.log = append(e.log, "abort")
			}
		}
		<-e.step
	}
	return i.Instance.Step(dst, in)
}

// Turns step in the order in which they wanted to. Whoever answers a gate, or aborts, waits for none but the step in
// hand.
func TestAnswersGoFirst(t *testing.T) {
	for _, c := range []struct {
		name   string
		settle func(g event.OpenGate, abort context.CancelCauseFunc)
	}{
		{"answer", func(g event.OpenGate, _ context.CancelCauseFunc) { _ = g.Resolve(true) }},
		{"abort", func(_ event.OpenGate, abort context.CancelCauseFunc) { abort(nil) }},
	} {
		t.Run(c.name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { answerAmong(t, c.name, c.settle) }) })
	}
}

func answerAmong(t *testing.T, name string, settle func(event.OpenGate, context.CancelCauseFunc)) {
	const others = 5
	engine := &slow{Engine: native.New()}
	h := turns.NewHost(turns.HostOptions{Engine: engine, Instances: 1})
	defer h.Close(context.Background())
	var gate event.OpenGate
	waits := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		if _, err := ctx.WaitFor(context.Background(), approval("g")); err != nil {
			return err
		}
		return ctx.Ack()
	}})
	turns.Listen(waits, func(ev *event.TurnGateOpen) { gate = ev.Gate })
	store := make(chan string)
	works := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		if err := ctx.StoreMessage(record.NewMessage(<-store, record.Assistant, "Done.", instant)); err != nil {
			return err
		}
		return ctx.Ack()
	}})
	ctx, abort := context.WithCancelCause(t.Context())
	defer abort(nil)
	var running sync.WaitGroup
	running.Go(func() { _, _ = waits.Run(ctx, turns.TurnInput{SystemPrompt: "test"}) })
	for range others {
		running.Go(func() {
			if result, err := works.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil || result.Status != event.Ack {
				t.Error(result, err)
			}
		})
	}
	synctest.Wait()

	engine.step = make(chan struct{})
	var want []string
	for i := range others {
		store <- fmt.Sprint("m", i)
		synctest.Wait() // the first is in its step, the others wait
		want = append(want, fmt.Sprint("m", i))
	}
	running.Go(func() { settle(gate, abort) })
	synctest.Wait()
	for range others + 1 {
		engine.step <- struct{}{}
		synctest.Wait()
	}
	want = slices.Insert(want, 1, name)
	if got := engine.log[:min(len(engine.log), len(want))]; !slices.Equal(got, want) {
		t.Errorf("steps of %v, want %v", got, want)
	}
	close(engine.step)
	running.Wait()
}

package turns_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// sized is an engine whose instances are as large as a test says.
type sized struct {
	host.Engine
	mu        sync.Mutex
	instances []*sizedInstance
}

type sizedInstance struct {
	host.Instance
	size    atomic.Uint64
	retired atomic.Bool
}

func (e *sized) Open(ctx context.Context) (host.Instance, error) {
	inst, err := e.Engine.Open(ctx)
	i := &sizedInstance{Instance: inst}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.instances = append(e.instances, i)
	return i, err
}

func (i *sizedInstance) MemoryBytes() uint64 { return i.size.Load() }

func (i *sizedInstance) Retire(cause error) error {
	i.retired.Store(true)
	return i.Instance.Retire(cause)
}

// An instance beyond its mark takes no further turns: a fresh one does, two of them drain at most, and the turns that
// wait in those go on to their ends, with gates, listeners and histories that are the runner's.
func TestInstancesDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &sized{Engine: native.New()}
		h := turns.NewHost(turns.HostOptions{Engine: engine, HighWater: 1000, Instances: 1})
		defer h.Close(context.Background())
		history, err := turns.NewHistory(message("a", "x"))
		if err != nil {
			t.Fatal(err)
		}
		r := newRunner(t, turns.TurnRunnerConfig{
			Host: h,
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				next()
				return ctx.TurnMessages().AddAll(history)
			}},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				if _, err := ctx.WaitFor(context.Background(), approval(ctx.ID())); err != nil {
					return err
				}
				return ctx.Ack()
			},
		})
		var mu sync.Mutex
		heard := 0
		r.Observe(event.KindTurnEnd, func(event.Event) { mu.Lock(); heard++; mu.Unlock() })
		results := make(chan *turns.Result, 3)
		park := func(id string) {
			go func() {
				result, err := r.Run(t.Context(), turns.TurnInput{TurnID: id, SystemPrompt: "test"})
				if err != nil {
					t.Error(err)
				}
				results <- result
			}()
			synctest.Wait()
		}
		settle := func(id string) {
			g, ok := r.Gate(id + ".d1")
			if !ok {
				t.Fatalf("no gate of turn %s is open", id)
			}
			if err := g.Resolve(true); err != nil {
				t.Error(err)
			}
			if result := <-results; result.Status != event.Ack {
				t.Errorf("turn %s: %+v", id, result)
			}
			synctest.Wait()
		}

		for i, id := range []string{"a", "b", "c"} {
			park(id)
			if n := len(engine.instances); n != i+1 {
				t.Fatalf("%d instances with %d turns", n, i+1)
			}
			engine.instances[i].size.Store(1001)
		}
		_, err = r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
		var coded *host.Error
		if !errors.As(err, &coded) || coded.Code != host.CodeOverloaded || coded.Status != 503 || coded.Details.(map[string]any)["retryAfterMs"] != 1000 {
			t.Errorf("%+v", err)
		}
		if n := len(r.Gates()); n != 3 {
			t.Errorf("%d gates are open", n)
		}

		settle("b")
		if !engine.instances[1].retired.Load() {
			t.Error("an instance that has drained is alive")
		}
		park("d")
		if n := len(engine.instances); n != 4 {
			t.Errorf("%d instances", n)
		}
		for _, id := range []string{"a", "c", "d"} {
			settle(id)
		}
		for i, inst := range engine.instances {
			if inst.retired.Load() == (i == 3) {
				t.Errorf("instance %d: retired is %v", i, inst.retired.Load())
			}
		}
		if heard != 4 {
			t.Errorf("%d turns were heard to end", heard)
		}
	})
}

// An idle instance beyond its mark ends without being counted.
func TestIdleInstanceIsReplaced(t *testing.T) {
	engine := &sized{Engine: native.New()}
	h := turns.NewHost(turns.HostOptions{Engine: engine, HighWater: 1000, Instances: 1})
	defer h.Close(context.Background())
	r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: ack})
	for n := range 5 {
		if result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil || result.Status != event.Ack {
			t.Fatal(result, err)
		}
		if len(engine.instances) != n+1 || n > 0 && !engine.instances[n-1].retired.Load() {
			t.Errorf("%d instances after %d turns", len(engine.instances), n+1)
		}
		engine.instances[n].size.Store(1001)
	}
}

// Closing the host ends the turns of instances that drain, too.
func TestCloseEndsDrainingInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &sized{Engine: native.New()}
		h := turns.NewHost(turns.HostOptions{Engine: engine, HighWater: 1000, Instances: 1})
		_, first := atGate(t, h)
		engine.instances[0].size.Store(1001)
		_, second := atGate(t, h)
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		for _, ended := range []chan *turns.Result{first, second} {
			select {
			case result := <-ended:
				if !errors.Is(result.Err, turns.ErrClosed) {
					t.Errorf("%+v", result)
				}
			case <-time.After(time.Hour):
				t.Fatal("a turn outlived its host")
			}
		}
	})
}

package sessions_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// measured is an engine whose instances tell how much memory they have.
type measured struct {
	host.Engine
	instances atomic.Pointer[host.Instance]
	started   atomic.Int32
}

func (m *measured) Open(ctx context.Context) (host.Instance, error) {
	in, err := m.Engine.Open(ctx)
	if err == nil {
		m.instances.Store(&in)
		m.started.Add(1)
	}
	return in, err
}

// TestLeftInvocationsKeepNothing leaves many invocations at one of their first events: neither goroutines nor memory of
// the host or of the module grow with their number.
func TestLeftInvocationsKeepNothing(t *testing.T) {
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc) //nolint:gosec // far less
	}
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			own := &measured{Engine: engine}
			agent := &sessions.ParallelAgent{Name: "both", Agents: []sessions.Agent{
				&sessions.LLMAgent{
					Name: "m", Tools: []*turns.Tool{tool("t", func(*sessions.ToolContext) (any, error) { return "ok", nil })},
					Executor: func(_ *sessions.ModelContext, yield func(*sessions.Response) error) error {
						if err := yield(&sessions.Response{Content: sessions.ModelText("He"), Partial: true}); err != nil {
							return err
						}
						return yield(calls("t")[0])
					},
				},
				gives("c", said("one"), said("two")),
			}}
			p := stage(t, sessions.Config{Engine: own, Agent: agent, MaxModelCalls: 3})
			leave := func(n int) {
				for i := range n {
					at := 0
					for _, err := range p.r.Run(t.Context(), input(sessions.Text("hello"))) {
						if err != nil {
							t.Fatal(err)
						}
						if at++; at > i%3 {
							break
						}
					}
					if err := p.r.Sessions().Delete(t.Context(), "u", "s"); err != nil {
						t.Fatal(err)
					}
					p.create("u", "s", nil)
				}
			}
			leave(500)
			goroutines, before, memory := runtime.NumGoroutine(), heap(), (*own.instances.Load()).MemoryBytes()
			leave(3_000)
			for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if n := runtime.NumGoroutine(); n > goroutines+2 {
				t.Errorf("there are %d goroutines, and were %d", n, goroutines)
			}
			if grown := heap() - before; grown > 1<<20 {
				t.Errorf("the heap has grown by %d KiB", grown>>10)
			}
			if now := (*own.instances.Load()).MemoryBytes(); now > memory+5<<20 {
				t.Errorf("the module's memory has grown from %d KiB to %d", memory>>10, now>>10)
			}
			if n := own.started.Load(); n != 1 {
				t.Errorf("%d instances were started", n)
			}
			t.Logf("goroutines %d, heap grown %d KiB, memory %d KiB", runtime.NumGoroutine(), (heap()-before)>>10, (*own.instances.Load()).MemoryBytes()>>10)
		})
	}
}

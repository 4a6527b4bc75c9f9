package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/core"
)

// tenants share a process. One of them is hostile.
const tenants = 20

// pause is how long a good tenant waits between two turns, so that what is measured is not a queue for the processors.
const pause = 10 * time.Millisecond

// tenancy is how long they do, half of it before the hostile one comes: 10 minutes in the long tests, or what
// TURNCORE_TENANCY says.
func tenancy(t *testing.T) time.Duration {
	if text := os.Getenv("TURNCORE_TENANCY"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if os.Getenv("TURNCORE_LONG") != "" {
		return 10 * time.Minute
	}
	return 4 * time.Second
}

// TestTenants runs the turns of 20 tenants in one process, each on instances of its own. In the second half one of them
// runs every module of the table, again and again; turns of the others go on and succeed. What they took is printed.
func TestTenants(t *testing.T) {
	ctx := context.Background()
	module, ok := core.Module()
	if !ok {
		t.Fatal("this build carries no module: run `make wasm` first")
	}
	e, err := wazero.New(ctx, module, wazero.WithFuel(engine.Fuel{}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(ctx)
	half := tenancy(t) / 2
	var hostile atomic.Bool
	stop := make(chan struct{})
	took := [2][tenants - 1][]time.Duration{} // without the hostile tenant, and with it
	var good sync.WaitGroup
	for n := range tenants - 1 {
		h := turns.NewHost(turns.HostOptions{Engine: e})
		r, err := turns.NewTurnRunner(turns.TurnRunnerConfig{Host: h, Callbacks: noStorage(), Tools: []*turns.Tool{add}, Executor: addOnce})
		if err != nil {
			t.Fatal(err)
		}
		good.Go(func() {
			defer func() { _ = errors.Join(r.Close(), h.Close(ctx)) }()
			for {
				select {
				case <-stop:
					return
				case <-time.After(pause):
				}
				phase := 0
				if hostile.Load() {
					phase = 1
				}
				start := time.Now()
				result, err := r.Run(ctx, turns.TurnInput{SystemPrompt: "test"})
				if err != nil || result.Status != event.Ack {
					t.Errorf("a turn of tenant %d ends with %v, %v", n, result, err)
					return
				}
				took[phase][n] = append(took[phase][n], time.Since(start))
			}
		})
	}
	time.Sleep(half)
	before := memory(t)
	hostile.Store(true)
	var collections, ended int
	for c, until := load(t), time.Now().Add(half); time.Now().Before(until); {
		m := c.Modules[ended%len(c.Modules)]
		err := ending(t, assembled(t, c, m))
		var coded *host.Error
		if !errors.As(err, &coded) || coded.Code != m.Code {
			t.Errorf("%s ends with %v, want %s", m.Name, err, m.Code)
		}
		ended++
		runtime.GC()
		collections++
	}
	close(stop)
	good.Wait()
	after := memory(t)
	for phase, name := range []string{"without a hostile tenant", "with one"} {
		var all []time.Duration
		for _, of := range took[phase] {
			if len(of) == 0 {
				t.Errorf("%s: a tenant has run no turn", name)
			}
			all = append(all, of...)
		}
		if len(all) > 0 {
			t.Logf("%s: %d turns in %v, p50 %v, p90 %v, p99 %v, longest %v", name, len(all), half, percentile(all, 50), percentile(all, 90), percentile(all, 99), percentile(all, 100))
		}
	}
	t.Logf("%d hostile modules ended, %d collections, %d goroutines; alive on the heap: %d KiB before, %d KiB after",
		ended, collections, runtime.NumGoroutine(), before>>10, after>>10)
	if ended == 0 {
		t.Error("the hostile tenant ran nothing")
	}
	if after > before+32<<20 {
		t.Errorf("the heap has grown from %d to %d KiB", before>>10, after>>10)
	}
}

// add is the tool of the good tenants.
var add = &turns.Tool{
	Name: "add", Description: "Adds two numbers.",
	InputSchema: `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`,
	Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) {
		return args.Number("a") + args.Number("b"), nil
	},
}

// addOnce calls the tool in the first iteration and ends in the second.
func addOnce(ctx *turns.DispatchContext, _ *turns.Helpers) error {
	if ctx.Iteration() > 0 {
		return ctx.Ack()
	}
	sum, err := add.Executor(ctx)(map[string]any{"a": 1, "b": 2})
	if err == nil && fmt.Sprint(sum) != "3" {
		err = fmt.Errorf("1 and 2 make %v", sum)
	}
	return err
}

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

// tenancy is how long they do, half of it without the hostile one: 10 minutes in the long tests, or what
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

// rounds is how often the hostile one comes and goes: every minute in a run of ten.
func rounds(d time.Duration) int { return max(1, int(d/time.Minute)) }

// TestTenants runs the turns of 20 tenants in one process, each on instances of its own. In the second half of each
// round one of them runs every module of the table, again and again; turns of the others go on and succeed, and so do
// collections of garbage, one a second throughout. What they took is printed, also for each round: how far the halves
// without the hostile tenant differ from each other is the run's own noise.
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
	c := load(t)
	files := make([][]byte, len(c.Modules))
	for i, m := range c.Modules {
		files[i] = assembled(t, c, m)
	}
	all := tenancy(t)
	half := all / 2 / time.Duration(rounds(all))
	var part atomic.Int32 // halves of rounds that have ended
	stop := make(chan struct{})
	var took [tenants - 1][][]time.Duration // of each tenant, in each half
	var good sync.WaitGroup
	for n := range tenants - 1 {
		h := turns.NewHost(turns.HostOptions{Engine: e})
		r, err := turns.NewTurnRunner(turns.TurnRunnerConfig{Host: h, Callbacks: noStorage(), Tools: []*turns.Tool{add}, Executor: addOnce})
		if err != nil {
			t.Fatal(err)
		}
		took[n] = make([][]time.Duration, 2*rounds(all))
		good.Go(func() {
			defer func() { _ = errors.Join(r.Close(), h.Close(ctx)) }()
			for {
				select {
				case <-stop:
					return
				case <-time.After(pause):
				}
				half := part.Load()
				start := time.Now()
				result, err := r.Run(ctx, turns.TurnInput{SystemPrompt: "test"})
				if err != nil || result.Status != event.Ack {
					t.Errorf("a turn of tenant %d ends with %v, %v", n, result, err)
					return
				}
				took[n][half] = append(took[n][half], time.Since(start))
			}
		})
	}
	var collections [2][]time.Duration // without the hostile tenant, and with it
	good.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(min(time.Second, all/8)):
			}
			phase, start := part.Load()%2, time.Now()
			runtime.GC()
			collections[phase] = append(collections[phase], time.Since(start))
		}
	})
	var before uint64
	ended := 0
	for round := range rounds(all) {
		time.Sleep(half)
		if round == 0 {
			before = memory(t)
		}
		part.Add(1)
		for until := time.Now().Add(half); time.Now().Before(until); ended++ {
			m := c.Modules[ended%len(c.Modules)]
			err := ending(t, files[ended%len(files)])
			var coded *host.Error
			if !errors.As(err, &coded) || coded.Code != m.Code {
				t.Errorf("%s ends with %v, want %s", m.Name, err, m.Code)
			}
		}
		if round < rounds(all)-1 {
			part.Add(1)
		}
	}
	close(stop)
	good.Wait()
	after := memory(t)
	for phase, name := range []string{"without a hostile tenant", "with one"} {
		var together, of []time.Duration
		var p99 []time.Duration // of each round
		for half := phase; half < 2*rounds(all); half += 2 {
			of = of[:0]
			for n := range took {
				if len(took[n][half]) == 0 {
					t.Errorf("%s: tenant %d has run no turn", name, n)
				}
				of = append(of, took[n][half]...)
			}
			together = append(together, of...)
			if len(of) > 0 {
				p99 = append(p99, percentile(of, 99))
			}
		}
		if len(collections[phase]) == 0 {
			t.Errorf("%s: no collection has ended", name)
		} else {
			t.Logf("%s: %d collections, p50 %v, longest %v", name, len(collections[phase]),
				percentile(collections[phase], 50), percentile(collections[phase], 100))
		}
		if len(together) > 0 {
			t.Logf("%s: %d turns in %v, p50 %v, p90 %v, p99 %v, longest %v; p99 of each round %v", name, len(together), all/2,
				percentile(together, 50), percentile(together, 90), percentile(together, 99), percentile(together, 100), p99)
		}
	}
	t.Logf("%d hostile modules ended, %d goroutines; alive on the heap: %d KiB before, %d KiB after",
		ended, runtime.NumGoroutine(), before>>10, after>>10)
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

// Package hostile holds engines against the modules of package corpus, which want to harm their host.
package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hostile/internal/corpus"
	"github.com/turncore/turncore/host/internal/shard"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
)

// pages bound the memory of the engines that the modules run on: 64 MiB.
const pages = 1024

// units are the fuel for a start, and for each step.
func units() int64 {
	if os.Getenv("TURNCORE_LONG") != "" {
		return 100_000_000
	}
	return 5_000_000
}

// load reads the corpus.
func load(t testing.TB) *corpus.Corpus {
	t.Helper()
	c, err := corpus.Load("../testdata/hostile", 2)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// some are the modules, or the part of them that the environment variable MODULES_SHARD names: 2/4 is every fourth, the
// second first.
func some(t testing.TB, c *corpus.Corpus) (modules []corpus.Module) {
	t.Helper()
	mine := shard.FromEnv(t, "MODULES_SHARD")
	for i, m := range c.Modules {
		if mine.Has(i) {
			modules = append(modules, m)
		}
	}
	return modules
}

// assembled is a module's file.
func assembled(t testing.TB, c *corpus.Corpus, m corpus.Module) []byte {
	t.Helper()
	file, err := c.Assemble(m)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// ending loads a module and runs a turn on it, and returns how that ends.
func ending(t testing.TB, file []byte) error {
	ctx := context.Background()
	e, err := wazero.New(ctx, file, wazero.WithoutCache(), wazero.WithMemoryLimitPages(pages), wazero.WithFuel(engine.Fuel{Start: units(), Step: units()}))
	if err != nil {
		return err
	}
	kept := &keeper{Engine: e}
	h := turns.NewHost(turns.HostOptions{Engine: kept})
	defer func() {
		if err := errors.Join(h.Close(ctx), e.Close(ctx)); err != nil {
			t.Error(err)
		}
	}()
	r, err := turns.NewTurnRunner(turns.TurnRunnerConfig{Host: h, Callbacks: noStorage(), Executor: ack})
	if err != nil {
		t.Fatal(err)
	}
	r.OnAny(func(ev event.Event) {
		if l, ok := ev.(*event.Log); ok && (!utf8.ValidString(l.Message) || !utf8.Valid(l.Payload)) {
			t.Errorf("an event has invalid UTF-8: %q %q", l.Message, l.Payload)
		}
	})
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	result, err := r.Run(ctx, turns.TurnInput{SystemPrompt: "test"})
	if err == nil {
		err = result.Err
	}
	if err == nil { // the turn has ended well; the instance has not
		_, err = kept.instance.Step(nil, nil)
	}
	return errors.Join(err, r.Close())
}

// keeper is an engine that keeps its last instance.
type keeper struct {
	host.Engine
	instance host.Instance
}

func (k *keeper) Open(ctx context.Context) (host.Instance, error) {
	i, err := k.Engine.Open(ctx)
	k.instance = i
	return i, err
}

func TestModules(t *testing.T) {
	g := newNeighbour(t)
	g.run(t, 300) // warm
	alone := g.run(t, 1000)
	ended := 0
	stop := make(chan struct{})
	beside := make(chan []time.Duration)
	go func() {
		var times []time.Duration
		for {
			select {
			case <-stop:
				beside <- times
				return
			default:
				times = append(times, g.run(t, 1)...)
			}
		}
	}()
	before := memory(t)
	c := load(t)
	for _, m := range some(t, c) {
		t.Run(m.Name, func(t *testing.T) {
			file := assembled(t, c, m)
			var collections atomic.Int64
			done, collected := make(chan struct{}), make(chan struct{})
			go func() { // must go on whatever the module does
				defer close(collected)
				for {
					runtime.GC()
					collections.Add(1)
					select {
					case <-done:
						return
					case <-time.After(5 * time.Millisecond):
					}
				}
			}()
			start := time.Now()
			var err error
			synctest.Test(t, func(t *testing.T) { err = ending(t, file) })
			took := time.Since(start)
			close(done)
			<-collected
			var coded *host.Error
			if !errors.As(err, &coded) || coded.Code != m.Code || !strings.Contains(err.Error(), m.Says) {
				t.Fatalf("%s ends with %v, want %s: %s", m.Does, err, m.Code, m.Says)
			}
			if size := len(err.Error()); size > 10_000 {
				t.Errorf("the error has %d bytes", size)
			}
			t.Logf("%v, %d collections: %.200s", took.Round(time.Millisecond), collections.Load(), err)
			ended++
		})
	}
	close(stop)
	with := <-beside
	if after := memory(t); after > before+16<<20 {
		t.Errorf("the heap has grown from %d to %d KiB", before>>10, after>>10)
	}
	t.Logf("a turn of the neighbour: p50 %v, p99 %v alone; p50 %v, p99 %v beside them (%d turns)",
		percentile(alone, 50), percentile(alone, 99), percentile(with, 50), percentile(with, 99), len(with))
	fmt.Printf("hostile: %d ended\n", ended)
}

// memory is what is alive on the heap.
func memory(t *testing.T) uint64 {
	t.Helper()
	runtime.GC()
	runtime.GC() // finalizers have run after the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// percentile is the time that so many percent of them do not exceed.
func percentile(times []time.Duration, percent int) time.Duration {
	slices.Sort(times)
	return times[(len(times)-1)*percent/100]
}

// A file that claims more than it has is refused where nothing is counted too, before the engine reserves what it
// claims.
func TestClaimsWithoutFuel(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	claims := 0
	c := load(t)
	for _, m := range c.Modules {
		if !strings.HasPrefix(m.Name, "claims-") {
			continue
		}
		claims++
		e, err := wazero.New(t.Context(), assembled(t, c, m), wazero.WithoutCache(), wazero.WithMemoryLimitPages(pages))
		if !errors.Is(err, host.CodeInvalidModule) {
			t.Errorf("%s: %v, want %s", m.Name, err, host.CodeInvalidModule)
		}
		if err == nil {
			_ = e.Close(t.Context())
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; claims < 10 || got > 100 {
		t.Errorf("%d files took %d MiB", claims, got)
	}
}

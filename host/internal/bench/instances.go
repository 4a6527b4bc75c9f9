package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
)

// measureInstances measures instances that share an image of their memory, and turns in several of them. The native
// engine has no images.
func measureInstances(ctx context.Context, p pace, e host.Engine, cache string) ([]figure.Row, error) {
	if e.Name() != wazero.Name {
		return nil, nil
	}
	var rows []figure.Row
	for _, measure := range []func() ([]figure.Row, error){
		func() ([]figure.Row, error) { return measureStarts(ctx, p, e, cache) },
		func() ([]figure.Row, error) { return measureResident(ctx, p, e) },
		func() ([]figure.Row, error) { return measurePair(p, e) },
		func() ([]figure.Row, error) { return measureNeighbours(ctx, p, e, cache) },
	} {
		more, err := measure()
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// measureStarts compares the start of an instance with an image with one without, and turns with an instance of their
// own with those that share one.
func measureStarts(ctx context.Context, p pace, e host.Engine, cache string) ([]figure.Row, error) {
	module, err := moduleBytes(e.Name())
	if err != nil {
		return nil, err
	}
	plain, err := wazero.New(ctx, module, wazero.WithCacheDir(cache), wazero.WithoutImage())
	if err != nil {
		return nil, err
	}
	defer plain.Close(ctx)
	start := func(e host.Engine) *subject {
		return &subject{figure: figure.StartImage, sample: func() (float64, error) {
			begun := time.Now()
			i, err := e.Open(ctx)
			took := time.Since(begun)
			if err != nil {
				return 0, err
			}
			return float64(took), i.Close(ctx)
		}}
	}
	imaged, fresh := start(e), start(plain)
	var subjects [2]*subject
	for i, instances := range []int{1, turns.PerTurn} {
		c, err := newConversation(e, 0, func(config *turns.TurnRunnerConfig) {
			config.Host = turns.NewHost(turns.HostOptions{Engine: e, Instances: instances})
		})
		if err != nil {
			return nil, err
		}
		defer c.close()
		defer c.runner.Host().Close(ctx)
		subjects[i] = timed(figure.PerTurn, c.turn)
	}
	if err := p.measure(imaged, fresh, subjects[0], subjects[1]); err != nil {
		return nil, err
	}
	return []figure.Row{
		imaged.row(e.Name()),
		paired(figure.StartRatio, e.Name(), figure.Times, imaged, fresh, ratio),
		subjects[1].row(e.Name()),
	}, nil
}

// measureResident holds many instances and looks at the program's memory: when they have started, and in the middle of
// the turns that each has one of.
func measureResident(ctx context.Context, p pace, e host.Engine) ([]figure.Row, error) {
	before, err := resident()
	if err != nil {
		return nil, err
	}
	held := make([]host.Instance, p.crowd)
	for i := range held {
		if held[i], err = e.Open(ctx); err != nil {
			return nil, err
		}
	}
	started, err := resident()
	if err != nil {
		return nil, err
	}
	for _, i := range held {
		if err := i.Close(ctx); err != nil {
			return nil, err
		}
	}
	closed, err := resident()
	if err != nil {
		return nil, err
	}
	inTurns, err := residentInTurns(e, p.crowd)
	if err != nil {
		return nil, err
	}
	each := func(bytes float64) float64 { return bytes / float64(p.crowd) / (1 << 20) }
	return []figure.Row{
		single(e, figure.StartMemory, figure.MiB, each(started-before)),
		single(e, figure.TurnMemory, figure.MiB, each(inTurns-closed)),
		single(e, figure.ThousandMemory, figure.MiB, 1000*each(inTurns-closed)),
	}, nil
}

// residentInTurns is the program's memory while so many turns have each an instance of its own, and are about to end.
func residentInTurns(e host.Engine, count int) (float64, error) {
	h := turns.NewHost(turns.HostOptions{Engine: e, Instances: turns.PerTurn})
	defer h.Close(context.Background())
	reached, release := make(chan struct{}, count), make(chan struct{})
	c, err := newConversation(e, 0, func(config *turns.TurnRunnerConfig) {
		config.Host = h
		answer := config.Executor
		config.Executor = func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
			if ctx.Iteration() > 0 {
				reached <- struct{}{}
				<-release
			}
			return answer(ctx, helpers)
		}
	})
	if err != nil {
		return 0, err
	}
	defer c.close()
	failures := make(chan error, count)
	for range count {
		go func() {
			_, err := c.runner.Run(context.Background(), c.input)
			if err != nil {
				reached <- struct{}{}
			}
			failures <- err
		}()
	}
	for range count {
		<-reached
	}
	size, err := resident()
	close(release)
	for range count {
		if err := <-failures; err != nil {
			return 0, err
		}
	}
	return size, err
}

// resident is the program's memory in bytes. Linux counts a page that is mapped several times once.
func resident() (float64, error) {
	runtime.GC()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		text, err = exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(os.Getpid())).Output()
		text = append([]byte("Pss:"), text...)
	}
	if err != nil {
		return 0, fmt.Errorf("resident memory: %w", err)
	}
	for line := range bytes.Lines(text) {
		if rest, found := strings.CutPrefix(string(line), "Pss:"); found {
			var kib float64
			_, err := fmt.Sscan(rest, &kib)
			return kib * 1024, err
		}
	}
	return 0, fmt.Errorf("resident memory: %w", errUnexpected)
}

// measurePair compares the time of turns that run four at a time in two instances with the same in one.
func measurePair(p pace, e host.Engine) ([]figure.Row, error) {
	var subjects [2]*subject
	for i := range subjects {
		h := turns.NewHost(turns.HostOptions{Engine: e, Instances: i + 1})
		defer h.Close(context.Background())
		c, err := newConversation(e, 0, func(config *turns.TurnRunnerConfig) { config.Host = h })
		if err != nil {
			return nil, err
		}
		defer c.close()
		quiet, err := turns.NewTurnRunner(c.config) // without the listener, which counts for one turn at a time
		if err != nil {
			return nil, err
		}
		defer quiet.Close()
		subjects[i] = &subject{figure: figure.PairRatio, sample: func() (float64, error) {
			const together, each = 4, 50
			failures := make([]error, together)
			var running sync.WaitGroup
			begun := time.Now()
			for k := range together {
				running.Go(func() {
					for range each {
						if _, err := quiet.Run(context.Background(), c.input); err != nil {
							failures[k] = err
							return
						}
					}
				})
			}
			running.Wait()
			took := float64(time.Since(begun)) / (together * each)
			for _, err := range failures {
				if err != nil {
					return 0, err
				}
			}
			return took, nil
		}}
	}
	one, two := spinning(1), spinning(2)
	if err := p.measure(subjects[0], subjects[1], one, two); err != nil {
		return nil, err
	}
	return []figure.Row{
		paired(figure.PairRatio, e.Name(), figure.Times, subjects[1], subjects[0], ratio),
		paired(figure.MachineRatio, e.Name(), figure.Times, two, one, ratio),
	}, nil
}

// spinning computes something on so many goroutines, and measures what each part of it takes.
func spinning(goroutines int) *subject {
	return &subject{figure: figure.MachineRatio, sample: func() (float64, error) {
		const parts, rounds = 20, 500_000
		sums := make([]uint64, goroutines)
		var running sync.WaitGroup
		begun := time.Now()
		for k := range sums {
			running.Go(func() {
				sum := uint64(k)
				for range parts / goroutines * rounds {
					sum = sum*6364136223846793005 + 1
				}
				sums[k] = sum
			})
		}
		running.Wait()
		return float64(time.Since(begun)) / parts, nil
	}}
}

// Of a neighbour, and of the deltas beside it.
const (
	neighbourBytes = 7_000_000
	deltaEvery     = time.Millisecond // as fast models stream
)

// measureNeighbours measures deltas beside turns with a message of 7 MB, of a module whose steps nothing interrupts and
// of one that counts what it does, so that Go's garbage collector does not wait for it.
func measureNeighbours(ctx context.Context, p pace, e host.Engine, cache string) ([]figure.Row, error) {
	module, err := moduleBytes(e.Name())
	if err != nil {
		return nil, err
	}
	counted, err := wazero.New(ctx, module, wazero.WithCacheDir(cache), wazero.WithFuel(engine.Fuel{}))
	if err != nil {
		return nil, err
	}
	defer counted.Close(ctx)
	var rows []figure.Row
	for _, of := range []struct {
		figure string
		engine host.Engine
	}{{figure.NeighbourRatio, e}, {figure.NeighbourMetered, counted}} {
		times, err := neighbourRatio(p, of.engine)
		if err != nil {
			return nil, err
		}
		rows = append(rows, single(e, of.figure, figure.Times, times))
	}
	return rows, nil
}

// neighbourRatio compares deltas that come one by one beside such turns with the same alone.
func neighbourRatio(p pace, e host.Engine) (float64, error) {
	h := turns.NewHost(turns.HostOptions{Engine: e, Instances: 2})
	defer h.Close(context.Background())
	var alone, beside []float64
	for range 3 {
		if err := streamPaced(h, p.crowd, false, &alone); err != nil {
			return 0, err
		}
		if err := streamPaced(h, p.crowd, true, &beside); err != nil {
			return 0, err
		}
	}
	return figure.Quantile(beside, 0.9) / figure.Quantile(alone, 0.9), nil
}

// streamPaced streams deltas in a turn, with or without a neighbour, and writes down what each took, in nanoseconds.
func streamPaced(h *turns.Host, deltas int, neighbour bool, samples *[]float64) error {
	var stop atomic.Bool
	stream, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Host: h, Callbacks: noStorage(), Executor: func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
			defer stop.Store(true)
			for range deltas {
				time.Sleep(deltaEvery)
				begun := time.Now()
				if err := helpers.ReportMessage("m1", "a word ", false); err != nil {
					return err
				}
				*samples = append(*samples, float64(time.Since(begun)))
			}
			return ctx.Ack()
		},
	})
	if err != nil {
		return err
	}
	defer stream.Close()
	large, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Host: h, Callbacks: noStorage(), Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() },
	})
	if err != nil {
		return err
	}
	defer large.Close()
	failure := make(chan error, 1)
	go func() {
		text := strings.Repeat("x", neighbourBytes)
		var err error
		for neighbour && err == nil && !stop.Load() {
			_, err = large.Run(context.Background(), turns.TurnInput{SystemPrompt: "Answer briefly.", Text: text})
		}
		failure <- err
	}()
	if _, err := stream.Run(context.Background(), turns.TurnInput{SystemPrompt: "Answer briefly.", Text: "Go."}); err != nil {
		return err
	}
	return <-failure
}

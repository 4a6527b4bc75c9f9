// Command bench measures Wasmtime against wazero, both with the full module, and writes a table in Markdown: bench
// [quick].
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/wasmtime"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/full"
)

// size is how much is measured.
type size struct {
	rounds int // in which all engines take turns
	turns  int // in a round
	steps  int
	opens  int
}

func main() {
	s := size{rounds: 40, turns: 50, steps: 2000, opens: 10}
	if len(os.Args) > 1 && os.Args[1] == "quick" {
		s = size{rounds: 5, turns: 5, steps: 100, opens: 2}
	}
	if err := run(context.Background(), os.Stdout, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// candidate is an engine with its settings.
type candidate struct {
	name string
	make func(ctx context.Context, module []byte) (host.Engine, error)

	engine   host.Engine
	instance host.Instance
	took     map[string][]time.Duration
}

// candidates are all that are measured; the first is what the others are compared with.
func candidates() []*candidate {
	onWazero := func(name string, options ...wazero.Option) *candidate {
		return &candidate{name: name, make: func(ctx context.Context, module []byte) (host.Engine, error) {
			return wazero.New(ctx, module, options...)
		}}
	}
	onWasmtime := func(name string, options ...wasmtime.Option) *candidate {
		return &candidate{name: name, make: func(ctx context.Context, module []byte) (host.Engine, error) {
			return wasmtime.New(ctx, module, options...)
		}}
	}
	return []*candidate{
		onWazero("wazero"),
		onWazero("wazero, fuel", wazero.WithFuel(engine.Fuel{})),
		onWasmtime("Wasmtime"),
		onWasmtime("Wasmtime, timeout", wasmtime.WithStepTimeout(time.Minute)),
		onWasmtime("Wasmtime, fuel", wasmtime.WithFuel(engine.Fuel{})),
	}
}

// task is something that an engine does.
type task struct {
	name string
	run  func(ctx context.Context, c *candidate, s size) (times int, err error)
}

var tasks = []task{
	{"turn with a tool", func(_ context.Context, c *candidate, s size) (int, error) {
		return s.turns, converse(c.instance, s.turns)
	}},
	{"empty step", func(_ context.Context, c *candidate, s size) (int, error) {
		for range s.steps {
			if _, err := c.instance.Step(nil, nil); err != nil {
				return 0, err
			}
		}
		return s.steps, nil
	}},
	{"an instance, opened and closed", func(ctx context.Context, c *candidate, s size) (int, error) {
		for range s.opens {
			i, err := c.engine.Open(ctx)
			if err := errors.Join(err, closed(ctx, i)); err != nil {
				return 0, err
			}
		}
		return s.opens, nil
	}},
	{"the same, with a turn", func(ctx context.Context, c *candidate, s size) (int, error) {
		for range s.opens {
			i, err := greeted(ctx, c.engine)
			if err == nil {
				err = converse(i, 1)
			}
			if err := errors.Join(err, closed(ctx, i)); err != nil {
				return 0, err
			}
		}
		return s.opens, nil
	}},
	{"an engine, compiled code in the cache", func(ctx context.Context, c *candidate, _ size) (int, error) {
		module, _ := full.Module()
		e, err := c.make(ctx, module)
		if err != nil {
			return 0, err
		}
		return 1, e.Close(ctx)
	}},
}

func run(ctx context.Context, out io.Writer, s size) error {
	module, ok := full.Module()
	if !ok {
		return errors.New("this build carries no module, `make wasm` builds it")
	}
	all := candidates()
	for _, c := range all {
		var err error
		if c.engine, err = c.make(ctx, module); err != nil {
			return err
		}
		defer c.engine.Close(ctx) // its instances too
		if c.instance, err = greeted(ctx, c.engine); err != nil {
			return err
		}
		c.took = map[string][]time.Duration{}
	}
	for round := range s.rounds {
		for _, what := range tasks {
			for n := range all {
				c := all[(n+round)%len(all)] // none is always the first
				begun := time.Now()
				times, err := what.run(ctx, c, s)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", c.name, what.name, err)
				}
				c.took[what.name] = append(c.took[what.name], time.Since(begun)/time.Duration(times))
			}
		}
	}
	for _, what := range tasks {
		base := all[0].took[what.name]
		for n, c := range all {
			took, ratio := c.took[what.name], ""
			if n > 0 {
				ratio = fmt.Sprintf("%.2f", median(ratios(took, base)))
			}
			micros := float64(median(took)) / 1000
			if _, err := fmt.Fprintf(out, "| %s | %s | %.2f µs | %s |\n", c.name, what.name, micros, ratio); err != nil {
				return err
			}
		}
	}
	return nil
}

// ratios are those of what rounds took: a machine that is busy in a round is so for all engines.
func ratios(took, of []time.Duration) []float64 {
	list := make([]float64, len(took))
	for n := range took {
		list[n] = float64(took[n]) / float64(of[n])
	}
	return list
}

// greeted opens an instance and greets it.
func greeted(ctx context.Context, e host.Engine) (host.Instance, error) {
	i, err := e.Open(ctx)
	if err != nil {
		return nil, err
	}
	_, err = host.Greet(i, abi.Hello{Features: abi.FeatureChat | abi.FeatureHistory | abi.FeatureTimers})
	return i, err
}

// converse has turns.
func converse(i host.Instance, turns int) error {
	for range turns {
		for _, in := range hosttest.Conversation() {
			if _, err := i.Step(nil, in); err != nil {
				return err
			}
		}
	}
	return nil
}

// closed closes an instance, if there is one.
func closed(ctx context.Context, i host.Instance) error {
	if i == nil {
		return nil
	}
	return i.Close(ctx)
}

func median[T cmp.Ordered](all []T) T { return slices.Sorted(slices.Values(all))[len(all)/2] }

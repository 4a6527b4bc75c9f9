// Command pair compares two builds of the benchmark, that of an earlier commit and this one, and says which figures are
// worse. `make bench BASE=<commit>` builds both and runs it.
//
//	go run ./host/internal/bench/pair -pairs 20 build/base .
//	go run ./host/internal/bench/pair -engine native,Node build/base .
//
// Each round runs the base, the head and the base again beside each other: one measures while the others wait, and they
// take turns after every slice of some milliseconds, in changing order. So whatever else the machine does meets all
// three. A figure is worse if the median of the rounds' ratios exceeds 1 by more than 3 percent and by more than the
// noise, which is how far the base's ratio to itself strays in the same rounds. An interrupt leaves it with the rounds
// that are complete.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/turncore/turncore/host/internal/bench/figure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pair:", err)
		os.Exit(1)
	}
}

// errWorse ends the command when a figure is worse.
var errWorse = errors.New("figures are worse than before")

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("pair", flag.ContinueOnError)
	pairs := flags.Int("pairs", 20, "rounds")
	engines := flags.String("engine", strings.Join(figure.Engines, ","), "engines to measure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 || *pairs < 1 {
		return errors.New("usage: pair [-pairs N] [-engine LIST] BASE HEAD, folders of checkouts with build/bench-go in them")
	}
	names := strings.Split(*engines, ",")
	for _, name := range names {
		if commands[name] == nil {
			return fmt.Errorf("no engine is called %q: there are %s", name, strings.Join(figure.Engines, ", "))
		}
	}
	base, head := flags.Arg(0), flags.Arg(1)
	c := figure.NewComparison()
	for round := range *pairs {
		begun := time.Now()
		m, err := measure(ctx, names, base, head, round)
		if err != nil && (round == 0 || ctx.Err() == nil) {
			return err
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "interrupted: %d rounds of %d count\n", round, *pairs)
			break
		}
		c.Add(m.rows[0], m.rows[1], m.rows[2])
		fmt.Fprintf(os.Stderr, "round %d of %d: %s, %d slices of the head beside the base's and %d alone\n",
			round+1, *pairs, time.Since(begun).Round(time.Second), m.together, m.alone)
	}
	worse, err := c.Markdown(os.Stdout)
	if err == nil && worse > 0 {
		err = fmt.Errorf("%w: %d of them", errWorse, worse)
	}
	return err
}

// commands measure an engine, before the file that they write.
var commands = map[string][]string{
	figure.Wazero: {"build/bench-go", "-engine", figure.Wazero, "-quick", "-modules", "", "-json"},
	figure.Native: {"build/bench-go", "-engine", figure.Native, "-quick", "-modules", "", "-json"},
	figure.Node:   {"node", "js/bench/bench.mjs", "--quick", "--json"},
}

// measured is what a round gives.
type measured struct {
	rows            [3][]figure.Row // of base, head and base again
	together, alone int             // slices of the head, as takeTurns counts them
}

// measure runs the benchmarks of base, head and base again beside each other. Each engine has processes of its own:
// what the heap holds of one is not another's.
func measure(ctx context.Context, engines []string, base, head string, round int) (*measured, error) {
	dir, err := os.MkdirTemp("", "turncore-pair")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	m := new(measured)
	for _, engine := range engines {
		var programs [3]*program
		for i, folder := range [...]string{base, head, base} {
			out := filepath.Join(dir, fmt.Sprint(engine, "-", i))
			if programs[i], err = newProgram(ctx, folder, append(slices.Clone(commands[engine]), out)); err != nil {
				return nil, err
			}
		}
		together, alone, err := takeTurns(programs, round)
		if err != nil {
			return nil, err
		}
		m.together, m.alone = m.together+together, m.alone+alone
		for i, p := range programs {
			rows, err := p.figures()
			if err != nil {
				return nil, err
			}
			m.rows[i] = append(m.rows[i], rows...)
		}
	}
	return m, nil
}

// Command pair compares two builds of the benchmark, that of an earlier commit and this one, and says which figures are
// worse. `make bench BASE=<commit>` builds both and runs it.
//
//	go run ./host/internal/bench/pair -pairs 20 build/base .
//
// Each round measures the base, the head and the base again, in changing order. A figure is worse if the median of the
// rounds' ratios exceeds 1 by more than 3 percent and by more than the noise, which is how far the base's ratio to
// itself strays in the same rounds.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
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
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 || *pairs < 1 {
		return errors.New("usage: pair [-pairs N] BASE HEAD, both folders of checkouts with build/bench-go in them")
	}
	base, head := flags.Arg(0), flags.Arg(1)
	c := figure.NewComparison()
	for round := range *pairs {
		begun := time.Now()
		var took [3][]figure.Row // base, head, base again
		for _, which := range orders[round%len(orders)] {
			folder := base
			if which == 1 {
				folder = head
			}
			rows, err := measure(ctx, folder)
			if err != nil {
				return fmt.Errorf("%s: %w", folder, err)
			}
			took[which] = rows
		}
		c.Add(took[0], took[1], took[2])
		fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, *pairs, time.Since(begun).Round(time.Second))
	}
	worse, err := c.Markdown(os.Stdout)
	if err == nil && worse > 0 {
		err = fmt.Errorf("%w: %d of them", errWorse, worse)
	}
	return err
}

// orders are in which order a round measures base, head and base again: each comes first, second and last as often.
var orders = [][3]int{{0, 1, 2}, {1, 0, 2}, {0, 2, 1}}

// measure runs the benchmark of a checkout, in a process for each engine: what the heap holds of one is not another's.
func measure(ctx context.Context, folder string) (rows []figure.Row, err error) {
	folder, err = filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "turncore-pair")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(folder, "build", "bench-go")
	for i, command := range [][]string{
		{program, "-engine", figure.Wazero, "-quick", "-modules", "", "-json"},
		{program, "-engine", figure.Native, "-quick", "-modules", "", "-json"},
		{"node", "js/bench/bench.mjs", "--quick", "--json"},
	} {
		out := filepath.Join(dir, fmt.Sprint(i))
		cmd := exec.CommandContext(ctx, command[0], append(command[1:], out)...)
		cmd.Dir = folder
		if said, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, said)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			return nil, err
		}
		var report figure.Report
		if err := json.Unmarshal(data, &report); err != nil {
			return nil, err
		}
		for _, row := range report.Rows {
			if !math.IsNaN(row.Median) && row.Median > 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

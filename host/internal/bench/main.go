// Command bench measures Turncore on Go's engines. `make bench` runs it, then the same for Node, and puts both into one
// table.
//
//	go run ./host/internal/bench                     wazero and native, as a table
//	go run ./host/internal/bench -engine wazero      one of them
//	go run ./host/internal/bench -quick              in seconds, to see that everything runs
//	go run ./host/internal/bench -json FILE          results for ./host/internal/bench/report
//
// Every time is the median of many samples taken in rounds, with the 10th and the 90th percentile. What is compared is
// measured in turns.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"

	"github.com/turncore/turncore/host/internal/bench/figure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	out := flags.String("json", "", "write the results to this file")
	engines := flags.String("engine", strings.Join(engineNames, ","), "engines to measure")
	only := flags.String("only", "", "the part to measure, such as turns; empty for all")
	hurry := flags.Bool("quick", false, "few and short samples")
	modules := flags.String("modules", "wasm", "folder of the built modules, whose sizes are taken; empty for none")
	start := flags.String("start", "", "load this engine, run one turn and say what it took (what the benchmark starts itself for)")
	cache := flags.String("cache", "", "folder of compiled code, for -start")
	module := flags.String("module", "", "file of the module, for -start (default the built core module)")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *start != "" {
		return startOnce(ctx, *start, *cache, *module)
	}
	p := full
	if *hurry {
		p = quick
	}
	report := figure.Report{Host: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH, Quick: *hurry, Turns: p.turns}
	report.Load[0] = load()
	names := strings.Split(*engines, ",")
	for _, name := range names {
		rows, err := measureEngine(ctx, p, name, *only)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		report.Rows = append(report.Rows, rows...)
	}
	if *modules != "" {
		fmt.Fprintln(os.Stderr, "sizes")
		var err error
		if report.Sizes, err = measureSizes(ctx, *modules); err != nil {
			return err
		}
	}
	report.Load[1] = load()
	if *only != "" && *out == "" { // the ratios of the whole need all parts
		for _, r := range report.Rows {
			fmt.Printf("%-8s %-24s %10.2f %s (%10.2f to %10.2f)\n", r.Engine, r.Figure, r.Median, r.Unit, r.P10, r.P90)
		}
		return nil
	}
	merged, err := figure.Merge([]figure.Report{report}, names)
	if err != nil {
		return err
	}
	if *out == "" {
		return merged.Markdown(os.Stdout, names)
	}
	data, err := json.MarshalIndent(&report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(*out, append(data, '\n'), 0o644)
}

// measureEngine takes all figures of an engine, or those of one part. An engine may have none of a part.
func measureEngine(ctx context.Context, p pace, name, only string) ([]figure.Row, error) {
	cache, err := os.MkdirTemp("", "turncore-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(cache)
	module, err := moduleBytes(name)
	if err != nil {
		return nil, err
	}
	e, err := newEngine(ctx, name, cache, module) // fills the cache
	if err != nil {
		return nil, err
	}
	defer e.Close(ctx)
	var rows []figure.Row
	var names []string
	for _, part := range []struct {
		name    string
		measure func() ([]figure.Row, error)
	}{
		{"start", func() ([]figure.Row, error) { return measureStart(ctx, p, name, cache) }},
		{"frames", func() ([]figure.Row, error) { return measureFrames(ctx, p, e) }},
		{"turns", func() ([]figure.Row, error) { return measureTurns(p, e) }},
		{"chat", func() ([]figure.Row, error) { return measureChat(p, e) }},
		{"chat on a history", func() ([]figure.Row, error) { return measureChatHistory(p, e) }},
		{"seams", func() ([]figure.Row, error) { return measureSeams(p, e) }},
		{"gates", func() ([]figure.Row, error) { return measureGates(p, e) }},
		{"crowd", func() ([]figure.Row, error) { return measureCrowd(p, e) }},
		{"histories", func() ([]figure.Row, error) { return measureHistories(p, e) }},
		{"adding", func() ([]figure.Row, error) { return measureAdding(p, e) }},
		// Before what a program of turns does not load.
		{"memory", func() ([]figure.Row, error) { return measureMemory(p, e) }},
		{"invocations", func() ([]figure.Row, error) { return measureInvocations(ctx, p, e, cache) }},
		{"metering", func() ([]figure.Row, error) { return measureMetered(ctx, p, e, cache) }},
		{"instances", func() ([]figure.Row, error) { return measureInstances(ctx, p, e, cache) }},
	} {
		names = append(names, part.name)
		if only != "" && part.name != only {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, part.name)
		more, err := part.measure()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		if len(more) == 0 {
			fmt.Fprintf(os.Stderr, "%s: %s does not apply to this engine\n", name, part.name)
		}
		rows = append(rows, more...)
	}
	if only != "" && !slices.Contains(names, only) {
		return nil, fmt.Errorf("no part is called %q: there are %s", only, strings.Join(names, ", "))
	}
	return rows, nil
}

// load is what else the machine does; 0 where it does not tell.
func load() figure.Load {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var l figure.Load
	_, _ = fmt.Sscan(string(text), &l)
	return l
}

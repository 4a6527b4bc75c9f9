// Command report puts the results of the benchmark's halves into one table and one file.
//
//	go run ./host/internal/bench/report -json build/bench.json build/bench/go.json build/bench/node.json
//	go run ./host/internal/bench/report -peers build/bench/peers …
//
// It fails when a figure is missing, and not when one is over its target: the table says so.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/turncore/turncore/host/internal/bench/figure"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	out := flags.String("json", "", "write everything to this file")
	folder := flags.String("peers", "", "folder of the peers' results, lists of figures of theirs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var reports []figure.Report
	for _, name := range flags.Args() {
		var r figure.Report
		if err := read(name, &r); err != nil {
			return err
		}
		reports = append(reports, r)
	}
	engines := measured(reports)
	merged, err := figure.Merge(reports, engines)
	if err != nil {
		return err
	}
	if *folder != "" {
		files, err := filepath.Glob(filepath.Join(*folder, "*.json"))
		if err != nil {
			return err
		}
		for _, name := range files {
			var peers []figure.Peer
			if err := read(name, &peers); err != nil {
				return err
			}
			if err := merged.AddPeers(peers); err != nil {
				return err
			}
		}
	}
	if *out != "" {
		data, err := json.MarshalIndent(merged, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(*out, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	return merged.Markdown(os.Stdout, engines)
}

func read(name string, v any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// measured lists the engines that the reports are of, in the order of the table.
func measured(reports []figure.Report) (engines []string) {
	for _, engine := range figure.Engines {
		if slices.ContainsFunc(reports, func(r figure.Report) bool {
			return slices.ContainsFunc(r.Rows, func(row figure.Row) bool { return row.Engine == engine })
		}) {
			engines = append(engines, engine)
		}
	}
	return engines
}

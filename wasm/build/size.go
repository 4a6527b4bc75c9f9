package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/turncore/turncore/internal/size"
)

// A weight is the size of one file in bytes: as it is, and as a web server
// would send it.
type weight struct{ Raw, Gzip, Brotli int }

// weigh says what files weigh. It asks the command in wasm/size, a module of its own, and has build/weights keep what
// that says.
func weigh(ctx context.Context, root string, files ...string) ([]weight, error) {
	folder, err := filepath.Abs(filepath.Join(root, "build", "weights"))
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "run", ".", "-keep", folder)
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		cmd.Args = append(cmd.Args, path)
	}
	cmd.Dir = filepath.Join(root, "wasm", "size")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("weigh the files: %w", err)
	}
	weights := make([]weight, len(files))
	lines := json.NewDecoder(bytes.NewReader(out))
	for i := range files {
		if err := lines.Decode(&weights[i]); err != nil {
			return nil, fmt.Errorf("weigh %s: %w", files[i], err)
		}
	}
	return weights, nil
}

// printSizes prints the weight of every file the build wrote, and which
// packages pay for the code of the full module.
func printSizes(ctx context.Context, out io.Writer, root string, place func(target) string, packages int) error {
	files := make([]string, len(targets))
	for i, t := range targets {
		path, err := filepath.Abs(place(t))
		if err != nil {
			return err
		}
		files[i] = path
	}
	weights, err := weigh(ctx, root, files...)
	if err != nil {
		return err
	}

	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "file\traw\tgzip -9\tbrotli 11\tat most\t")
	for i, t := range targets {
		budget := "-"
		if bytes, ok := size.Of(t.file); ok {
			budget = strconv.Itoa(bytes)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t\n", t.file, weights[i].Raw, weights[i].Gzip, weights[i].Brotli, budget)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	shares, err := packageShares(ctx, root)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nWho pays in %s, before compression:\n", fullTarget.file)
	return printShares(out, shares, packages)
}

func printShares(out io.Writer, shares []share, most int) error {
	total := 0
	for _, s := range shares {
		total += s.size
	}
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(b.size, a.size) })
	if len(shares) > most {
		rest := share{name: fmt.Sprintf("(%d smaller ones)", len(shares)-most)}
		for _, s := range shares[most:] {
			rest.size += s.size
		}
		shares = append(slices.Clone(shares[:most]), rest)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, s := range shares {
		fmt.Fprintf(table, "%d\t%.1f %%\t  %s\n", s.size, 100*float64(s.size)/float64(total), s.name)
	}
	return table.Flush()
}

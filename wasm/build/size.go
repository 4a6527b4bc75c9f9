package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/turncore/turncore/internal/size"
)

// printSizes prints the weight of every file the build wrote, and which
// packages pay for the code of the full module.
func printSizes(ctx context.Context, out io.Writer, root string, place func(target) string, packages int) error {
	files := make([]string, len(targets))
	for i, t := range targets {
		files[i] = place(t)
	}
	weights, err := size.Weigh(ctx, root, files...)
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

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"text/tabwriter"

	"github.com/andybalholm/brotli"
)

// A weight is the size of one file in bytes: as it is, and as a web server
// would send it.
type weight struct {
	raw    int
	gzip   int // level 9
	brotli int // level 11
}

func weigh(data []byte) (weight, error) {
	w := weight{raw: len(data)}
	var err error
	w.gzip, err = compressedSize(data, func(out io.Writer) (io.WriteCloser, error) {
		return gzip.NewWriterLevel(out, gzip.BestCompression)
	})
	if err != nil {
		return w, fmt.Errorf("gzip: %w", err)
	}
	w.brotli, err = brotliSize(data)
	return w, err
}

func brotliSize(data []byte) (int, error) {
	size, err := compressedSize(data, func(out io.Writer) (io.WriteCloser, error) {
		return brotli.NewWriterLevel(out, brotli.BestCompression), nil
	})
	if err != nil {
		return 0, fmt.Errorf("brotli: %w", err)
	}
	return size, nil
}

func compressedSize(data []byte, open func(io.Writer) (io.WriteCloser, error)) (int, error) {
	var out bytes.Buffer
	w, err := open(&out)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(data); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return out.Len(), nil
}

// printSizes prints the weight of every file the build wrote, and which
// packages pay for the code of the full module.
func printSizes(ctx context.Context, out io.Writer, root string, place func(target) string, packages int) error {
	weights := make([]weight, len(targets))
	errs := make([]error, len(targets))
	var wg sync.WaitGroup
	for i, t := range targets {
		wg.Go(func() {
			data, err := os.ReadFile(place(t))
			if err == nil {
				weights[i], err = weigh(data)
			}
			errs[i] = err
		})
	}
	wg.Wait()

	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "file\traw\tgzip -9\tbrotli 11\tat most\t")
	for i, t := range targets {
		if errs[i] != nil {
			return fmt.Errorf("weigh %s: %w", t.file, errs[i])
		}
		budget := "-"
		if t.budget > 0 {
			budget = strconv.Itoa(t.budget)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t\n", t.file, weights[i].raw, weights[i].gzip, weights[i].brotli, budget)
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

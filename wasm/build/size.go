package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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

// weigh says what files weigh. It asks the command in wasm/size, a module of its own, which takes ten seconds for a
// module, once for the same bytes: build/weights keeps what it said.
func weigh(ctx context.Context, root string, files ...string) ([]weight, error) {
	command := filepath.Join(root, "wasm", "size")
	with, err := digest(filepath.Join(command, "main.go"), filepath.Join(command, "go.sum"))
	if err != nil {
		return nil, err
	}
	weights, kept := make([]weight, len(files)), make([]string, len(files))
	var unknown []int
	for i, file := range files {
		of, err := digest(file)
		if err != nil {
			return nil, err
		}
		kept[i] = filepath.Join(root, "build", "weights", of+"-"+with+".json")
		if text, err := os.ReadFile(kept[i]); err != nil || json.Unmarshal(text, &weights[i]) != nil {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) == 0 {
		return weights, nil
	}
	cmd := exec.CommandContext(ctx, "go", "run", ".")
	for _, i := range unknown {
		path, err := filepath.Abs(files[i])
		if err != nil {
			return nil, err
		}
		cmd.Args = append(cmd.Args, path)
	}
	cmd.Dir = command
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("weigh the files: %w", err)
	}
	lines := json.NewDecoder(bytes.NewReader(out))
	for _, i := range unknown {
		if err := lines.Decode(&weights[i]); err != nil {
			return nil, fmt.Errorf("weigh %s: %w", files[i], err)
		}
		if err := keep(kept[i], weights[i]); err != nil {
			return nil, err
		}
	}
	return weights, nil
}

// keep writes a weight to a file in one step, for other builds read it meanwhile.
func keep(path string, w weight) error {
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".weight-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// digest is the start of the SHA-256 of files, one after the other.
func digest(files ...string) (string, error) {
	sum := sha256.New()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("weigh: %w", err)
		}
		sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
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

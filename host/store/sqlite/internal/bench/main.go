// Command bench measures SQLite's store, as storebench does: bench [quick].
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/turncore/turncore/host/store/internal/storebench"
	"github.com/turncore/turncore/host/store/sqlite"
)

func main() {
	size := storebench.Full
	if len(os.Args) > 1 && os.Args[1] == "quick" {
		size = storebench.Quick
	}
	if err := run(context.Background(), size); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, size storebench.Size) error {
	folder, err := os.MkdirTemp("", "turncore-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s, err := sqlite.Open(ctx, filepath.Join(folder, "bench.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	return errors.Join(storebench.Run(ctx, os.Stdout, "SQLite", s, size), s.Close())
}

// Command bench measures PostgreSQL's store, as storebench does, with a server of its own: bench [quick].
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/turncore/turncore/host/store/internal/storebench"
	"github.com/turncore/turncore/host/store/postgres"
	"github.com/turncore/turncore/host/store/postgres/internal/server"
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
	running, err := server.Start(ctx)
	if err != nil {
		return err
	}
	defer running.Stop()
	url, err := running.Create(ctx)
	if err != nil {
		return err
	}
	s, err := postgres.Open(ctx, url, postgres.Options{})
	if err != nil {
		return err
	}
	return errors.Join(storebench.Run(ctx, os.Stdout, "PostgreSQL", s, size), s.Close())
}

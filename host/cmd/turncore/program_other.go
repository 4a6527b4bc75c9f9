//go:build !unix

package main

import (
	"context"
	"os"
	"os/exec"
)

// shell is a command line of the shell, which ends when ctx is cancelled.
func shell(ctx context.Context, line string) *exec.Cmd {
	name := os.Getenv("ComSpec")
	if name == "" {
		name = "cmd"
	}
	return exec.CommandContext(ctx, name, "/d", "/s", "/c", line)
}

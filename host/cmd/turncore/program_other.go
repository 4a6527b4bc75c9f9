//go:build !unix

package main

import (
	"cmp"
	"context"
	"os"
	"os/exec"
)

// shell is a command line of the shell, which ends when ctx is cancelled.
func shell(ctx context.Context, line string) *exec.Cmd {
	name := cmp.Or(os.Getenv("ComSpec"), "cmd")
	return exec.CommandContext(ctx, name, "/d", "/s", "/c", line)
}

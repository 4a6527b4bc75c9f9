//go:build unix

package main

import (
	"context"
	"os/exec"
	"syscall"
)

// shell is a command line of the shell, which ends with all the programs that it started when ctx is cancelled. Those
// are a group of their own, so that Ctrl-C reaches this program alone, which then ends them.
func shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

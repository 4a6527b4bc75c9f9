package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/turns"
)

// What is kept of a program's output, in bytes.
const (
	maxResult = 4 << 20
	maxReason = 4 << 10
)

// programTool is a program that is offered as a tool. It is run by the shell, reads the arguments as JSON from standard
// input and writes the result to standard output. When it fails, the model is told what it wrote to standard error.
type programTool struct {
	name, description string
	program           string // a command line of the shell
}

func (p programTool) tool() *turns.Tool {
	return &turns.Tool{
		Name: p.name, Description: p.description,
		InputSchema: `{"type":"object","additionalProperties":true}`,
		Handler: func(ctx *turns.DispatchContext, args turns.Args) (any, error) {
			return p.run(ctx, args.JSON())
		},
	}
}

// run runs the program. One line end behind the result is not a part of it.
func (p programTool) run(ctx context.Context, args []byte) (string, error) {
	cmd := shell(ctx, p.program)
	cmd.WaitDelay = time.Second // for what the program has left behind that holds its output open
	result, reason := limited{limit: maxResult}, limited{limit: maxReason}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(args), &result, &reason
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return "", errors.New(cmp.Or(strings.TrimSpace(reason.text()), err.Error()))
	}
	if result.cut {
		return "", fmt.Errorf("the result is longer than %d bytes", maxResult)
	}
	text, ended := strings.CutSuffix(result.text(), "\n")
	if ended {
		text = strings.TrimSuffix(text, "\r")
	}
	return text, nil
}

// limited keeps the beginning of what is written to it. It takes all, so that the writer does not fail.
type limited struct {
	limit int
	kept  bytes.Buffer
	cut   bool
}

var _ io.Writer = (*limited)(nil)

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	room := l.limit - l.kept.Len()
	if len(p) > room {
		l.cut = true
	}
	l.kept.Write(p[:min(len(p), room)])
	return len(p), nil
}

// text is what was kept, as valid UTF-8.
func (l *limited) text() string { return value.UTF8(l.kept.String()) }

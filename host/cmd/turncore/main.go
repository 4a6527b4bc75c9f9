// Turncore runs agent turns from a shell: against a model's API, against a simulated one, or against a recorded
// conversation; and it plays the journals of turns back.
//
//	turncore run "What is the weather in Oslo?"
//	turncore run --recording conversation.json --json
//	turncore chat --store sessions.db
//	turncore replay turn.journal
//	turncore inspect turn.journal
//	turncore sessions list --store conversations.db
//
// docs/command.md describes it for users.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/turncore/turncore/host"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1 // the turn did not ack, or something differs from what was recorded
	exitUsage  = 2
)

// command is one call of the program and what it is connected with.
type command struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}

func main() {
	c := &command{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	os.Exit(c.main(os.Args[1:]))
}

const usage = `turncore runs agent turns.

  turncore run [PROMPT] [flags]    run a turn and show what happens
  turncore chat [PROMPT] [flags]   talk with an agent in a session, and answer what it asks
  turncore replay FILE [flags]     play a turn's journal back and compare every byte
  turncore inspect FILE [flags]    show what happened in a turn, from its journal
  turncore sessions ACTION         list, show, export, import or delete conversations
  turncore agent ACTION            make, build, test and look at agents
  turncore record-provider FILE    record what is said to a model's API, without keys
  turncore version                 show versions
  turncore help [COMMAND]          show help

"turncore COMMAND -h" lists the flags of a command.
`

func (c *command) main(args []string) int {
	if len(args) == 0 {
		fmt.Fprint(c.stderr, usage)
		return exitUsage
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return c.status(c.help(rest))
	case "-version", "--version":
		name = "version"
	}
	return c.status(c.call(name, rest))
}

// commands by their names.
var commands = map[string]func(c *command, args []string) error{
	"run": (*command).run, "chat": (*command).chatWith, "replay": (*command).replay, "inspect": (*command).inspect,
	"sessions": (*command).sessions, "agent": (*command).agent,
	"record-provider": (*command).recordProvider, "version": (*command).version,
}

// call calls a command by its name.
func (c *command) call(name string, args []string) error {
	if f := commands[name]; f != nil {
		return f(c, args)
	}
	return usagef("", "%q is no command", name)
}

// status tells about an error and returns the exit status that it means.
func (c *command) status(err error) int {
	var wrong *usageError
	var program *statusError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &program):
		return program.status
	case errors.As(err, &wrong):
		fmt.Fprintf(c.stderr, "turncore: %s\n", printable(wrong.message))
		fmt.Fprintf(c.stderr, "%q tells more.\n", "turncore help"+wrong.command)
		return exitUsage
	case !errors.Is(err, errTold):
		newScreen(c.stdout, c.stderr, c.getenv).failure(err)
	}
	return exitFailed
}

// errTold is the failure of a command that has said already what is wrong.
var errTold = errors.New("failed")

// usageError is a command line that makes no sense.
type usageError struct {
	command string // with a space in front, or empty
	message string
}

// Error returns the message.
func (e *usageError) Error() string { return e.message }

func usagef(command, format string, args ...any) error {
	if command != "" {
		command = " " + command
	}
	return &usageError{command, fmt.Sprintf(format, args...)}
}

func (c *command) help(args []string) error {
	if len(args) == 0 {
		_, err := fmt.Fprint(c.stdout, usage)
		return err
	}
	return c.call(args[0], []string{"-h"})
}

// parse parses flags, which may stand before, between and behind the other arguments, and returns those. It tells
// whether help was asked for, and given.
func (c *command) parse(f *flag.FlagSet, help string, args []string) (rest []string, helped bool, err error) {
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	for {
		err := f.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			var text strings.Builder
			text.WriteString(help)
			f.SetOutput(&text)
			f.PrintDefaults()
			_, err := fmt.Fprint(c.stdout, &text)
			return nil, true, err
		}
		if err != nil {
			return nil, false, usagef(f.Name(), "%v", err)
		}
		left := f.Args()
		if len(left) == 0 {
			return rest, false, nil
		}
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			return append(rest, left...), false, nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// errInterrupted is why a turn is aborted by Ctrl-C.
var errInterrupted = &host.Error{Name: "AbortError", Message: "interrupted", Status: 499}

// endings are the signals that end the program, with what it has started: that of a closed terminal as well, unless it
// is to be outlived, as under nohup.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// interruptible returns a context that an interrupt cancels, once: a second one ends the program the usual way.
func interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endings()...)
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			cancel(errInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

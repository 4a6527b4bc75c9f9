package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/turncore/turncore/host/internal/recording"
	"github.com/turncore/turncore/host/model"
)

const recordHelp = `turncore record-provider FILE [flags] [-- COMMAND...]

Stands in front of a model's API and records what is said to it in FILE, for
"turncore run --recording FILE" and for tests. Point a program at the address that it
prints, or give the program: it runs with that address in the variables below, and the
recording ends with it. Otherwise it ends with Ctrl-C. FILE is written after each answer
and is whole at any time.

Headers are not recorded. Keys that requests bring, and the one in the environment, are
taken out of everything else. Read the file before you show it to others all the same: what
the conversation says is in it.

Exit status: that of COMMAND; without one 0, or 1 if nothing was recorded; 1 if the
recording could not be written; 2 for a command line that is wrong.

Environment: the provider's key is added to requests that bring no key: those of programs on
this machine, and those of the pages that --page names.

` + variablesHelp + `
Flags:
`

// recordFlags is what the command line and the environment ask of a recording.
type recordFlags struct {
	runFlags
	file    string
	name    string
	port    uint16
	pages   []string // origins
	command []string
}

func (c *command) parseRecord(args []string) (*recordFlags, error) {
	o := &recordFlags{}
	f := flag.NewFlagSet("record-provider", flag.ContinueOnError)
	f.Func("provider", "`name` of the protocol that the model's API speaks: "+providerNames()+" (openai)", o.setProvider)
	f.Func("base-url", "`URL` of the provider's API (the provider's own)", set(&o.baseURL))
	f.Func("name", "`name` of the recording (the file's)", set(&o.name))
	f.Func("port", "listen on this `number` of the loopback interface (any that is free)", func(s string) error {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil {
			return fmt.Errorf("it must be a port's number")
		}
		o.port = uint16(n)
		return nil
	})
	f.Func("page", "`origin` of a page that may use the key, such as http://localhost:5173; may be repeated", func(s string) error {
		at, err := url.Parse(s)
		if err != nil || at.Host == "" || s != at.Scheme+"://"+at.Host {
			return fmt.Errorf("it must be an origin: scheme, host and port")
		}
		o.pages = append(o.pages, s)
		return nil
	})
	rest, helped, err := c.parse(f, recordHelp, args)
	if helped || err != nil {
		return nil, err
	}
	o.provider = cmp.Or(o.provider, model.OpenAI)
	o.environment(c.getenv)
	if len(rest) == 0 || rest[0] == "" {
		return nil, usagef("record-provider", "give the file that the recording is written to")
	}
	o.file, o.command = rest[0], rest[1:]
	if o.name == "" {
		file := filepath.Base(o.file)
		o.name = cmp.Or(strings.TrimSuffix(file, ".json"), file)
	}
	if u, err := url.Parse(o.baseURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usagef("record-provider", "the base URL must be one of http or https")
	}
	if _, err := os.Stat(o.file); err == nil {
		return nil, usagef("record-provider", "%s is there already", o.file)
	}
	return o, nil
}

// recordProvider records what is said to a model's API.
func (c *command) recordProvider(args []string) error {
	o, err := c.parseRecord(args)
	if o == nil || err != nil {
		return err
	}
	target, err := url.Parse(o.baseURL)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(o.file)); err != nil {
		return fmt.Errorf("the folder of the recording: %w", err) // before anything is said that would be lost
	}
	s := newScreen(c.stdout, c.stderr, c.getenv)
	options := recording.RecorderOptions{
		Name: o.name, Target: target, Origins: o.pages,
		Saved: func(r *recording.Recording) error { return r.Save(o.file) },
		Told:  func(line string) { s.note(s.dim, "%s", line) },
	}
	if o.key != "" {
		key := o.provider.Key(o.key)
		options.Key.Header, options.Key.Value = key.Header, key.Value
	}
	recorder := recording.NewRecorder(options)
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(o.port))))
	if err != nil {
		return fmt.Errorf("listening on loopback: %w", err)
	}
	server := &http.Server{Handler: recorder, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with Close
	defer server.Close()

	here := url.URL{Scheme: "http", Host: listener.Addr().String(), Path: target.Path}
	s.note(s.dim, "%s stands in front of %s; what is said goes to %s", here.String(), target.Redacted(), o.file)
	ctx, stop := interruptible()
	defer stop()
	if len(o.command) == 0 {
		<-ctx.Done()
	} else {
		err = c.along(ctx, o, here)
	}
	n := len(recorder.Recording().Interactions)
	if n > 0 {
		if lost := recorder.Recording().Save(o.file); lost != nil {
			return fmt.Errorf("the recording cannot be written: %w", lost)
		}
		s.note(s.dim, "%s has %d interactions", o.file, n)
		return err
	}
	s.notice("nothing was recorded, and " + o.file + " was not written")
	if len(o.command) == 0 {
		return errTold
	}
	return err
}

// along runs the program that is recorded, with the recorder's address in its environment.
func (c *command) along(ctx context.Context, o *recordFlags, here url.URL) error {
	program := exec.CommandContext(ctx, o.command[0], o.command[1:]...)
	program.Stdin, program.Stdout, program.Stderr = c.stdin, c.stdout, c.stderr
	program.Cancel = func() error { return program.Process.Signal(os.Interrupt) }
	program.WaitDelay = 10 * time.Second
	program.Env = os.Environ()
	for _, p := range model.Providers() {
		program.Env = append(program.Env, variablesOf[p].setting(here))
	}
	err := program.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return &statusError{exit.ExitCode()}
	}
	if err != nil && ctx.Err() != nil {
		return &statusError{128 + int(syscall.SIGINT)} // as shells have it
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.command[0], err)
	}
	return nil
}

// statusError is the exit status of a program that was run, which has told what is wrong.
type statusError struct{ status int }

// Error says it.
func (e *statusError) Error() string { return "exit status " + strconv.Itoa(e.status) }

package turntest_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
)

var _ turntest.T = (*testing.T)(nil)

// fakeT is a test that fails without harm.
type fakeT struct {
	mu       sync.Mutex
	reports  []string
	cleanups []func()
}

func (*fakeT) Helper()             {}
func (*fakeT) Logf(string, ...any) {}

func (f *fakeT) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reports = append(f.reports, fmt.Sprintf(format, args...))
}

func (f *fakeT) Fatalf(format string, args ...any) {
	f.Errorf("fatal: "+format, args...)
	runtime.Goexit()
}

func (f *fakeT) Cleanup(fn func()) { f.cleanups = append(f.cleanups, fn) }

// reported runs a test and returns what it reported, with what its end reports.
func reported(test func(f *fakeT)) string {
	f := &fakeT{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, fn := range slices.Backward(f.cleanups) {
				fn()
			}
		}()
		test(f)
	}()
	<-done
	return strings.Join(f.reports, "\n")
}

// says fails the test unless a report has all texts in their order; without texts it must be empty.
func says(t *testing.T, report string, texts ...string) {
	t.Helper()
	if len(texts) == 0 && report != "" {
		t.Errorf("reported: %s", report)
	}
	rest := report
	for _, text := range texts {
		_, behind, found := strings.Cut(rest, text)
		if !found {
			t.Errorf("no %q in its place in\n%s", text, report)
			return
		}
		rest = behind
	}
}

// updating sets the flag -update for parts of a test; without parts, for the rest of it.
func updating(t *testing.T, value string, parts ...func()) {
	t.Helper()
	before := flag.Lookup("update").Value.String()
	set := func(value string) {
		if err := flag.Set("update", value); err != nil {
			t.Error(err)
		}
	}
	set(value)
	if len(parts) == 0 {
		t.Cleanup(func() { set(before) })
		return
	}
	for _, part := range parts {
		part()
	}
	set(before)
}

var weather = turns.NewTool("weather", "Tells the weather of a city.",
	func(_ *turns.DispatchContext, args struct {
		City string `json:"city"`
	},
	) (string, error) {
		if args.City == "Atlantis" {
			return "", fmt.Errorf("there is no %s", args.City)
		}
		return "4 degrees in " + args.City, nil
	})

// seam is a way in which a script takes part in a turn.
type seam struct {
	name   string
	config func(s *turntest.Script) turns.Config
}

var seams = []seam{
	{"model", func(s *turntest.Script) turns.Config { return turns.Config{Model: s.Model()} }},
	{"executor", func(s *turntest.Script) turns.Config { return turns.Config{Executor: s.Executor()} }},
}

// play runs a turn and returns its events and its result.
func play(t turntest.T, config turns.Config, message string) ([]event.Event, *turns.Result) {
	t.Helper()
	if config.Host == nil {
		config.Host = turntest.Host(t, turns.HostOptions{})
	}
	if config.Tools == nil {
		config.Tools = []*turns.Tool{weather}
	}
	runner, err := turns.New(context.Background(), config)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer runner.Close()
	var events []event.Event
	result, err := runner.Run(context.Background(), turns.Input{
		Message: message, OnEvent: func(e event.Event) { events = append(events, e) },
	})
	if result == nil {
		t.Fatalf("%v", err)
	}
	return events, result
}

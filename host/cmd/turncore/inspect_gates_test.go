package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// A turn waits at two gates, one after the other: inspect shows what each asks, how it was settled and when. While a
// gate is open the journal ends there. js/test/cli/inspect.test.ts records the same turn and expects the same text.
func TestInspectGates(t *testing.T) {
	now, rejected := host.FixedTime, errors.New("not today")
	h := turns.NewHost(turns.HostOptions{Engine: native.New(), Clock: func() int64 { return now }})
	defer h.Close(context.Background())
	runner, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Host: h, Callbacks: turns.StoreCallbacks(store.NewInMemory()),
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			for _, g := range []turns.Gate{
				{ID: "delete", Reason: "Delete the file?", Payload: map[string]any{"path": "/a"}, Schema: `{"type":"boolean"}`},
				{ID: "publish", Reason: "Publish it?", Payload: []any{1}, Schema: `{"type":"boolean"}`},
			} {
				g.CreatedAt = time.UnixMilli(now)
				if _, err := ctx.WaitFor(context.Background(), g); err != nil && err != rejected {
					return err
				}
			}
			return ctx.Ack()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var journal bytes.Buffer
	var open string
	turns.Listen(runner, func(ev *event.TurnGateOpen) {
		now += 1500
		if ev.Gate.ID() == "delete" {
			err = ev.Gate.Resolve(true)
			return
		}
		open = journal.String()
		err = errors.Join(err, ev.Gate.Reject(rejected))
	})
	if _, runErr := runner.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", TurnID: "T", Journal: &journal}); runErr != nil || err != nil {
		t.Fatal(runErr, err)
	}
	want, err := os.ReadFile("../../../runtime/testdata/inspect/gates.txt")
	if err != nil {
		t.Fatal(err)
	}
	got := turncore(t, "inspect", file(t, "gates.journal", journal.String()))
	if shown := withoutEngine(got.stdout); got.status != 0 || shown != string(want) {
		t.Errorf("%d, %s\n%s\nwant\n%s", got.status, got.stderr, shown, want)
	}
	got = turncore(t, "inspect", file(t, "open.journal", open))
	if !strings.Contains(got.stdout, "gate        publish Publish it? [1] → open\n") || !strings.Contains(got.stdout, "ended       not: ") {
		t.Errorf("%+v", got)
	}
}

// withoutEngine drops the line that names the engine.
func withoutEngine(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "engine  ") {
			return strings.Join(append(lines[:i:i], lines[i+1:]...), "")
		}
	}
	return text
}

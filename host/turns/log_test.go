package turns_test

import (
	"math"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// panicking is a payload whose encoding panics.
type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("no") }

// A line of the log is never lost, and fails nothing.
func TestEveryLineIsWritten(t *testing.T) {
	around := map[string]any{"a": func() {}}
	around["b"] = around
	long := strings.Repeat("ü", 9<<20)
	for name, c := range map[string]struct {
		level         event.Level
		kind, message string
		payload       any
		limits        abi.Limits
		says          string // begins the message, or is in the payload
	}{
		"a level that is none":    {level: 77, message: "m", says: "m"},
		"a long message":          {message: long, says: "ü"},
		"a long kind":             {kind: long, message: "m", says: "m"},
		"a long payload":          {payload: long, says: "left out: it has"},
		"all of them":             {kind: long, message: long, payload: long, says: "left out: it has"},
		"half a frame each":       {message: long[:9<<20], payload: long[:9<<20], says: "left out: it has"},
		"short strings":           {message: strings.Repeat("long ", 300), limits: abi.Limits{String: 1024}, says: "long long"},
		"one that panics":         {payload: panicking{}, says: "{}"},
		"one that has itself":     {payload: around, says: "payload.a: a function cannot be encoded"},
		"one without an encoding": {payload: map[string]float64{"a": math.NaN()}, says: "map[a:NaN]"},
		"a wrong character":       {message: "\xff", says: "\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := turns.New(t.Context(), turns.Config{
				Host: turns.NewHost(turns.HostOptions{Engine: native.New(), Limits: c.limits}),
				Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
					h.Log(c.level, c.kind, c.message, c.payload)
					return ctx.Ack()
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			lines := 0
			_, err = r.Run(t.Context(), turns.Input{OnEvent: func(ev event.Event) {
				line, ok := ev.(*event.Log)
				if !ok {
					return
				}
				lines++
				if !strings.HasPrefix(line.Message, c.says) && !strings.Contains(string(line.Payload), c.says) {
					t.Errorf("the message is %.80q, the payload %.80q", line.Message, line.Payload)
				}
			}})
			if err != nil || lines != 1 {
				t.Errorf("%d lines, %v", lines, err)
			}
		})
	}
}

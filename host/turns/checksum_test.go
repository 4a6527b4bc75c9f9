package turns_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// The vectors that hosts and guest share: the checksum that a report of a call has, and toolExecutionStart's callId.
func TestChecksumVectors(t *testing.T) {
	text, err := os.ReadFile("../../abi/testdata/checksums.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ Name, Tool, Args, Checksum string }
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	onEngines(t, func(t *testing.T, h *turns.Host) {
		log := &recorder{}
		_, err := turns.Dispatch(t.Context(), raw(h, log, func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			for _, v := range vectors {
				if err := h.ReportToolCall(v.Name, event.ToolCallReport{Tool: v.Tool, Args: json.RawMessage(v.Args)}); err != nil {
					t.Errorf("%s: %v", v.Name, err)
				}
				if v.Args[0] != '{' {
					continue
				}
				if _, err := named(v.Tool).Executor(ctx)(json.RawMessage(v.Args)); err != nil {
					t.Errorf("%s: %v", v.Name, err)
				}
			}
			return ctx.Ack()
		}))
		if err != nil {
			t.Fatal(err)
		}
		reports, starts := find[*event.ToolCall](log), find[*event.ToolExecutionStart](log)
		if len(reports) != len(vectors) || len(starts) != len(vectors)-1 {
			t.Fatalf("%d reports and %d executions of %d vectors", len(reports), len(starts), len(vectors))
		}
		n := 0
		for i, v := range vectors {
			if sum, err := record.ToolCallChecksum(v.Tool, json.RawMessage(v.Args)); sum != v.Checksum || err != nil {
				t.Errorf("%s: %s, %v, want %s", v.Name, sum, err, v.Checksum)
			}
			if reports[i].Checksum != v.Checksum {
				t.Errorf("%s: reported with %s, want %s", v.Name, reports[i].Checksum, v.Checksum)
			}
			if v.Args[0] == '{' {
				if starts[n].CallID != v.Checksum {
					t.Errorf("%s: executed as %s, want %s", v.Name, starts[n].CallID, v.Checksum)
				}
				n++
			}
		}
	})
}

// Arguments are taken in every form that a tool's executor takes.
func TestToolCallChecksum(t *testing.T) {
	const want = "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e"
	type query struct {
		Query string `json:"query"`
	}
	for name, args := range map[string]any{
		"map": map[string]any{"query": "hello"}, "struct": query{"hello"}, "text": `{"query": "hello"}`, "raw": json.RawMessage(` {"query":"hello"}`),
	} {
		if sum, err := record.ToolCallChecksum("search", args); sum != want || err != nil {
			t.Errorf("%s: %s, %v", name, sum, err)
		}
	}
	none, err := record.ToolCallChecksum("t", nil)
	if empty, _ := record.ToolCallChecksum("t", struct{}{}); none != empty || err != nil {
		t.Errorf("no arguments: %s, %v, want %s", none, err, empty)
	}
	for name, args := range map[string]any{"function": func() {}, "no JSON": "{", "not a number": math.NaN(), "nested too deep": json.RawMessage(strings.Repeat("[", 61) + strings.Repeat("]", 61))} {
		if sum, err := record.ToolCallChecksum("t", args); !errors.Is(err, host.CodeInvalidToolArgs) || sum != "" {
			t.Errorf("%s: %q, %v", name, sum, err)
		}
	}
}

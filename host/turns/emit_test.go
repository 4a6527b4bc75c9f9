package turns_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

func TestEmit(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		log, result := play(t, h, turns.TurnRunnerConfig{
			Executor: ack,
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				defer next()
				execution := event.ToolExecution{ToolName: "x", CallID: "sum", ExecutionID: "e", ProviderCallID: "p"}
				return errors.Join(
					ctx.EmitMessage("m", "Loading", false), ctx.EmitMessage("m", "…", true), ctx.EmitThought("m", "hm", true),
					ctx.EmitToolCall("c", event.ToolCallState{Tool: "x", Args: map[string]any{"a": 1}, Results: 7, IsComplete: true}),
					ctx.EmitToolExecutionStart(execution, nil), ctx.EmitToolExecutionEnd(execution, 5, true),
				)
			}},
		}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Fatal(result.Err)
		}
		if want := "tS msg msg th tc(true) xS xE(true) dS iS(0) iE(0,ack) dE(ack,1) tE(ack)"; log.words() != want {
			t.Errorf("events\n got %s\nwant %s", log.words(), want)
		}
		if ev := find[*event.Message](log)[1]; ev.Full != "Loading…" || ev.DispatchID != "" || ev.Iteration != -1 {
			t.Errorf("%+v", ev)
		}
		start, end := find[*event.ToolExecutionStart](log)[0], find[*event.ToolExecutionEnd](log)[0]
		if want := (event.ToolExecution{ToolName: "x", CallID: "sum", ExecutionID: "e", ProviderCallID: "p"}); start.ToolExecution != want || end.ToolExecution != want {
			t.Errorf("%+v, %+v", start, end)
		}
		if ev := find[*event.ToolCall](log)[0]; ev.Results != 7 || string(ev.Args) != `{"a":1}` {
			t.Errorf("%+v", ev)
		}
	})
}

// What a context emits and what an executor reports under the same id are two texts: neither adds to the other's.
func TestEmitBesideReports(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		log, result := play(t, h, turns.TurnRunnerConfig{
			Executor: func(d *turns.DispatchContext, h *turns.Helpers) error {
				return errors.Join(
					d.EmitMessage("a", "x", true), h.ReportMessage("a", "He", false), h.ReportMessage("a", "llo", true),
					d.EmitMessage("a", "y", true), h.ReportThought("b", "hm", false), d.EmitThought("b", "!", false), h.ReportThought("b", "", true),
					d.EmitInterruptedMessage("a", ""), d.Ack(),
				)
			},
		}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Fatal(result.Err)
		}
		var texts []string
		for _, ev := range find[*event.Message](log) {
			texts = append(texts, ev.Full)
		}
		for _, ev := range find[*event.Thought](log) {
			texts = append(texts, ev.Full)
		}
		if want := []string{"x", "He", "Hello", "xy", "xy", "hm", "hm!", "hm"}; !slices.Equal(texts, want) {
			t.Errorf("%q, want %q", texts, want)
		}
	})
}

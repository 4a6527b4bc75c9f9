package turns_test

import (
	"errors"
	"testing"

	"github.com/turncore/turncore/host/turns"
)

func TestEmit(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		log, result := play(t, h, turns.TurnRunnerConfig{
			Executor: ack,
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				defer next()
				return errors.Join(
					ctx.EmitMessage("m", "Loading", false), ctx.EmitMessage("m", "…", true), ctx.EmitThought("m", "hm", true),
					ctx.EmitToolCall("c", turns.ToolCallState{Tool: "x", Args: map[string]any{"a": 1}, Results: 7, IsComplete: true}),
					ctx.EmitToolExecutionStart("x", "sum", nil), ctx.EmitToolExecutionEnd("x", "sum", 5, true),
				)
			}},
		}, turns.TurnInput{})
		if result.Status != turns.Ack {
			t.Fatal(result.Err)
		}
		if want := "tS msg msg th tc(true) xS xE(true) dS iS(0) iE(0,ack) dE(ack,1) tE(ack)"; log.words() != want {
			t.Errorf("events\n got %s\nwant %s", log.words(), want)
		}
		if ev := find[*turns.MessageEvent](log)[1]; ev.Full != "Loading…" || ev.DispatchID != "" || ev.Iteration != -1 {
			t.Errorf("%+v", ev)
		}
		if ev := find[*turns.ToolCallEvent](log)[0]; ev.Results != 7 || string(ev.Args) != `{"a":1}` {
			t.Errorf("%+v", ev)
		}
	})
}

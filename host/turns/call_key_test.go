package turns_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// A tool's handler has a key of the turn and the place of the call: the same when the turn is run again, on any engine,
// whatever the time, and another one for any other call. So has what it starts.
func TestKeysOfToolCalls(t *testing.T) {
	sum := func(n int) string {
		checksum, err := record.ToolCallChecksum("work", json.RawMessage([]string{`{"n":0}`, `{"n":1}`, `{"n":7}`}[n]))
		if err != nil {
			t.Fatal(err)
		}
		return checksum
	}
	want := []string{
		"m turn.i.d1.0.x." + sum(2) + ".1",
		"n turn.d1.0.x.d1.0.x." + sum(2) + ".1",
		"n turn.d1.0.x.d2.0.x." + sum(2) + ".1",
		"n turn.d1.0.x.d3.0.x." + sum(2) + ".1",
		"n turn.d1.1.x.d1.0.x." + sum(2) + ".1",
		"w turn.d1.0.x." + sum(0) + ".1",
		"w turn.d1.0.x." + sum(0) + ".2",
		"w turn.d1.0.x." + sum(1) + ".1",
		"w turn.d1.1.x." + sum(0) + ".1",
	}
	for _, engine := range hosttest.Engines(t) {
		for run := range 2 {
			var mu sync.Mutex
			var keys []string
			note := func(by string, ctx turns.Context) {
				mu.Lock()
				defer mu.Unlock()
				keys = append(keys, by+" "+ctx.IdempotencyKey())
			}
			// once starts a dispatch that calls the tool with 7.
			once := func(ctx turns.Context, by string) error {
				_, err := turns.Dispatch(ctx, turns.DispatchInput{Source: ctx, Executor: func(d *turns.DispatchContext, _ *turns.Helpers) error {
					tool := workTool(func(ctx *turns.DispatchContext, _ int) (any, error) { note(by, ctx); return "x", nil })
					_, err := tool.Executor(d)(`{"n":7}`)
					return errors.Join(err, d.Ack())
				}})
				return err
			}
			tool := workTool(func(ctx *turns.DispatchContext, n int) (any, error) {
				note("w", ctx)
				if strings.HasSuffix(ctx.IdempotencyKey(), ".2") { // the second of two that are the same
					return "x", nil
				}
				err := once(ctx, "n")
				if n == 0 && ctx.Iteration() == 0 && err == nil {
					err = once(ctx, "n")
				}
				return "x", err
			})
			asked := 0
			h := turns.NewHost(turns.HostOptions{Engine: engine, Clock: host.FixedClock(host.FixedTime + int64(run)*1000), Verify: true})
			r := newRunner(t, turns.TurnRunnerConfig{
				Host: h, Tools: []*turns.Tool{tool},
				TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
					err := once(ctx, "m")
					next()
					return err
				}},
				Chat: &model.ChatOptions{Engine: &model.Engine{
					Capabilities: model.Capabilities{Tools: "native"},
					Generate: func(_ context.Context, _ *model.Request, send func(model.Part) error) error {
						if asked++; asked > 2 {
							return send(model.Part{Text: "done", Finish: "stop"})
						}
						for i, args := range [][]string{{`{"n":0}`, `{"n":1}`, `{"n":0}`}, {`{"n":0}`}}[asked-1] {
							call := &model.ToolCall{Index: new(i), ID: fmt.Sprint("c", asked, i), Name: "work", Arguments: args}
							if err := send(model.Part{ToolCall: call}); err != nil {
								return err
							}
						}
						return send(model.Part{Finish: "tool_calls"})
					},
				}, Options: map[string]any{"parallel": 1 + run*2}},
			})
			_, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Text: "Hi!", TurnID: "turn"})
			slices.Sort(keys)
			if err != nil || !slices.Equal(keys, want) {
				t.Errorf("%s, run %d: %v\n got %s\nwant %s", engine.Name(), run, err, strings.Join(keys, "\n     "), strings.Join(want, "\n     "))
			}
			if err := h.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

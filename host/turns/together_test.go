package turns_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// Tools that a model calls together run together, even if another goroutine delivers the events between their starts.
func TestToolsRunTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := turns.NewHost(turns.HostOptions{Engine: native.New()})
		defer h.Close(context.Background())
		var turn *turns.TurnContext
		asked, begun, holding, held := 0, [2]chan struct{}{make(chan struct{}), make(chan struct{})}, make(chan struct{}), make(chan struct{})
		engine := &model.Engine{
			Capabilities: model.Capabilities{Tools: "native"},
			Generate: func(_ context.Context, _ *model.Request, send func(model.Part) error) error {
				if asked++; asked > 1 {
					return send(model.Part{Text: "done", Finish: "stop"})
				}
				err := errors.Join(
					send(model.Part{ToolCall: &model.ToolCall{Index: new(0), ID: "c0", Name: "work", Arguments: `{"n":0}`}}),
					send(model.Part{ToolCall: &model.ToolCall{Index: new(1), ID: "c1", Name: "work", Arguments: `{"n":1}`}}),
				)
				// Another goroutine delivers from here on: its listener holds it until the tools wait to be run.
				go turn.EmitMessage("other", "x", true) //nolint:errcheck // what it says is seen by the listener
				<-holding
				return err
			},
		}
		tool := workTool(func(_ *turns.DispatchContext, n int) (any, error) {
			close(begun[n])
			<-begun[1-n] // the other one
			return n, nil
		})
		r := newRunner(t, turns.TurnRunnerConfig{
			Chat: &model.ChatOptions{Engine: engine, Options: map[string]any{"parallel": 2}}, Tools: []*turns.Tool{tool}, Host: h,
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error { turn = ctx; next(); return nil }},
		})
		starts := 0
		r.OnAny(func(ev event.Event) {
			switch ev := ev.(type) {
			case *event.Message:
				if ev.ID == "other" {
					close(holding)
					<-held
				}
			case *event.ToolExecutionStart:
				if starts++; starts == 2 {
					<-begun[0]
				}
			}
		})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Text: "Hi!"}); err != nil || result.Status != event.Ack {
				t.Error(result, err)
			}
		}()
		synctest.Wait()
		close(held)
		<-ended
	})
}

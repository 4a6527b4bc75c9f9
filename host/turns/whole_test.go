package turns_test

import (
	"context"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
)

// Code that cuts a text anywhere parts no characters: each delta has whole ones, and the text is all there.
func TestDeltasHaveWholeCharacters(t *testing.T) {
	const text = "né 😀, 日本!"
	for name, config := range map[string]turns.TurnRunnerConfig{
		"reported": {Executor: func(d *turns.DispatchContext, h *turns.Helpers) error {
			for i := range len(text) {
				if err := h.ReportMessage("m", text[i:i+1], i == len(text)-1); err != nil {
					return err
				}
			}
			return d.Ack()
		}},
		"emitted": {Executor: func(d *turns.DispatchContext, h *turns.Helpers) error {
			for i := range len(text) {
				if err := d.EmitMessage("m", text[i:i+1], i == len(text)-1); err != nil {
					return err
				}
			}
			return d.Ack()
		}},
		"of an engine": {Chat: &model.ChatOptions{Engine: &model.Engine{
			Generate: func(_ context.Context, _ *model.Request, send func(model.Part) error) error {
				for i := range len(text) {
					if err := send(model.Part{Text: text[i : i+1]}); err != nil {
						return err
					}
				}
				return send(model.Part{Finish: "stop"})
			},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, h *turns.Host) {
				events, result := play(t, h, config, turns.TurnInput{Text: "Hi!"})
				if result.Status != event.Ack || result.Text != text {
					t.Errorf("%v %v %q", result.Status, result.Err, result.Text)
				}
				for _, e := range events.events {
					if m, ok := e.(*event.Message); ok && strings.ContainsRune(m.Delta, '\ufffd') {
						t.Errorf("the delta %q", m.Delta)
					}
				}
			})
		})
	}
}

package turns_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// unordered is a store that does not tell how far the times of its sessions have come.
type unordered struct{ store.Store }

// A turn that runs again goes on behind what it has stored: its question stays in front of the work that it caused,
// and another turn's question goes behind everything, as far as the store tells times.
func TestATurnThatRunsAgain(t *testing.T) {
	for name, kept := range map[string]store.Store{"times": store.NewInMemory(), "no times": unordered{store.NewInMemory()}} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			asked := 0
			pay := turns.NewTool("pay", "Pays", func(*turns.DispatchContext, struct{}) (string, error) { return "paid", nil })
			engine := &model.Engine{
				Capabilities: model.Capabilities{Tools: "native"},
				Generate: func(_ context.Context, r *model.Request, send func(model.Part) error) error {
					var roles []string
					for _, m := range r.Messages[1:] {
						roles = append(roles, m.Role)
					}
					seen = append(seen, strings.Join(roles, " "))
					switch asked++; asked {
					case 1:
						return send(model.Part{ToolCall: &model.ToolCall{Name: "pay", Arguments: "{}"}})
					case 2:
						return errors.New("the network is gone")
					}
					return send(model.Part{Text: "done"})
				},
			}
			r := newFront(t, turns.Config{Model: turns.Model{Engine: engine}, Tools: []*turns.Tool{pay}, Store: kept})
			for _, id := range []string{"t1", "t1", "t2"} {
				_, err := r.Run(t.Context(), turns.Input{Message: "Pay!", TurnID: id})
				if fails := len(seen) == 2; (err != nil) != fails {
					t.Fatal(id, err)
				}
			}
			if name == "no times" {
				seen[3] = "user assistant tool assistant user"
			}
			if got, want := strings.Join(seen, "; "), "user; user assistant tool; user assistant tool; user assistant tool assistant user"; got != want {
				t.Errorf("the model sees %s, want %s", got, want)
			}
		})
	}
}

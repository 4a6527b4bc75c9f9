package sessions_test

import (
	"maps"
	"testing"

	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// Code that changes the actions of a callback or of a tool may write the state and save artifacts meanwhile.
func TestActionsWriteState(t *testing.T) {
	both := func(state *sessions.State, save func(name, mime string, data []byte) (int, error), a *sessions.Actions, name string) error {
		for i := range 40 { // more than are kept as they are
			if err := state.Set(name, i); err != nil {
				return err
			}
		}
		a.StateDelta = map[string]any{"more " + name: true}
		_, err := save(name, "text/plain", []byte("text"))
		return err
	}
	worker := tool("work", func(ctx *sessions.ToolContext) (any, error) {
		var err error
		ctx.Actions(func(a *sessions.Actions) { err = both(ctx.State(), ctx.SaveArtifact, a, "tool") })
		return "worked", err
	})
	asked := 0
	p := stage(t, sessions.Config{Agent: &sessions.LLMAgent{
		Name: "a", Tools: []*turns.Tool{worker},
		Executor: func(_ *sessions.ModelContext, yield func(*sessions.Response) error) error {
			if asked++; asked == 1 {
				return yield(calls("work")[0])
			}
			return yield(says("done")[0])
		},
		BeforeAgent: []sessions.AgentCallback{func(ctx *sessions.CallbackContext) (_ *sessions.Content, err error) {
			ctx.Actions(func(a *sessions.Actions) { err = both(ctx.State(), ctx.SaveArtifact, a, "callback") })
			return nil, err
		}},
	}})
	p.say("Hello")
	want := map[string]any{"tool": int64(39), "more tool": true, "callback": int64(39), "more callback": true}
	if got := p.stored().State(); !maps.Equal(got, want) {
		t.Errorf("the state is %v", got)
	}
	all, err := p.r.Sessions().Artifacts(t.Context(), "u", "s")
	if err != nil || !maps.Equal(all, map[string]int{"tool": 0, "callback": 0}) {
		t.Errorf("the artifacts are %v, %v", all, err)
	}
}

package sessions_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/sessions"
)

// Names that are not UTF-8 are read alike everywhere: in writes of the state, in events and of artifacts.
func TestNamesAreUTF8(t *testing.T) {
	const broken, whole = "a\xff", "a\uFFFD"
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			agent := &sessions.LLMAgent{
				Name: "guide",
				Executor: func(_ *sessions.ModelContext, yield func(*sessions.Response) error) error {
					return yield(says("hi")[0])
				},
				BeforeAgent: []sessions.AgentCallback{func(ctx *sessions.CallbackContext) (*sessions.Content, error) {
					if err := ctx.State().Set(broken, 1); err != nil {
						t.Error(err)
					}
					for _, name := range []string{broken, whole} {
						if v, err := ctx.State().Get(name); err != nil || v != int64(1) {
							t.Errorf("%q is %v, %v", name, v, err)
						}
					}
					if _, err := ctx.SaveArtifact(broken, "text/plain", []byte("text")); err != nil {
						t.Error(err)
					}
					for _, name := range []string{broken, whole} {
						if a, err := ctx.LoadArtifact(name, -1); err != nil || a == nil || string(a.Data) != "text" {
							t.Errorf("%q is %v, %v", name, a, err)
						}
					}
					return nil, nil
				}},
			}
			p := bare(t, sessions.Config{Agent: agent, Engine: engine})
			p.create("u", "s", nil)
			p.say("Hello")
			if v := p.stored().Get(whole); v != int64(1) {
				t.Errorf("the state has %v", p.stored().State())
			}
			all, err := p.r.Sessions().Artifacts(t.Context(), "u", "s")
			if err != nil || !maps.Equal(all, map[string]int{whole: 0}) {
				t.Errorf("the artifacts are %v, %v", all, err)
			}
			if a, err := p.r.Sessions().Artifact(t.Context(), "u", "s", broken, -1); err != nil || string(a.Data) != "text" {
				t.Error(errors.Join(err, errors.New("the artifact is not there")))
			}
		})
	}
}

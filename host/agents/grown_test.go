package agents_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/agents"
)

// everything is asks of every kind.
func everything() agents.Asks {
	return agents.Asks{
		HTTP: []agents.AskOrigin{{Origin: "https://a.example", Why: "to read"}, {Origin: "http://127.0.0.1:8080", Why: "to test"}},
		Credentials: []agents.AskCredential{
			{Name: "api-key", Origin: "https://a.example", Why: "to sign in"},
			{Name: "api-key", Origin: "https://b.example", Why: "to sign in"},
			{Name: "2nd", Origin: "https://b.example", Why: "to sign in"},
		},
		Tools: []agents.Ask{{Name: "mail", Why: "to send"}}, Models: []agents.Ask{{Name: "small", Why: "to sum up"}},
		Stores: []agents.Ask{{Name: "notes", Why: "to remember"}}, Log: 100, Quota: &agents.Quota{Steps: 1 << 40},
	}
}

// The grant of what is asked for is one that the agent can be loaded with.
func TestGrantOfAsks(t *testing.T) {
	asks := everything()
	g := asks.Grant("research")
	if err := g.Check(manifest(asks)); err != nil {
		t.Error(err)
	}
	if names := fmt.Sprint(g.Credentials[0].From.Env, " ", g.Credentials[1].From.Env); names != "API_KEY _2ND" {
		t.Errorf("the variables are %s", names)
	}
	asks = agents.Asks{}
	if g := asks.Grant("research"); g.HTTP != nil || g.Log != nil || len(g.Tools) > 0 {
		t.Errorf("for nothing there is %+v", g)
	}
}

func TestGrown(t *testing.T) {
	old, asks := manifest(everything()), everything()
	if list := manifest(everything()).Grown(old); len(list) > 0 {
		t.Errorf("the same has grown: %q", list)
	}
	if list := manifest(agents.Asks{}).Grown(old); len(list) > 0 {
		t.Errorf("less has grown: %q", list)
	}
	asks.HTTP = append(asks.HTTP, agents.AskOrigin{Origin: "https://c.example", Why: "to write"})
	asks.Log = 200
	got := fmt.Sprint(manifest(asks).Grown(old))
	if want := "[requests to https://c.example (to write) 200 bytes of log for each turn, 100 are granted]"; got != want {
		t.Errorf("grown is %s, want %s", got, want)
	}
	if list := old.Grown(manifest(agents.Asks{})); len(list) != 10 {
		t.Errorf("beside nothing it asks for %q", list)
	}
}

// What is missing is told, and no nil pointer is followed.
func TestWithoutWhatIsMeant(t *testing.T) {
	m := &agents.Manifest{Name: "a", Version: "1.0.0", Description: "d", Asks: agents.Asks{Tools: []agents.Ask{{Name: "mail"}}}}
	if err := (&agents.Grant{Agent: "a"}).Check(nil); !errors.Is(err, host.CodeAgentManifest) {
		t.Errorf("the error is %v", err)
	}
	if _, err := agents.WithManifest([]byte("\x00asm\x01\x00\x00\x00"), nil); !errors.Is(err, host.CodeAgentManifest) {
		t.Errorf("the error is %v", err)
	}
	if more := m.Grown(nil); len(more) != 1 {
		t.Errorf("it asks for %v", more)
	}
	none := func(context.Context, []byte) (host.Engine, error) { return nil, nil }
	if _, err := agents.Open(t.Context(), file(t, m), agents.ModuleOptions{Engine: none}); !errors.Is(err, host.CodeInvalidValue) {
		t.Errorf("the error is %v", err)
	}
}

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/agents/build"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
)

// built is the agent, which all tests share.
var built = sync.OnceValues(func() (*build.Agent, error) {
	return build.Package(context.Background(), ".", build.Options{})
})

// load loads the agent with the grant in grant.json. Its model has a script.
func load(t *testing.T, script *turntest.Script) *agents.Agent {
	t.Helper()
	text, err := os.ReadFile("grant.json")
	if err != nil {
		t.Fatal(err)
	}
	grant, err := agents.ReadGrant(text)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return turntest.LoadBytes(t, agent.File, agents.Options{
		Grant: grant,
		Model: func(provider, name string) (turns.Model, error) { return script.Model(), nil },
	})
}

func TestGreets(t *testing.T) {
	script := turntest.NewScript(t, turntest.Call("greet", map[string]any{"name": "Ada"}), turntest.Text("I said hello."))
	runner, err := turns.New(t.Context(), load(t, script).Config())
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	result, err := runner.Run(t.Context(), turns.Input{Message: "Greet Ada, please."})
	if err != nil {
		t.Fatal(err)
	}
	if result.Text != "I said hello." {
		t.Errorf("it answers %q", result.Text)
	}
	if got := fmt.Sprint(result.ToolCalls[0].Results); !strings.Contains(got, "Hello, Ada!") {
		t.Errorf("the tool returned %s", got)
	}
}

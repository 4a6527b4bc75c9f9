package sessions_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// TestInvalidAgents lists all that is wrong with a configuration.
func TestInvalidAgents(t *testing.T) {
	twice := &sessions.LoopAgent{Name: "twice", MaxIterations: -1}
	config := sessions.Config{
		Agent: &sessions.SequentialAgent{Name: "root", Agents: []sessions.Agent{
			&sessions.LLMAgent{Name: "m", Confirm: []string{"t"}, AfterTool: []sessions.AfterToolCallback{nil}}, twice, twice, nil,
			&sessions.CustomAgent{Name: "c", BeforeAgent: []sessions.AgentCallback{nil}},
			&sessions.LLMAgent{Name: "k", OutputKey: "temp_x"}, &sessions.LLMAgent{Name: "l", OutputKey: "app:"},
			&sessions.LLMAgent{Name: "n", OutputKey: "user:x"},
		}},
		Plugins: []*sessions.Plugin{nil},
	}
	_, err := sessions.New(t.Context(), config)
	if !errors.Is(err, host.CodeInvalidAgent) {
		t.Fatal(err)
	}
	if text := err.Error(); strings.Contains(text, "agents[7].outputKey") {
		t.Errorf("a name with a scope is refused: %s", text)
	}
	for _, part := range []string{
		`agent.agents[5].outputKey: a scope is app:, user: or temp:; did you mean "temp:x"?`,
		"agent.agents[6].outputKey: a name must not be empty",
		"app: must be a non-empty string", "agent.agents[0].model: must be exactly one of", `confirm: there is no tool "t"`,
		"agent.agents[1].maxIterations: must not be negative", `agent.agents[2]: the agent "twice" is in the tree already`,
		"agent.agents[3]: must be an agent", "agent.agents[4].run: must be a function", "plugins[0]: must not be nil",
		"agent.agents[0].afterTool[0]: must be a function", "agent.agents[4].beforeAgent[0]: must be a function",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the message lacks %q: %v", part, err)
		}
	}
}

// What would be ignored is refused, and so are two tools of one name.
func TestInvalidConfig(t *testing.T) {
	add := func() *turns.Tool { return tool("add", func(*sessions.ToolContext) (any, error) { return "ok", nil }) }
	answer := func(*sessions.ModelContext, func(*sessions.Response) error) error { return nil }
	_, err := sessions.New(t.Context(), sessions.Config{
		App: "app", Host: turns.NewHost(turns.HostOptions{}), Engine: native.New(),
		Agent: &sessions.SequentialAgent{Name: "root", Agents: []sessions.Agent{
			&sessions.LLMAgent{Name: "a", Executor: answer, Tools: []*turns.Tool{add(), nil, add()}},
			&sessions.LLMAgent{Name: "b", Model: turns.Model{APIKey: "k"}},
			&sessions.LLMAgent{Name: "c", Executor: answer, Model: turns.Model{Provider: "openai"}},
		}},
	})
	if !errors.Is(err, host.CodeInvalidAgent) {
		t.Fatal(err)
	}
	for _, part := range []string{
		"engine: cannot be given beside a host", `agent.agents[0].tools[2]: has the name of tools[0], "add"`,
		"`agent.agents[1].model.name` must be a non-empty string", "agent.agents[2].model: must be exactly one of",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the message lacks %q: %v", part, err)
		}
	}
}

// A tool has the name of the one that hands over, beside agents that it could hand over to.
func TestTransferHasItsName(t *testing.T) {
	answer := func(*sessions.ModelContext, func(*sessions.Response) error) error { return nil }
	agent := &sessions.LLMAgent{
		Name: "root", Executor: answer,
		Tools:  []*turns.Tool{tool("transfer_to_agent", func(*sessions.ToolContext) (any, error) { return "ok", nil })},
		Agents: []sessions.Agent{&sessions.LLMAgent{Name: "sub", Executor: answer}},
	}
	_, err := sessions.New(t.Context(), sessions.Config{App: "app", Agent: agent})
	if !errors.Is(err, host.CodeInvalidAgent) || !strings.Contains(err.Error(), `agent "root": tools: two have the name "transfer_to_agent"`) {
		t.Error(err)
	}
	agent.Agents = nil
	r, err := sessions.New(t.Context(), sessions.Config{App: "app", Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

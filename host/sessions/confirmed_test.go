package sessions_test

import (
	"testing"

	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// A call of an agent that is a tool has not been confirmed, whatever id its model gives it.
func TestConfirmedElsewhere(t *testing.T) {
	call := func(name, id string) []*sessions.Response {
		return []*sessions.Response{{Content: sessions.ModelCall(sessions.FunctionCall{ID: id, Name: name})}}
	}
	var confirmed []bool
	pay := func() *turns.Tool {
		return tool("pay", func(ctx *sessions.ToolContext) (any, error) {
			answer, err := ctx.Confirmation()
			confirmed = append(confirmed, answer != nil)
			return "paid", err
		})
	}
	expert := script(call("pay", "x"), says("very")).agent("expert", pay())
	agent := script(call("pay", "x"), call("expert", "y"), says("done")).agent("a", pay())
	agent.Confirm = []string{"pay"}
	agent.AgentTools = []*sessions.AgentTool{{Agent: expert, InputSchema: []byte(`{"type":"object"}`)}}
	p := stage(t, sessions.Config{Agent: agent})
	p.say("hello")
	p.is("after the answer", shown(p.run(sessions.Answer("x", "pay", map[string]any{"confirmed": true}))...), "a:=pay a:expert() a:=expert a:done")
	p.is("confirmed", text(confirmed), "[true,false]")
}

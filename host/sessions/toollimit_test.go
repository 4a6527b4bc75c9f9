package sessions_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// callsTools is a provider whose first answer calls tools, and whose second one is "done".
func callsTools(t *testing.T, names ...string) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		message := `{"content":"done"}`
		if !strings.Contains(string(body), `"role":"tool"`) {
			var list []string
			for _, name := range names {
				list = append(list, `{"id":"c-`+name+`","type":"function","function":{"name":"`+name+`","arguments":"{}"}}`)
			}
			message = `{"tool_calls":[` + strings.Join(list, ",") + `]}`
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":`+message+`,"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// timed is the model behind an address, with a bound on the time of tools.
func timed(url string, ms int) turns.Model {
	return turns.Model{Name: "m", BaseURL: url, Options: map[string]any{"stream": false, "toolTimeoutMs": ms}}
}

// A tool that takes longer than the model's options allow has its context end; the model is told, and the invocation
// goes on. What the tool wrote before is stored, and what it writes later is refused.
func TestToolTimeout(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			answered, late := make(chan struct{}), make(chan error, 1)
			slow := tool("slow", func(ctx *sessions.ToolContext) (any, error) {
				if err := ctx.State().Set("before", 1); err != nil {
					t.Error(err)
				}
				<-ctx.Done()
				if cause := context.Cause(ctx); !errors.Is(cause, host.CodeChatToolTimeout) {
					t.Errorf("the context ends with %v", cause)
				}
				<-answered
				late <- ctx.State().Set("after", 1)
				return "late", nil
			})
			fast := tool("fast", func(*sessions.ToolContext) (any, error) { return "in time", nil })
			agent := &sessions.LLMAgent{Name: "a", Model: timed(callsTools(t, "slow", "fast"), 1000), Tools: []*turns.Tool{slow, fast}}
			p := stage(t, sessions.Config{Engine: engine, Agent: agent})
			list := p.say("hello")
			close(answered)
			p.is("delivered", shown(list...), `a:slow()fast() a:=slow=fast{"before":1} ~a:done a:done`)
			responses := list[1].FunctionResponses()
			p.is("the results", text([]any{responses[0].Response, responses[1].Response}),
				`[{"error":"The tool exceeded its time limit: more than 1000 ms"},{"result":"in time"}]`)
			if err := <-late; !errors.Is(err, host.CodeCallAfterEnd) {
				t.Errorf("a late write: %v", err)
			}
			p.is("the state", state(p.stored()), `{"before":1}`)
			p.is("the next invocation", shown(p.say("again")...), "~a:done a:done")
		})
	}
}

// An agent that is a tool is not bounded by the options of the model that calls it.
func TestToolTimeoutOfAgents(t *testing.T) {
	expert := &sessions.LLMAgent{Name: "expert", Executor: func(ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(150 * time.Millisecond):
			return yield(says("late")[0])
		}
	}}
	agent := &sessions.LLMAgent{
		Name: "a", Model: timed(callsTools(t, "expert"), 20),
		AgentTools: []*sessions.AgentTool{{Agent: expert, InputSchema: []byte(`{"type":"object"}`)}},
	}
	p := stage(t, sessions.Config{Agent: agent})
	list := p.say("hello")
	p.is("delivered", shown(list...), "a:expert() a:=expert ~a:done a:done")
	p.is("the result", text(list[1].FunctionResponses()[0].Response), `{"result":"late"}`)
}

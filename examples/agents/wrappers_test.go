package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/agents/build"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
)

// panelists are the models of the panel behind an API: the small one drafts, the large one answers.
type panelists struct{}

// RoundTrip implements http.RoundTripper.
func (panelists) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	var asked struct{ Model string }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	said := `{"choices":[{"index":0,"delta":{"content":"fine"},"finish_reason":"stop"}]}`
	if asked.Model == "small" {
		said = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",` +
			`"function":{"name":"draft","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: io.NopCloser(strings.NewReader("data: " + said + "\n\ndata: [DONE]\n\n")),
	}, nil
}

// The wrappers of a runner are around each call of an agent's models, and events tell of it by the model that is asked.
// js/test/agents/examples.test.mjs has the same.
func TestCallsOfAnAgentsModels(t *testing.T) {
	grant, err := agents.ReadGrant(read(t, "testdata/panel/grant.json"))
	if err != nil {
		t.Fatal(err)
	}
	built, err := build.Package(t.Context(), "testdata/panel", build.Options{})
	if err != nil {
		t.Fatal(err)
	}
	module, err := agents.Open(t.Context(), built.File, agents.ModuleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close(context.Background())
	for _, key := range []string{"", "key of "} {
		t.Run(key, func(t *testing.T) {
			agent, err := module.Load(agents.Options{
				Grant: grant,
				Model: func(_, name string) (turns.Model, error) {
					m := turns.Model{Name: name, BaseURL: "https://models.test/v1"}
					if key != "" {
						m.APIKey = key + name
					}
					return m, nil
				},
				Host: turns.HostOptions{HTTP: panelists{}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer agent.Close(context.Background())
			var calls []string
			config := agent.Config()
			config.WrapModel = []model.Wrapper{func(ctx context.Context, call *model.Invocation, send func(model.Chunk) error, next model.Next) error {
				calls = append(calls, fmt.Sprint("call ", call.Provider, " ", call.Model, " ", call.Iteration))
				return next(ctx, call, send)
			}}
			runner, err := turns.New(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer runner.Close()
			turns.Listen(runner.TurnRunner, func(e *event.ModelCallStart) {
				calls = append(calls, fmt.Sprint("start ", e.Provider, " ", e.Model, " ", e.Iteration))
			})
			turns.Listen(runner.TurnRunner, func(e *event.ModelCallEnd) {
				calls = append(calls, fmt.Sprint("end ", e.Status, " ", e.Provider, " ", e.Model, " ", e.HTTPStatus))
			})
			result, err := runner.Run(t.Context(), turns.Input{Message: "Hi"})
			if err != nil || result.Text != "fine" {
				t.Fatalf("%+v, %v", result, err)
			}
			want := []string{
				"start openai small 0", "call openai small 0", "end ok openai small 200",
				"start openai large 1", "call openai large 1", "end ok openai large 200",
			}
			if !slices.Equal(calls, want) {
				t.Errorf("the calls are\n%s\nwant\n%s", strings.Join(calls, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

package agents_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/turns"
)

// A module without an agent inside has no executor: who makes a runner of it is told so.
func TestNoAgentInside(t *testing.T) {
	ctx := t.Context()
	agent, err := agents.Load(ctx, file(t, manifest(agents.Asks{})), agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close(context.Background())
	runner, err := turns.New(ctx, agent.Config())
	if err == nil {
		runner.Close()
	}
	const says = "`executor` must be given: the module has no agent inside, and its grant names no model"
	if !errors.Is(err, host.CodeInvalidTurnRunnerConfig) || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is %v", err)
	}
	if _, err := turns.NewTurnRunner(turns.TurnRunnerConfig{Host: agent.Host()}); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is %v", err)
	}
}

// asked is a model that says whether it was asked with the key.
type asked string

func (key asked) RoundTrip(r *http.Request) (*http.Response, error) {
	text := fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":"with the key: %v"}}]}`, r.Header.Get("Authorization") == "Bearer "+string(key))
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(text + "\n\ndata: [DONE]\n\n")), Request: r,
	}, nil
}

// A module without an agent inside calls the first model that it asks for.
func TestModelWithoutAnAgentInside(t *testing.T) {
	ctx := t.Context()
	asks := agents.Asks{Models: []agents.Ask{{Name: "main", Why: "to answer"}, {Name: "small", Why: "to sum up"}}}
	agent, err := agents.Load(ctx, file(t, manifest(asks)), agents.Options{
		Grant: &agents.Grant{Agent: "research", Models: map[string]string{"main": "openai/large", "small": "openai/small"}},
		Model: func(_, name string) (turns.Model, error) {
			return turns.Model{Name: name, BaseURL: "http://models.test/v1", APIKey: "key of " + name}, nil
		},
		Host: turns.HostOptions{HTTP: asked("key of large")},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close(context.Background())
	runner, err := turns.New(ctx, agent.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	result, err := runner.Run(ctx, turns.Input{Message: "Hi"})
	if err != nil || result.Text != "with the key: true" {
		t.Errorf("%+v, %v", result, err)
	}
}

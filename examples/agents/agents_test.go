// Package agents_test plays the agents of this folder, to the same event logs on each host.
package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path"
	"reflect"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/agents/build"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
	"github.com/turncore/turncore/host/wazero"
)

// play is a file of testdata: the turns of a conversation, and what answers the agent.
type play struct {
	Agent   string                     `json:"agent"`
	Options json.RawMessage            `json:"options"`
	HTTP    map[string]json.RawMessage `json:"http"` // answers, by address
	Turns   []struct {
		Message string         `json:"message"`
		Answers [][]model.Part `json:"answers"` // of the model
		Gates   []any          `json:"gates"`   // decisions
		Stash   map[string]any `json:"stash"`   // what the agent sets of it, as the host sees it at the end
	} `json:"turns"`
}

// RoundTrip implements http.RoundTripper.
func (p *play) RoundTrip(r *http.Request) (*http.Response, error) {
	body, status := p.HTTP[r.URL.String()], http.StatusOK
	if body == nil {
		body, status = json.RawMessage("{}"), http.StatusNotFound
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAgents(t *testing.T) {
	for _, folder := range []string{"research", "moderation", "testdata/panel"} {
		name := path.Base(folder)
		t.Run(name, func(t *testing.T) {
			var p play
			if err := json.Unmarshal(read(t, "testdata/"+name+".json"), &p); err != nil {
				t.Fatal(err)
			}
			grant, err := agents.ReadGrant(read(t, folder+"/grant.json"))
			if err != nil {
				t.Fatal(err)
			}
			var answers []turntest.Answer
			for _, turn := range p.Turns {
				for _, parts := range turn.Answers {
					answers = append(answers, turntest.Parts(parts...))
				}
			}
			script := turntest.NewScript(t, answers...)
			built, err := build.Package(t.Context(), folder, build.Options{})
			if err != nil {
				t.Fatal(err)
			}
			agent, err := agents.Load(t.Context(), built.File, agents.Options{
				Grant: grant, Options: p.Options,
				Model: func(_, name string) (turns.Model, error) {
					m := script.Model()
					m.Name = name
					return m, nil
				},
				Host: turns.HostOptions{Clock: host.FixedClock(host.FixedTime), Entropy: host.SeededEntropy(1), HTTP: &p},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := agent.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
			events, journals := p.run(t, agent)
			turntest.Golden(t, events, "testdata/"+name+".golden")
			engine, err := wazero.New(t.Context(), built.File)
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close(context.Background())
			for _, written := range journals {
				reader, err := journal.NewReader(written)
				if err != nil {
					t.Fatal(err)
				}
				if entries, err := journal.Replay(t.Context(), engine, reader); err != nil || entries < 5 {
					t.Errorf("the replay of a turn: %d entries, %v", entries, err)
				}
			}
		})
	}
}

// run runs the turns and returns their events and their journals.
func (p *play) run(t *testing.T, agent *agents.Agent) (events []event.Event, journals []*bytes.Buffer) {
	t.Helper()
	config := agent.Config()
	var stash map[string]any
	config.DispatchOutputPipeline = append(config.DispatchOutputPipeline, func(ctx *turns.DispatchContext, next func()) error {
		stash = ctx.Stash().All()
		next()
		return nil
	})
	runner, err := turns.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	for _, turn := range p.Turns {
		gates, written := turn.Gates, new(bytes.Buffer)
		journals = append(journals, written)
		_, _ = runner.Run(t.Context(), turns.Input{Message: turn.Message, Journal: written, OnEvent: func(e event.Event) { // the events say how it ends
			events = append(events, e)
			if open, ok := e.(*event.TurnGateOpen); ok && len(gates) > 0 {
				if err := open.Gate.Resolve(gates[0]); err != nil {
					t.Error(err)
				}
				gates = gates[1:]
			}
		}})
		for key, want := range turn.Stash {
			if !reflect.DeepEqual(stash[key], want) {
				t.Errorf("%q: the host sees the stash %v", turn.Message, stash)
			}
		}
		if len(gates) > 0 {
			t.Errorf("%q: the decisions %v were not asked for", turn.Message, gates)
		}
	}
	return events, journals
}

package sessions_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// A caller that leaves at the event of an agent does not wait for those beside it: whatever they wait for is told.
func TestLeavingStopsOtherAgents(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		begun := make(chan struct{}, 1)
		// held waits until nobody wants the result.
		held := func(ctx context.Context) error {
			begun <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // a server hears of a client that has left when there is nothing to read
			_ = held(r.Context())
		}))
		defer server.Close()
		var told error
		waits := func(ctx context.Context) error {
			told = held(ctx)
			return told
		}
		callback := func(ctx *sessions.CallbackContext) (*sessions.Content, error) { return nil, waits(ctx) }
		for name, other := range map[string]sessions.Agent{
			"model behind an API": &sessions.LLMAgent{Name: "b", Model: turns.Model{Name: "m", BaseURL: server.URL}},
			"executor": &sessions.LLMAgent{Name: "b", Executor: func(ctx *sessions.ModelContext, _ func(*sessions.Response) error) error {
				return waits(ctx)
			}},
			"custom agent": &sessions.CustomAgent{Name: "b", Run: func(ctx *sessions.Context, _ func(*sessions.Event) error) error {
				return waits(ctx)
			}},
			"callback around an agent": &sessions.SequentialAgent{Name: "b", BeforeAgent: []sessions.AgentCallback{callback}},
			"callback before a model": &sessions.LLMAgent{
				Name: "b", Executor: script().execute,
				BeforeModel: []sessions.BeforeModelCallback{func(ctx *sessions.CallbackContext) (*sessions.Response, error) { return nil, waits(ctx) }},
			},
		} {
			t.Run(engine.Name()+"/"+name, func(t *testing.T) {
				told = nil
				a := &sessions.CustomAgent{Name: "a", Run: func(ctx *sessions.Context, yield func(*sessions.Event) error) error {
					select {
					case <-begun:
					case <-ctx.Done():
						return context.Cause(ctx)
					}
					return yield(said("enough"))
				}}
				p := stage(t, sessions.Config{Engine: engine, Agent: &sessions.ParallelAgent{Name: "both", Agents: []sessions.Agent{a, other}}})
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				for _, err := range p.r.Run(ctx, input(sessions.Text("hello"))) {
					if err != nil {
						t.Error(err)
					}
					break
				}
				if ctx.Err() != nil {
					t.Error("the caller has waited")
				}
				if name != "model behind an API" && !errors.Is(told, host.CodeInvocationStopped) {
					t.Errorf("the other agent was told %v", told)
				}
				p.is("stored", p.log(), "user:hello a:enough")
			})
		}
	}
}

// The tools of an agent that is stopped are told, too.
func TestFailingStopsTools(t *testing.T) {
	boom := errors.New("boom")
	for _, engine := range hosttest.Engines(t) {
		begun := make(chan struct{}, 1)
		b := script(calls("t"), says("never")).agent("b", tool("t", func(ctx *sessions.ToolContext) (any, error) {
			begun <- struct{}{}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}))
		a := &sessions.CustomAgent{Name: "a", Run: func(_ *sessions.Context, yield func(*sessions.Event) error) error {
			if err := yield(said("first")); err != nil {
				return err
			}
			<-begun
			return boom
		}}
		p := stage(t, sessions.Config{Engine: engine, Agent: &sessions.ParallelAgent{Name: "both", Agents: []sessions.Agent{a, b}}})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, err := p.r.Collect(ctx, input(sessions.Text("hello"))); !errors.Is(err, boom) {
			t.Errorf("%s: the invocation has failed with %v", engine.Name(), err)
		}
		p.is("stored", p.log(), "user:hello a:first b:t()")
	}
}

// Package invocation is one invocation of an agent of Google's kit for Go, on a model that answers at once: a tool
// call, which writes a value of the state, then a text.
package invocation

import (
	"context"
	"fmt"
	"iter"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

const (
	app  = "bench"
	user = "user"
)

// canned asks for the tool, and answers when it has the result.
type canned struct{}

func (canned) Name() string { return "canned" }

func (canned) GenerateContent(_ context.Context, request *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	part := genai.NewPartFromText("The capital of France is Paris.")
	if last := request.Contents[len(request.Contents)-1]; last.Parts[0].FunctionResponse == nil {
		part = genai.NewPartFromFunctionCall("capital_of", map[string]any{"country": "France"})
	}
	response := &model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{part}, genai.RoleModel), TurnComplete: true}
	return func(yield func(*model.LLMResponse, error) bool) { yield(response, nil) }
}

// Kit is a runner with sessions in memory.
type Kit struct {
	sessions session.Service
	runner   *runner.Runner
}

// New makes the runner.
func New() (*Kit, error) {
	type args struct {
		Country string `json:"country"`
	}
	type result struct {
		Result string `json:"result"`
	}
	capital, err := functiontool.New(functiontool.Config{Name: "capital_of", Description: "Returns the capital of a country."},
		func(ctx agent.Context, in args) (result, error) {
			return result{"Paris"}, ctx.State().Set("last_country", in.Country)
		})
	if err != nil {
		return nil, err
	}
	root, err := llmagent.New(llmagent.Config{
		Name: "root", Description: "Answers questions about geography.", Instruction: "Answer briefly.", Model: canned{}, Tools: []tool.Tool{capital},
	})
	if err != nil {
		return nil, err
	}
	sessions := session.InMemoryService()
	r, err := runner.New(runner.Config{AppName: app, Agent: root, SessionService: sessions})
	return &Kit{sessions, r}, err
}

func (k *Kit) create(ctx context.Context) error {
	_, err := k.sessions.Create(ctx, &session.CreateRequest{AppName: app, UserID: user, SessionID: "s"})
	return err
}

func (k *Kit) delete(ctx context.Context) error {
	return k.sessions.Delete(ctx, &session.DeleteRequest{AppName: app, UserID: user, SessionID: "s"})
}

func (k *Kit) ask(ctx context.Context) error {
	events := 0
	message := genai.NewContentFromText("What is the capital of France?", genai.RoleUser)
	for _, err := range k.runner.Run(ctx, user, "s", message, agent.RunConfig{}) {
		if err != nil {
			return err
		}
		events++
	}
	if events != 3 {
		return fmt.Errorf("an invocation of %d events is not what is measured", events)
	}
	return nil
}

// Alone takes samples, in microseconds, of an invocation in a session that is made for it and deleted.
func (k *Kit) Alone(ctx context.Context, samples int) ([]float64, error) {
	return timed(samples, func() error {
		if err := k.create(ctx); err != nil {
			return err
		}
		if err := k.ask(ctx); err != nil {
			return err
		}
		return k.delete(ctx)
	}, func() error { return nil })
}

// Further takes samples of an invocation in a session that has had others.
func (k *Kit) Further(ctx context.Context, samples, before int) ([]float64, error) {
	return timed(samples, func() error { return k.ask(ctx) }, func() error {
		if err := k.delete(ctx); err != nil {
			return err
		}
		if err := k.create(ctx); err != nil {
			return err
		}
		for range before {
			if err := k.ask(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// timed takes samples, after a fifth as many to warm up.
func timed(samples int, run, prepare func() error) ([]float64, error) {
	list := make([]float64, 0, samples)
	for i := range samples + samples/5 {
		if err := prepare(); err != nil {
			return nil, err
		}
		start := time.Now()
		if err := run(); err != nil {
			return nil, err
		}
		if i >= samples/5 {
			list = append(list, float64(time.Since(start).Nanoseconds())/1000)
		}
	}
	return list, nil
}

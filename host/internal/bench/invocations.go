package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
	fullmodule "github.com/turncore/turncore/wasm/full"
)

// measureInvocations measures invocations of an agent whose model asks for one tool call, which writes a value of the
// state: in a session of their own, and in one that has had others. The core module has no sessions: wazero runs the
// full one.
func measureInvocations(ctx context.Context, p pace, e host.Engine, cache string) ([]figure.Row, error) {
	if e.Name() == wazero.Name {
		module, ok := fullmodule.Module()
		if !ok {
			return nil, errors.New("this build carries no full module")
		}
		var err error
		if e, err = wazero.New(ctx, module, wazero.WithCacheDir(cache)); err != nil {
			return nil, err
		}
		defer e.Close(ctx)
	}
	plain, err := newGeography(ctx, e, nil)
	if err != nil {
		return nil, err
	}
	defer plain.close()
	chat, err := newGeography(ctx, e, newProvider(20, part))
	if err != nil {
		return nil, err
	}
	defer chat.close()
	alone := []*subject{timed(figure.Invocation, plain.alone), timed(figure.InvocationChat, chat.alone)}
	if err := p.measure(alone...); err != nil {
		return nil, err
	}
	var further []*subject
	for id, before := range []int{0, 50, longHistory} {
		further = append(further, plain.further([]string{figure.Invocation0, figure.Invocation50, figure.Invocation5000}[id], before))
	}
	if err := p.measure(further...); err != nil {
		return nil, err
	}
	var rows []figure.Row
	for _, s := range append(alone, further...) {
		rows = append(rows, s.row(e.Name()))
	}
	return append(
		rows,
		paired(figure.InvocationEarly, e.Name(), figure.Times, further[1], further[0], ratio),
		paired(figure.InvocationLate, e.Name(), figure.Times, further[2], further[0], ratio),
	), nil
}

// geography is a runner whose agent looks up a capital.
type geography struct {
	host   *turns.Host
	runner *sessions.Runner
	made   int // sessions
}

func newGeography(ctx context.Context, e host.Engine, p *provider) (*geography, error) {
	capital := sessions.NewTool("capital_of", "Returns the capital of a country.",
		func(ctx *sessions.ToolContext, in struct {
			Country string `json:"country"`
		},
		) (map[string]any, error) {
			return map[string]any{"result": "Paris"}, ctx.State().Set("last_country", in.Country)
		})
	agent := &sessions.LLMAgent{
		Name: "root", Description: "Answers questions about geography.", Instruction: "Answer briefly.", Tools: []*turns.Tool{capital},
	}
	options := turns.HostOptions{Engine: e, Instances: 1}
	if p == nil {
		agent.Executor = lookUp
	} else {
		add := sessions.NewTool("add", "Adds two numbers.", func(ctx *sessions.ToolContext, in struct{ A, B float64 }) (float64, error) {
			return in.A + in.B, ctx.State().Set("last", in.A)
		})
		agent.Tools = []*turns.Tool{add}
		agent.Chat = &model.ChatOptions{Model: "m", BaseURL: "http://provider/v1"}
		options.HTTP = p
	}
	h := turns.NewHost(options)
	r, err := sessions.New(ctx, sessions.Config{App: "bench", Agent: agent, Host: h})
	if err != nil {
		return nil, err
	}
	return &geography{host: h, runner: r}, nil
}

// lookUp is a model that asks for the tool, and answers when it has the result.
func lookUp(ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
	request, err := ctx.Request()
	if err != nil {
		return err
	}
	content := sessions.ModelText("The capital of France is Paris.")
	if last := request.Contents[len(request.Contents)-1]; last.Parts[0].FunctionResponse == nil {
		content = sessions.ModelCall(sessions.FunctionCall{Name: "capital_of", Args: map[string]any{"country": "France"}})
	}
	return yield(&sessions.Response{Content: content, TurnComplete: true})
}

func (g *geography) create() (id string, err error) {
	g.made++
	s, err := g.runner.Sessions().Create(context.Background(), "user", "s"+strconv.Itoa(g.made), nil)
	if err != nil {
		return "", err
	}
	return s.ID, nil
}

func (g *geography) ask(id string) error {
	events := 0
	in := sessions.Input{User: "user", Session: id, Message: sessions.Text("What is the capital of France?")}
	for e, err := range g.runner.Run(context.Background(), in) {
		if err != nil {
			return err
		}
		if !e.Partial {
			events++
		}
	}
	if events != 3 {
		return fmt.Errorf("an invocation of %d events: %w", events, errUnexpected)
	}
	return nil
}

func (g *geography) delete(id string) error {
	return g.runner.Sessions().Delete(context.Background(), "user", id)
}

// alone is an invocation in a session of its own.
func (g *geography) alone() error {
	id, err := g.create()
	if err != nil {
		return err
	}
	return errors.Join(g.ask(id), g.delete(id))
}

// further measures an invocation in a session that has had so many. A session serves until it has had half as many
// again.
func (g *geography) further(figureID string, before int) *subject {
	id, had := "", 0
	return &subject{figure: figureID, sample: func() (float64, error) {
		if id == "" || had > before+before/2 {
			if id != "" {
				if err := g.delete(id); err != nil {
					return 0, err
				}
			}
			var err error
			if id, err = g.create(); err != nil {
				return 0, err
			}
			for had = 0; had < before; had++ {
				if err := g.ask(id); err != nil {
					return 0, err
				}
			}
		}
		had++
		start := time.Now()
		err := g.ask(id)
		return float64(time.Since(start).Nanoseconds()), err
	}}
}

func (g *geography) close() {
	_ = g.runner.Close()
	_ = g.host.Close(context.Background())
}

package sessions_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// play is a runner in a test, with a store and the session "s" of the user "u".
type play struct {
	*testing.T
	r     *sessions.Runner
	store sessions.Store
}

// stage makes a runner for a test and its session.
func stage(t *testing.T, config sessions.Config) *play {
	t.Helper()
	p := bare(t, config)
	p.create("u", "s", nil)
	return p
}

// bare makes a runner for a test, without a session.
func bare(t *testing.T, config sessions.Config) *play {
	t.Helper()
	if config.App == "" {
		config.App = "app"
	}
	if config.Store == nil {
		config.Store = store.NewInMemory()
	}
	if config.Engine == nil && config.Host == nil {
		config.Engine = native.New()
	}
	r, err := sessions.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return &play{t, r, config.Store}
}

func (p *play) create(user, id string, state map[string]any) *sessions.Session {
	p.Helper()
	s, err := p.r.Sessions().Create(p.Context(), user, id, state)
	if err != nil {
		p.Fatal(err)
	}
	return s
}

// say runs a text to its end.
func (p *play) say(text string) []*sessions.Event {
	p.Helper()
	return p.run(sessions.Text(text))
}

// run runs a message to its end.
func (p *play) run(message *sessions.Content) []*sessions.Event {
	p.Helper()
	list, err := p.r.Collect(p.Context(), input(message))
	if err != nil {
		p.Fatalf("after %d events: %v", len(list), err)
	}
	return list
}

// fails runs a message that must end with a code.
func (p *play) fails(message *sessions.Content, code host.Code) []*sessions.Event {
	p.Helper()
	list, err := p.r.Collect(p.Context(), input(message))
	if !errors.Is(err, code) {
		p.Errorf("the invocation ended with %v, want %s", err, code)
	}
	return list
}

func input(message *sessions.Content) sessions.Input {
	return sessions.Input{User: "u", Session: "s", Message: message}
}

// stored loads the session.
func (p *play) stored() *sessions.Session {
	p.Helper()
	return p.of("u", "s")
}

func (p *play) of(user, id string) *sessions.Session {
	p.Helper()
	s, err := p.r.Sessions().Get(p.Context(), user, id)
	if err != nil {
		p.Fatal(err)
	}
	return s
}

// log is the stored events, one a word.
func (p *play) log() string {
	p.Helper()
	return shown(p.events()...)
}

func (p *play) events() []*sessions.Event {
	p.Helper()
	list, err := p.stored().Events()
	if err != nil {
		p.Fatal(err)
	}
	return list
}

func (p *play) is(what, got, want string) {
	p.Helper()
	if got != want {
		p.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// state is a session's state as JSON.
func state(s *sessions.Session) string { return text(s.State()) }

func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// shown says what is in events: author, then "text", name(), =name or the state's changes; a ~ marks a partial one.
func shown(list ...*sessions.Event) string {
	var words []string
	for _, e := range list {
		w := e.Author + ":"
		if e.Partial {
			w = "~" + w
		}
		if e.Content != nil {
			for _, part := range e.Content.Parts {
				switch {
				case part.FunctionCall != nil:
					w += part.FunctionCall.Name + "()"
				case part.FunctionResponse != nil:
					w += "=" + part.FunctionResponse.Name
				default:
					w += part.Text
				}
			}
		}
		if len(e.Actions.StateDelta) > 0 {
			w += text(e.Actions.StateDelta)
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// answers is a model that gives scripted answers, one for each call, and keeps its requests.
type answers struct {
	mu       sync.Mutex
	list     [][]*sessions.Response
	requests []*sessions.Request
}

func script(list ...[]*sessions.Response) *answers { return &answers{list: list} }

func (a *answers) execute(ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
	request, err := ctx.Request()
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.requests = append(a.requests, request)
	var next []*sessions.Response
	if len(a.list) == 0 {
		a.mu.Unlock()
		return errors.New("no answer is left")
	}
	next, a.list = a.list[0], a.list[1:]
	a.mu.Unlock()
	for _, r := range next {
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

// request shows the contents of a request: role, then what shown tells.
func (a *answers) request(i int) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i >= len(a.requests) {
		return fmt.Sprintf("there were %d requests", len(a.requests))
	}
	var list []*sessions.Event
	for _, c := range a.requests[i].Contents {
		list = append(list, &sessions.Event{Author: c.Role, Content: c})
	}
	return shown(list...)
}

func (a *answers) agent(name string, tools ...*turns.Tool) *sessions.LLMAgent {
	return &sessions.LLMAgent{Name: name, Executor: a.execute, Tools: tools}
}

func says(text string) []*sessions.Response {
	return []*sessions.Response{{Content: sessions.ModelText(text)}}
}

func calls(names ...string) []*sessions.Response {
	var list []sessions.FunctionCall
	for _, name := range names {
		list = append(list, sessions.FunctionCall{Name: name})
	}
	return []*sessions.Response{{Content: sessions.ModelCall(list...)}}
}

// streams gives texts as parts of a stream, and then a whole answer.
func streams(whole string, parts ...string) []*sessions.Response {
	var list []*sessions.Response
	for _, part := range parts {
		list = append(list, &sessions.Response{Content: sessions.ModelText(part), Partial: true})
	}
	return append(list, says(whole)...)
}

// none are the arguments of tools without any.
type none struct{}

// tool is a tool without arguments.
func tool(name string, run func(ctx *sessions.ToolContext) (any, error)) *turns.Tool {
	return sessions.NewTool(name, "A tool.", func(ctx *sessions.ToolContext, _ none) (any, error) { return run(ctx) })
}

// gives is an agent that yields events.
func gives(name string, list ...*sessions.Event) *sessions.CustomAgent {
	return &sessions.CustomAgent{Name: name, Run: func(_ *sessions.Context, yield func(*sessions.Event) error) error {
		for _, e := range list {
			if err := yield(e); err != nil {
				return err
			}
		}
		return nil
	}}
}

func said(text string) *sessions.Event { return &sessions.Event{Content: sessions.ModelText(text)} }

// by is an event with its author.
func by(author string, e *sessions.Event) *sessions.Event {
	e.Author = author
	return e
}

func delta(changes map[string]any) *sessions.Event {
	return &sessions.Event{Actions: sessions.Actions{StateDelta: changes}}
}

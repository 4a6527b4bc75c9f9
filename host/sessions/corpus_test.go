package sessions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/full"
)

// The corpus of invocations: runtime/testdata/invocations/README.md specifies it.
const corpusFolder = "../../runtime/testdata/invocations"

type corpusFile struct {
	Topic     string
	Scenarios []*corpusScenario
}

type corpusScenario struct {
	ID, Title  string
	Covers     []int
	Agents     []*corpusAgent
	Plugins    []corpusPlugin
	FailAppend int
	Compaction *struct {
		Invocations, Tokens, Overlap, Keep int
		Summaries                          []corpusAct
	}
	Main   []corpusStep
	Expect struct {
		Delivered, Stored, Ends, Saw []string
		State                        map[string]any
	}
}

type corpusAgent struct {
	Name, Kind, Description, Instruction, GlobalInstruction, OutputKey, IncludeContents string
	Agents, LongRunning, Confirm, ConfirmHook                                           []string
	AgentTools                                                                          []corpusAgentTool
	DisallowTransferToParent, DisallowTransferToPeers                                   bool
	MaxIterations                                                                       int
	Model                                                                               []json.RawMessage
	Tools                                                                               map[string][]corpusAct
	Script                                                                              [][]corpusOperation
	Hooks                                                                               map[string][]*corpusAct
}

// corpusAgentTool is an agent that is a tool.
type corpusAgentTool struct {
	Agent             string
	InputSchema       json.RawMessage
	SkipSummarization bool
}

type corpusPlugin struct {
	Name  string
	Hooks map[string][]*corpusAct
}

// corpusAct is what a callback or a handler does.
type corpusAct struct {
	Value, Result json.RawMessage
	Fail          string
	Nothing       bool
	State         map[string]any
	See           []string
	Actions       *sessions.Actions
	Wait          int
}

type corpusOperation struct {
	Yield              *sessions.Event
	Set                map[string]any
	See                []string
	Load               bool
	Message            bool
	Run, Fail, Finally string
}

type corpusStep struct {
	Create, Run, Rewind, Append, Load *corpusCall
	Two                               []*sessions.Event
}

type corpusCall struct {
	User, Session, ID                string
	State                            map[string]any
	Message                          json.RawMessage
	StopAfter, Before, MaxModelCalls int
	Load                             bool
	Event                            *sessions.Event
}

// corpusPlay plays a scenario.
type corpusPlay struct {
	*testing.T
	scenario    *corpusScenario
	engines     map[string]host.Engine // those that replay journals
	runner      *sessions.Runner
	store       *corpusStore
	made        map[string]sessions.Agent
	mu          sync.Mutex
	log         []string
	delivered   []string
	ends        []string
	invocations []string
	used        map[string]int // of models, tools, hooks and scripts
	ids         int
	toolsEnded  int
	toolEnded   *sync.Cond
	limit       int
	last        *sessions.Session
}

// corpusStore fails at an append.
type corpusStore struct {
	sessions.Store
	at, n int
}

func (s *corpusStore) Append(ctx context.Context, session string, a store.Append) (string, error) {
	if s.n++; s.n == s.at {
		return "", errors.New("the disk is full")
	}
	return s.Store.Append(ctx, session, a)
}

// Each engine has a host for all scenarios.
func TestCorpus(t *testing.T) {
	engines := map[string]host.Engine{"native": native.New()}
	if module, ok := full.Module(); ok {
		e, err := wazero.New(t.Context(), module)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close(context.Background())
		engines["wazero"] = e
	} else if os.Getenv("CI") == "true" {
		t.Fatal("this build carries no module")
	}
	for name, e := range engines {
		t.Run(name, func(t *testing.T) { playCorpus(t, e, engines) })
	}
}

func playCorpus(t *testing.T, e host.Engine, engines map[string]host.Engine) {
	h := turns.NewHost(turns.HostOptions{Engine: e})
	defer h.Close(context.Background())
	files, err := filepath.Glob(corpusFolder + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	covered := map[int]bool{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file corpusFile
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, s := range file.Scenarios {
			for _, n := range s.Covers {
				covered[n] = true
			}
			t.Run(s.ID, func(t *testing.T) { playScenario(t, s, h, engines) })
		}
	}
	var missing []int
	for n := 1; n <= 32; n++ {
		if !covered[n] {
			missing = append(missing, n)
		}
	}
	// 5 is a table of values, 27 is about objects of a language: each host has a test of its own.
	if !slices.Equal(missing, []int{5, 27}) {
		t.Errorf("the corpus does not cover %v", missing)
	}
}

func playScenario(t *testing.T, s *corpusScenario, h *turns.Host, engines map[string]host.Engine) {
	p := &corpusPlay{
		T: t, scenario: s, engines: engines, made: map[string]sessions.Agent{}, used: map[string]int{},
		store: &corpusStore{Store: store.NewInMemory(), at: s.FailAppend},
	}
	p.toolEnded = sync.NewCond(&p.mu)
	for _, step := range s.Main {
		if step.Run != nil && step.Run.MaxModelCalls > 0 {
			p.limit = step.Run.MaxModelCalls
		}
	}
	p.runner = bare(t, sessions.Config{
		Host: h, Agent: p.agent(s.Agents[0].Name), Store: p.store, Plugins: p.plugins(), MaxModelCalls: p.limit, Compaction: p.compaction(),
	}).r
	created := slices.ContainsFunc(s.Main, func(step corpusStep) bool { return step.Create != nil })
	if !created {
		p.create(&corpusCall{})
	}
	for _, step := range s.Main {
		p.step(&step)
	}
	p.check()
}

// compaction is what the scenario says of summaries.
func (p *corpusPlay) compaction() *sessions.Compaction {
	of := p.scenario.Compaction
	if of == nil {
		return nil
	}
	c := &sessions.Compaction{Invocations: of.Invocations, Tokens: of.Tokens, Overlap: of.Overlap, Keep: of.Keep}
	c.OnError = func(_ *sessions.CallbackContext, reason string) { p.line(`{"unsummed":%q}`, reason) }
	if of.Summaries != nil {
		c.Summarize = func(_ *sessions.CallbackContext, events *sessions.Content) (*sessions.Content, error) {
			var told []string
			for _, part := range events.Parts {
				told = append(told, part.Text)
			}
			p.line(`{"told":%s}`, text(told))
			a := of.Summaries[p.next("summaries")]
			if a.Fail != "" {
				return nil, errors.New(a.Fail)
			}
			return corpusValue[sessions.Content](a.Value, nil)
		}
	}
	return c
}

func (p *corpusPlay) line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

// next counts the uses of a list.
func (p *corpusPlay) next(what string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[what]++
	return p.used[what] - 1
}

func (c *corpusCall) of() (user, session string) {
	user, session = c.User, c.Session
	if user == "" {
		user = "u"
	}
	if session == "" {
		session = "s"
	}
	return user, session
}

func (p *corpusPlay) create(c *corpusCall) {
	user, id := c.of()
	if _, err := p.runner.Sessions().Create(p.Context(), user, id, c.State); err != nil {
		p.Fatal(err)
	}
}

func (p *corpusPlay) load(c *corpusCall) *sessions.Session {
	user, id := c.of()
	s, err := p.runner.Sessions().Get(p.Context(), user, id)
	if err != nil {
		p.Fatal(err)
	}
	p.line(`{"stored":%s,"state":%s}`, text(p.briefs(s)), text(s.State()))
	p.last = s
	return s
}

func (p *corpusPlay) briefs(s *sessions.Session) []string {
	list := []string{}
	events, err := s.Events()
	if err != nil {
		p.Fatal(err)
	}
	for _, e := range events {
		list = append(list, corpusBrief(e))
	}
	return list
}

// corpusBrief is an event as expectations have it.
func corpusBrief(e *sessions.Event) string {
	words := e.Author + ":"
	if e.Partial {
		words = "…" + words
	}
	if e.Content == nil {
		return words
	}
	for _, part := range e.Content.Parts {
		switch {
		case part.FunctionCall != nil:
			words += " call " + part.FunctionCall.Name
		case part.FunctionResponse != nil:
			words += " " + part.FunctionResponse.Name + "=" + text(part.FunctionResponse.Response)
		case part.Thought:
			words += " ~" + part.Text
		default:
			words += " " + part.Text
		}
	}
	return words
}

func (p *corpusPlay) end(err error) {
	word := "ok"
	var coded *host.Error
	switch {
	case errors.As(err, &coded) && coded.Code != "" && coded.Code != host.CodeToolDownstreamError:
		word = string(coded.Code)
	case err != nil:
		for errors.Unwrap(err) != nil {
			err = errors.Unwrap(err)
		}
		word = err.Error()
	}
	p.ends = append(p.ends, word)
}

func (p *corpusPlay) step(step *corpusStep) {
	switch {
	case step.Create != nil:
		p.create(step.Create)
	case step.Load != nil:
		p.load(step.Load)
	case step.Run != nil:
		p.run(step.Run)
	case step.Rewind != nil:
		user, id := step.Rewind.of()
		before := step.Rewind.ID
		if before == "" {
			before = p.invocations[step.Rewind.Before-1]
		}
		_, err := p.runner.Rewind(p.Context(), user, id, before)
		p.end(err)
	case step.Append != nil:
		user, id := step.Append.of()
		s, err := p.runner.Sessions().Get(p.Context(), user, id)
		if err == nil {
			_, err = p.runner.Sessions().Append(p.Context(), s, step.Append.Event)
		}
		if err != nil {
			p.Error(err)
		}
	default:
		var handles []*sessions.Session
		for range step.Two {
			handles = append(handles, p.load(&corpusCall{}))
		}
		for i, e := range step.Two {
			before := text(handles[i].State())
			_, err := p.runner.Sessions().Append(p.Context(), handles[i], e)
			p.end(err)
			if err != nil && text(handles[i].State()) != before {
				p.Error("the handle's state has changed")
			}
		}
	}
}

func (p *corpusPlay) run(c *corpusCall) {
	user, id := c.of()
	var message sessions.Content
	var words string
	if json.Unmarshal(c.Message, &words) == nil {
		message = *sessions.Text(words)
	} else if err := json.Unmarshal(c.Message, &message); err != nil {
		p.Fatal(err)
	}
	n, first := 0, ""
	var failure error
	var recorded bytes.Buffer
	defer func() {
		if !errors.Is(failure, host.CodeSessionNotFound) {
			p.replay(recorded.Bytes())
		}
	}()
	for e, err := range p.runner.Run(p.Context(), sessions.Input{User: user, Session: id, Message: &message, Journal: &recorded}) {
		if err != nil {
			failure = err
			break
		}
		n++
		if first == "" {
			first = e.InvocationID
		}
		p.delivered = append(p.delivered, corpusBrief(e))
		if c.Load && !e.Partial {
			if list := p.briefs(p.load(c)); list[len(list)-1] != corpusBrief(e) {
				p.Errorf("delivered %s, stored %v", corpusBrief(e), list)
			}
		}
		if n == c.StopAfter {
			break
		}
	}
	p.invocations = append(p.invocations, first)
	if c.StopAfter == 0 {
		p.end(failure)
	}
}

// replay plays the journal of an invocation on all engines.
func (p *corpusPlay) replay(recorded []byte) {
	for name, e := range p.engines {
		r, err := journal.NewReader(bytes.NewReader(recorded))
		if err != nil {
			p.Error(err)
			return
		}
		n, err := journal.Replay(p.Context(), e, r)
		if err != nil || n < 2 {
			p.Errorf("the replay on %s, after %d entries: %v", name, n, err)
		}
	}
}

func (p *corpusPlay) check() {
	p.Helper()
	want := &p.scenario.Expect
	compare := func(what string, got, want []string) {
		if want != nil && !slices.Equal(got, want) {
			p.Errorf("%s: %s\n got %s\nwant %s", p.scenario.Title, what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	compare("delivered", p.delivered, want.Delivered)
	compare("ends", p.ends, want.Ends)
	s := p.last
	if last := p.scenario.Main[len(p.scenario.Main)-1]; last.Load == nil {
		s = p.load(&corpusCall{})
	}
	compare("stored", p.briefs(s), want.Stored)
	if want.State != nil && text(s.State()) != text(want.State) {
		p.Errorf("the state is %s, want %s", text(s.State()), text(want.State))
	}
	for _, line := range want.Saw {
		if !slices.Contains(p.log, line) {
			p.Errorf("no line of the log is\n     %s\n got %s", line, strings.Join(p.log, "\n     "))
		}
	}
}

// seen writes a line with values of the state.
func (p *corpusPlay) seen(who string, state *sessions.State, names []string) {
	if len(names) == 0 {
		return
	}
	var members []string
	for _, name := range names {
		v, err := state.Get(name)
		if err != nil {
			p.Error(err)
		}
		members = append(members, strconv.Quote(name)+":"+text(v))
	}
	p.line(`{"saw":%q,"values":{%s}}`, who, strings.Join(members, ","))
}

func (p *corpusPlay) agent(name string) sessions.Agent {
	if made := p.made[name]; made != nil {
		return made // a tool of several agents
	}
	i := slices.IndexFunc(p.scenario.Agents, func(a *corpusAgent) bool { return a.Name == name })
	if i < 0 {
		p.Fatalf("there is no agent %s", name)
	}
	a := p.scenario.Agents[i]
	var below []sessions.Agent
	for _, name := range a.Agents {
		below = append(below, p.agent(name))
	}
	var made sessions.Agent
	before, after := p.around(a.Name, a.Hooks, "beforeAgent"), p.around(a.Name, a.Hooks, "afterAgent")
	switch a.Kind {
	case "llm":
		made = p.llm(a, below, before, after)
	case "sequential":
		made = &sessions.SequentialAgent{Name: name, Agents: below, BeforeAgent: before, AfterAgent: after}
	case "parallel":
		made = &sessions.ParallelAgent{Name: name, Agents: below, BeforeAgent: before, AfterAgent: after}
	case "loop":
		made = &sessions.LoopAgent{Name: name, Agents: below, MaxIterations: a.MaxIterations, BeforeAgent: before, AfterAgent: after}
	case "script":
		made = &sessions.CustomAgent{Name: name, Description: a.Description, Agents: below, BeforeAgent: before, AfterAgent: after, Run: p.script(a)}
	default:
		p.Fatalf("there is no kind %s", a.Kind)
	}
	p.made[name] = made
	return made
}

// act does what a callback does, and returns what it answers.
func (p *corpusPlay) act(who string, hooks map[string][]*corpusAct, hook string, ctx *sessions.CallbackContext) (json.RawMessage, error) {
	n := p.next(who + " " + hook)
	if n >= len(hooks[hook]) || hooks[hook][n] == nil {
		return nil, nil
	}
	p.line(`{"hook":%q,"of":%q}`, hook, who)
	a := hooks[hook][n]
	for _, name := range corpusNames(a.State) {
		if err := ctx.State().Set(name, a.State[name]); err != nil {
			return nil, err
		}
	}
	p.seen(who, ctx.State(), a.See)
	if a.Actions != nil {
		ctx.Actions(func(to *sessions.Actions) { *to = *a.Actions })
	}
	if a.Fail != "" {
		return nil, errors.New(a.Fail)
	}
	return a.Value, nil
}

func corpusNames(state map[string]any) []string {
	var names []string
	for name := range state {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// corpusValue decodes what a callback answers; nil for nothing.
func corpusValue[T any](v json.RawMessage, err error) (*T, error) {
	if err != nil || v == nil {
		return nil, err
	}
	to := new(T)
	return to, json.Unmarshal(v, to)
}

// corpusResponse decodes an answer of a model.
func corpusResponse(v json.RawMessage, err error) (*sessions.Response, error) {
	e, err := corpusValue[sessions.Event](v, err)
	if e == nil {
		return nil, err
	}
	return &sessions.Response{
		Content: e.Content, Partial: e.Partial, TurnComplete: e.TurnComplete, Interrupted: e.Interrupted, FinishReason: e.FinishReason,
		ErrorCode: e.ErrorCode, ErrorMessage: e.ErrorMessage, Usage: e.Usage, CustomMetadata: e.CustomMetadata,
	}, nil
}

func corpusAny(v json.RawMessage, err error) (any, error) {
	if err != nil || v == nil {
		return nil, err
	}
	var to any
	return to, json.Unmarshal(v, &to)
}

func (p *corpusPlay) around(who string, hooks map[string][]*corpusAct, hook string) []sessions.AgentCallback {
	if hooks[hook] == nil {
		return nil
	}
	return []sessions.AgentCallback{func(ctx *sessions.CallbackContext) (*sessions.Content, error) {
		return corpusValue[sessions.Content](p.act(who, hooks, hook, ctx))
	}}
}

func (p *corpusPlay) plugins() (list []*sessions.Plugin) {
	for _, of := range p.scenario.Plugins {
		made := &sessions.Plugin{Name: of.Name}
		act := func(hook string, ctx *sessions.CallbackContext) (json.RawMessage, error) {
			return p.act(of.Name, of.Hooks, hook, ctx)
		}
		for hook := range of.Hooks {
			switch hook {
			case "onUserMessage":
				made.OnUserMessage = func(ctx *sessions.CallbackContext, _ *sessions.Content) (*sessions.Content, error) {
					return corpusValue[sessions.Content](act(hook, ctx))
				}
			case "beforeRun":
				made.BeforeRun = func(ctx *sessions.CallbackContext) (*sessions.Content, error) {
					return corpusValue[sessions.Content](act(hook, ctx))
				}
			case "afterRun":
				made.AfterRun = func(ctx *sessions.CallbackContext) error {
					_, err := act(hook, ctx)
					return err
				}
			case "onEvent":
				made.OnEvent = func(ctx *sessions.CallbackContext, _ *sessions.Event) (*sessions.Event, error) {
					return corpusValue[sessions.Event](act(hook, ctx))
				}
			default:
				p.Fatalf("no plugin of the corpus has the hook %s", hook)
			}
		}
		list = append(list, made)
	}
	return list
}

func (p *corpusPlay) llm(a *corpusAgent, below []sessions.Agent, before, after []sessions.AgentCallback) *sessions.LLMAgent {
	made := &sessions.LLMAgent{
		Name: a.Name, Description: a.Description, Instruction: a.Instruction, GlobalInstruction: a.GlobalInstruction, OutputKey: a.OutputKey,
		IncludeContents: sessions.IncludeContents(a.IncludeContents), Agents: below, LongRunning: a.LongRunning, Confirm: a.Confirm,
		NoTransferToParent: a.DisallowTransferToParent, NoTransferToPeers: a.DisallowTransferToPeers,
		BeforeAgent: before, AfterAgent: after, Executor: p.model(a),
	}
	for _, name := range a.ConfirmHook {
		made.ConfirmIf = map[string]sessions.ConfirmFunc{name: func(ctx *sessions.CallbackContext, _ *sessions.ToolCall) (*sessions.Ask, error) {
			v, err := p.act(a.Name, a.Hooks, "confirm", ctx)
			if err != nil || string(v) == "false" {
				return nil, err
			}
			return corpusValue[sessions.Ask](v, nil)
		}}
	}
	var names []string
	for name := range a.Tools {
		names = append(names, name)
	}
	for _, tool := range a.AgentTools {
		made.AgentTools = append(made.AgentTools, &sessions.AgentTool{
			Agent: p.agent(tool.Agent), InputSchema: tool.InputSchema, SkipSummarization: tool.SkipSummarization,
		})
	}
	slices.Sort(names)
	for _, name := range names {
		made.Tools = append(made.Tools, p.tool(a, name))
	}
	for hook := range a.Hooks {
		act := func(ctx *sessions.CallbackContext) (json.RawMessage, error) { return p.act(a.Name, a.Hooks, hook, ctx) }
		switch hook {
		case "beforeModel":
			made.BeforeModel = []sessions.BeforeModelCallback{func(ctx *sessions.CallbackContext) (*sessions.Response, error) {
				return corpusResponse(act(ctx))
			}}
		case "afterModel":
			made.AfterModel = []sessions.AfterModelCallback{func(ctx *sessions.CallbackContext, _ *sessions.Response) (*sessions.Response, error) {
				return corpusResponse(act(ctx))
			}}
		case "onModelError":
			made.ModelError = []sessions.ModelErrorCallback{func(ctx *sessions.CallbackContext, _ string) (*sessions.Response, error) {
				return corpusResponse(act(ctx))
			}}
		case "beforeTool":
			made.BeforeTool = []sessions.BeforeToolCallback{func(ctx *sessions.CallbackContext, _ *sessions.ToolCall) (any, error) {
				return corpusAny(act(ctx))
			}}
		case "afterTool":
			made.AfterTool = []sessions.AfterToolCallback{func(ctx *sessions.CallbackContext, _ *sessions.ToolCall, _ any) (any, error) {
				return corpusAny(act(ctx))
			}}
		case "onToolError":
			made.ToolError = []sessions.ToolErrorCallback{func(ctx *sessions.CallbackContext, _ *sessions.ToolCall, _ string) (any, error) {
				return corpusAny(act(ctx))
			}}
		}
	}
	return made
}

// model gives the answers of an agent's list.
func (p *corpusPlay) model(a *corpusAgent) func(*sessions.ModelContext, func(*sessions.Response) error) error {
	return func(ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
		n := p.next(a.Name + " model")
		if n >= len(a.Model) {
			return fmt.Errorf("the model of %s is called %d times", a.Name, n+1)
		}
		answers := []json.RawMessage{a.Model[n]}
		if a.Model[n][0] == '[' {
			answers = nil
			if err := json.Unmarshal(a.Model[n], &answers); err != nil {
				return err
			}
		}
		for _, answer := range answers {
			if err := p.answer(a, answer, ctx, yield); err != nil {
				return err
			}
		}
		return nil
	}
}

func (p *corpusPlay) answer(a *corpusAgent, answer json.RawMessage, ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
	var words string
	if json.Unmarshal(answer, &words) == nil {
		return yield(&sessions.Response{Content: sessions.ModelText(words)})
	}
	var of struct {
		Part, Thought, Fail, See, Text string
		Calls                          []json.RawMessage
		Response                       json.RawMessage
	}
	if err := json.Unmarshal(answer, &of); err != nil {
		return err
	}
	switch {
	case of.Part != "":
		return yield(&sessions.Response{Partial: true, Content: sessions.ModelText(of.Part)})
	case of.Thought != "":
		return yield(&sessions.Response{Partial: true, Content: &sessions.Content{Role: "model", Parts: []sessions.Part{{Text: of.Thought, Thought: true}}}})
	case of.Fail != "":
		return errors.New(of.Fail)
	case of.Response != nil:
		response, err := corpusResponse(of.Response, nil)
		if err != nil {
			return err
		}
		return yield(response)
	case of.See != "":
		request, err := ctx.Request()
		if err != nil {
			return err
		}
		if of.See == "instructions" {
			p.line(`{"request":%q,"instructions":%s}`, a.Name, text(request.Instructions))
		} else {
			p.line(`{"request":%q,"contents":%s}`, a.Name, text(request.Contents))
		}
		return nil
	}
	content := &sessions.Content{Role: "model"}
	if of.Text != "" {
		content.Parts = append(content.Parts, sessions.Part{Text: of.Text})
	}
	for _, raw := range of.Calls {
		p.ids++
		call := &sessions.FunctionCall{ID: "c" + strconv.Itoa(p.ids), Args: map[string]any{}}
		if json.Unmarshal(raw, &call.Name) != nil {
			if err := json.Unmarshal(raw, call); err != nil {
				return err
			}
		}
		content.Parts = append(content.Parts, sessions.Part{FunctionCall: call})
	}
	return yield(&sessions.Response{Content: content})
}

func (p *corpusPlay) tool(a *corpusAgent, name string) *turns.Tool {
	return sessions.NewTool(name, "a tool", func(ctx *sessions.ToolContext, args map[string]any) (any, error) {
		list := a.Tools[name]
		act := list[min(p.next(a.Name+" tool "+name), len(list)-1)]
		p.line(`{"tool":%q,"args":%s}`, name, text(args))
		p.mu.Lock()
		for p.toolsEnded < act.Wait {
			p.toolEnded.Wait()
		}
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			p.toolsEnded++
			p.toolEnded.Broadcast()
			p.mu.Unlock()
		}()
		for _, name := range corpusNames(act.State) {
			if err := ctx.State().Set(name, act.State[name]); err != nil {
				return nil, err
			}
		}
		p.seen(name, ctx.State(), act.See)
		if act.Actions != nil {
			ctx.Actions(func(to *sessions.Actions) {
				to.Escalate, to.SkipSummarization = act.Actions.Escalate, act.Actions.SkipSummarization
			})
		}
		if act.Fail != "" {
			return nil, errors.New(act.Fail)
		}
		return corpusAny(act.Result, nil)
	})
}

// script runs the operations of a generator.
func (p *corpusPlay) script(a *corpusAgent) sessions.AgentFunc {
	return func(ctx *sessions.Context, yield func(*sessions.Event) error) error {
		run := p.next(a.Name + " script")
		if run >= len(a.Script) {
			return fmt.Errorf("the script of %s runs %d times", a.Name, run+1)
		}
		for _, op := range a.Script[run] {
			if op.Finally != "" {
				defer p.line(`{"says":%q}`, op.Finally)
				continue
			}
			if err := p.operate(a, &op, ctx, yield); err != nil {
				return err
			}
		}
		return nil
	}
}

func (p *corpusPlay) operate(a *corpusAgent, op *corpusOperation, ctx *sessions.Context, yield func(*sessions.Event) error) error {
	switch {
	case op.Yield != nil:
		return yield(op.Yield)
	case op.Set != nil:
		for _, name := range corpusNames(op.Set) {
			if err := ctx.State().Set(name, op.Set[name]); err != nil {
				return err
			}
		}
	case op.See != nil:
		p.seen(a.Name, ctx.State(), op.See)
	case op.Load:
		p.load(&corpusCall{})
	case op.Message:
		p.line(`{"message":%s}`, text(ctx.Message()))
	case op.Fail != "":
		return errors.New(op.Fail)
	case op.Run != "":
		for e, err := range ctx.RunAgent(p.made[op.Run]) {
			if err != nil {
				return err
			}
			if err := yield(e); err != nil {
				return err
			}
		}
	}
	return nil
}

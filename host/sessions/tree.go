package sessions

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/check"
	"github.com/turncore/turncore/host/internal/invocation"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/turns"
)

func (a *LLMAgent) node() *node {
	return &node{
		kind: abi.AgentLLM, name: a.Name, description: a.Description, children: a.Agents,
		before: a.BeforeAgent, after: a.AfterAgent, llm: a,
	}
}

func (a *CustomAgent) node() *node {
	return &node{
		kind: abi.AgentHost, name: a.Name, description: a.Description, children: a.Agents,
		before: a.BeforeAgent, after: a.AfterAgent, custom: a,
	}
}

func (a *SequentialAgent) node() *node {
	return &node{
		kind: abi.AgentSequential, name: a.Name, description: a.Description, children: a.Agents,
		before: a.BeforeAgent, after: a.AfterAgent,
	}
}

func (a *ParallelAgent) node() *node {
	return &node{
		kind: abi.AgentParallel, name: a.Name, description: a.Description, children: a.Agents,
		before: a.BeforeAgent, after: a.AfterAgent,
	}
}

func (a *LoopAgent) node() *node {
	return &node{
		kind: abi.AgentLoop, name: a.Name, description: a.Description, children: a.Agents,
		before: a.BeforeAgent, after: a.AfterAgent, maxIterations: a.MaxIterations,
	}
}

// tree is a tree of agents as a core gets it.
type tree struct {
	team    invocation.Team
	nodes   []*node // by number, from 1
	numbers map[Agent]uint32
	wrong   []string
}

func newTree(c *Config) (*tree, error) {
	t := &tree{team: invocation.Team{App: c.App, Root: 1}, numbers: make(map[Agent]uint32)}
	if c.App == "" {
		t.refuse("app", "must be a non-empty string")
	}
	if c.Host != nil && c.Engine != nil {
		t.refuse("engine", "cannot be given beside a host, which has its own")
	}
	t.add(c.Agent, "agent")
	if len(t.nodes) > 0 {
		t.nodes[0].compaction = c.Compaction
	}
	for i := 0; i < len(t.nodes); i++ { // agents that are tools follow, and theirs
		t.addTools(t.nodes[i])
	}
	for i, n := range t.nodes {
		t.team.Agents[i].Options, t.team.Agents[i].Hooks = t.options(n, uint32(i+1), n.field), n.hooks()
	}
	for i, p := range c.Plugins {
		if p == nil {
			t.refuse(check.At("plugins", i), "must not be nil")
			continue
		}
		t.team.Plugins = append(t.team.Plugins, abi.PluginDef{Name: p.Name, Hooks: p.hooks()})
	}
	if len(t.wrong) > 0 {
		e := host.NewError(host.CodeInvalidAgent, strings.Join(t.wrong, "; "), nil)
		e.Details = t.wrong
		return nil, e
	}
	return t, nil
}

func (t *tree) refuse(field, why string) { t.wrong = append(t.wrong, field+": "+why) }

// add adds an agent with those below it, and returns its number.
func (t *tree) add(a Agent, field string) uint32 {
	if isNil(a) {
		t.refuse(field, "must be an agent")
		return 0
	}
	if t.numbers[a] != 0 {
		t.refuse(field, "the agent "+strconv.Quote(a.AgentName())+" is in the tree already")
		return 0
	}
	n := a.node()
	n.field = field
	t.nodes = append(t.nodes, n)
	number := uint32(len(t.nodes))
	n.number = number
	t.numbers[a] = number
	t.team.Agents = append(t.team.Agents, abi.AgentDef{Number: number, Kind: n.kind, Name: n.name, Description: n.description})
	var children []uint32
	for i, child := range n.children {
		children = append(children, t.add(child, check.At(field+".agents", i)))
	}
	t.team.Agents[number-1].Children = children
	return number
}

// addTools adds the agents that are tools of one, unless they are there.
func (t *tree) addTools(n *node) {
	if n.llm == nil {
		return
	}
	for i, tool := range n.llm.AgentTools {
		if tool == nil || isNil(tool.Agent) {
			t.refuse(check.At(n.field+".agentTools", i), "must have an agent")
		} else if t.numbers[tool.Agent] == 0 {
			t.add(tool.Agent, check.At(n.field+".agentTools", i))
		}
	}
}

// agentTools are the agents that are tools of one, as the core gets them.
func (t *tree) agentTools(a *LLMAgent) (list []any) {
	for _, tool := range a.AgentTools {
		if tool == nil {
			continue
		}
		m := members{}
		m.put("agent", t.numbers[tool.Agent])
		if tool.InputSchema != nil {
			m.put("inputSchema", tool.InputSchema)
		}
		m.flag("skipSummarization", tool.SkipSummarization)
		list = append(list, m.value())
	}
	return list
}

// refuseNil refuses the callbacks of a list that are nil.
func refuseNil[F AgentCallback | BeforeModelCallback | AfterModelCallback | ModelErrorCallback |
	BeforeToolCallback | AfterToolCallback | ToolErrorCallback](t *tree, field string, list []F) {
	for i, f := range list {
		if f == nil {
			t.refuse(check.At(field, i), "must be a function")
		}
	}
}

func isNil(a Agent) bool {
	switch a := a.(type) {
	case nil:
		return true
	case *LLMAgent:
		return a == nil
	case *CustomAgent:
		return a == nil
	case *SequentialAgent:
		return a == nil
	case *ParallelAgent:
		return a == nil
	case *LoopAgent:
		return a == nil
	}
	return false
}

// options encodes an agent's options, and adds its model.
func (t *tree) options(n *node, number uint32, field string) abi.Value {
	m := members{}
	switch {
	case n.maxIterations < 0:
		t.refuse(field+".maxIterations", "must not be negative")
	case n.custom != nil && n.custom.Run == nil:
		t.refuse(field+".run", "must be a function")
	}
	m.number("maxIterations", n.maxIterations)
	refuseNil(t, field+".beforeAgent", n.before)
	refuseNil(t, field+".afterAgent", n.after)
	if n.llm != nil {
		t.llm(n.llm, number, field, &m)
	}
	if len(m) == 0 {
		return nil
	}
	v, err := wire.Append(nil, m.value(), field)
	if err != nil {
		t.wrong = append(t.wrong, err.Error())
	}
	return v
}

func (t *tree) llm(a *LLMAgent, number uint32, field string, m *members) {
	models := 0
	given, wrong := invocation.CheckModel(a.Model, field+".model")
	t.wrong = append(t.wrong, wrong...)
	for _, there := range [...]bool{a.Executor != nil, a.Chat != nil, given} {
		if there {
			models++
		}
	}
	if models != 1 {
		t.refuse(field+".model", "must be exactly one of model, chat and executor")
	}
	for i, tool := range a.Tools {
		if err := tool.Validate(); err != nil {
			t.refuse(check.At(field+".tools", i), err.Error())
			continue
		}
		same := func(other *turns.Tool) bool { return other != nil && other.Name == tool.Name }
		if first := slices.IndexFunc(a.Tools[:i], same); first >= 0 {
			t.refuse(check.At(field+".tools", i), "has the name of "+check.At("tools", first)+", "+strconv.Quote(tool.Name))
		}
	}
	known := func(list string, names []string) {
		for _, name := range names {
			if !slices.ContainsFunc(a.Tools, func(tool *turns.Tool) bool { return tool != nil && tool.Name == name }) {
				t.refuse(field+"."+list, "there is no tool "+strconv.Quote(name))
			}
		}
	}
	asks := slices.Sorted(maps.Keys(a.ConfirmIf))
	known("longRunning", a.LongRunning)
	known("confirm", a.Confirm)
	known("confirmIf", asks)
	for _, name := range asks {
		if a.ConfirmIf[name] == nil {
			t.refuse(field+".confirmIf."+name, "must be a function")
		}
	}
	refuseNil(t, field+".beforeModel", a.BeforeModel)
	refuseNil(t, field+".afterModel", a.AfterModel)
	refuseNil(t, field+".modelError", a.ModelError)
	refuseNil(t, field+".beforeTool", a.BeforeTool)
	refuseNil(t, field+".afterTool", a.AfterTool)
	refuseNil(t, field+".toolError", a.ToolError)
	if a.OutputKey != "" {
		if why := check.StateName(a.OutputKey); why != "" {
			t.refuse(field+".outputKey", why)
		}
	}
	m.text("instruction", a.Instruction)
	m.text("globalInstruction", a.GlobalInstruction)
	m.text("outputKey", a.OutputKey)
	m.text("includeContents", string(a.IncludeContents))
	m.flag("disallowTransferToParent", a.NoTransferToParent)
	m.flag("disallowTransferToPeers", a.NoTransferToPeers)
	for _, list := range [...]struct {
		name  string
		names []string
	}{{"longRunning", a.LongRunning}, {"confirm", a.Confirm}, {"confirmHook", asks}} {
		if len(list.names) > 0 {
			m.put(list.name, list.names)
		}
	}
	if tools := t.agentTools(a); tools != nil {
		m.put("agentTools", tools)
	}
	model := invocation.Model{
		Agent: number, Model: a.Model, Chat: a.Chat, Tools: slices.Clone(a.Tools),
		WrapTool: append(slices.Clone(a.WrapTool), wrapTool(a)), WrapModel: slices.Clone(a.WrapModel),
		Key: confirmedKey,
	}
	if a.Executor != nil {
		model.Executor = turns.Executor(func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return execute(ctx, a) })
	}
	t.team.Models = append(t.team.Models, model)
}

// hooks counts an agent's callbacks by hook.
func (n *node) hooks() []uint32 {
	counts := make([]uint32, abi.HookSummaryError+1)
	counts[abi.HookBeforeAgent], counts[abi.HookAfterAgent] = uint32(len(n.before)), uint32(len(n.after))
	if a := n.llm; a != nil {
		for hook, count := range map[uint8]int{
			abi.HookBeforeModel: len(a.BeforeModel), abi.HookAfterModel: len(a.AfterModel), abi.HookModelError: len(a.ModelError),
			abi.HookBeforeTool: len(a.BeforeTool), abi.HookAfterTool: len(a.AfterTool), abi.HookToolError: len(a.ToolError),
		} {
			counts[hook] = uint32(count)
		}
		for hook, there := range map[uint8]bool{
			abi.HookInstruction: a.InstructionFunc != nil, abi.HookGlobalInstruction: a.GlobalInstructionFunc != nil,
			abi.HookConfirm: len(a.ConfirmIf) > 0,
		} {
			if there {
				counts[hook] = 1
			}
		}
	}
	if c := n.compaction; c != nil {
		counts[abi.HookSummaryError] = 1
		if c.Summarize != nil {
			counts[abi.HookSummary] = 1
		}
	}
	for len(counts) > 0 && counts[len(counts)-1] == 0 {
		counts = counts[:len(counts)-1]
	}
	return counts
}

// agent returns the node of a number.
func (t *tree) agent(number uint32) (*node, error) {
	if number == 0 || uint64(number) > uint64(len(t.nodes)) {
		return nil, errors.New("there is no agent of the number")
	}
	return t.nodes[number-1], nil
}

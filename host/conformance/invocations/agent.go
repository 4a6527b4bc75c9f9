package invocations

import (
	"fmt"
	"maps"
	"slices"

	"github.com/turncore/turncore/host/sessions"
)

// agent makes an agent, once: a tool of several agents is one.
func (g *game) agent(name string) (sessions.Agent, error) {
	if made := g.made[name]; made != nil {
		return made, nil
	}
	a, err := g.Scenario.agent(name)
	if err != nil {
		return nil, err
	}
	var below []sessions.Agent
	for _, name := range a.Agents {
		child, err := g.agent(name)
		if err != nil {
			return nil, err
		}
		below = append(below, child)
	}
	var made sessions.Agent
	before, after := g.around(a, "beforeAgent"), g.around(a, "afterAgent")
	switch a.Kind {
	case "llm":
		if made, err = g.llm(a, below, before, after); err != nil {
			return nil, err
		}
	case "sequential":
		made = &sessions.SequentialAgent{Name: name, Agents: below, BeforeAgent: before, AfterAgent: after}
	case "parallel":
		made = &sessions.ParallelAgent{Name: name, Agents: below, BeforeAgent: before, AfterAgent: after}
	case "loop":
		made = &sessions.LoopAgent{
			Name: name, Agents: below, MaxIterations: a.MaxIterations, BeforeAgent: before, AfterAgent: after,
		}
	case "script":
		made = &sessions.CustomAgent{
			Name: name, Description: a.Description, Agents: below, BeforeAgent: before, AfterAgent: after, Run: g.script(a),
		}
	default:
		return nil, fmt.Errorf("there is no kind %s", a.Kind)
	}
	g.made[name] = made
	return made, nil
}

func (g *game) llm(a *AgentSpec, below []sessions.Agent, before, after []sessions.AgentCallback) (sessions.Agent, error) {
	made := &sessions.LLMAgent{
		Name: a.Name, Description: a.Description, Instruction: a.Instruction, GlobalInstruction: a.GlobalInstruction,
		OutputKey: a.OutputKey, IncludeContents: sessions.IncludeContents(a.IncludeContents), Agents: below,
		LongRunning: a.LongRunning, Confirm: a.Confirm,
		NoTransferToParent: a.DisallowTransferToParent, NoTransferToPeers: a.DisallowTransferToPeers,
		BeforeAgent: before, AfterAgent: after, Executor: g.model(a),
	}
	for _, name := range a.ConfirmHook {
		if made.ConfirmIf == nil {
			made.ConfirmIf = map[string]sessions.ConfirmFunc{}
		}
		made.ConfirmIf[name] = g.confirm(a)
	}
	for _, tool := range a.AgentTools {
		agent, err := g.agent(tool.Agent)
		if err != nil {
			return nil, err
		}
		made.AgentTools = append(made.AgentTools, &sessions.AgentTool{
			Agent: agent, InputSchema: tool.InputSchema, SkipSummarization: tool.SkipSummarization,
		})
	}
	for _, name := range slices.Sorted(maps.Keys(a.Tools)) {
		made.Tools = append(made.Tools, g.tool(a, name))
	}
	return made, g.callbacks(a, made)
}

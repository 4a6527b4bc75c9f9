package turns

import (
	"maps"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/guard"
	"github.com/turncore/turncore/host/model"
)

// agent is what the module of a host brings to its runners, nil for nothing.
func (h *Host) agent() *guard.Agent {
	if h == nil || h.cores.Guard == nil {
		return nil
	}
	return h.cores.Guard.Agent
}

// agent is the agent of a runner, nil if it has none.
func (c *TurnRunnerConfig) agent() *guard.Agent {
	if c.Executor != nil || c.Chat != nil {
		return nil
	}
	if a := c.Host.agent(); a != nil && !a.Outside {
		return a
	}
	return nil
}

// chatOutside has a runner without an executor call the model that its host's module was granted, if the module has no
// agent inside.
func (c *TurnRunnerConfig) chatOutside() {
	if a := c.Host.agent(); a != nil && a.Outside && c.Executor == nil && c.Chat == nil {
		c.Chat = a.Chat
	}
}

// agentTools are the tools that an agent brings. Their handlers run in the core.
func agentTools(a *guard.Agent) []*Tool {
	list := make([]*Tool, len(a.Tools))
	for i, t := range a.Tools {
		list[i] = insideCore(&Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	return list
}

// agentFrame adds an agent to the frame that opens its runner.
func agentFrame(f *abi.OpenRunner, a *guard.Agent) error {
	options := value.AppendNil(nil)
	if a.Options != nil {
		var err error
		if options, err = value.FromJSON(nil, a.Options); err != nil {
			return newError(abi.CodeInvalidValue, "the agent's options: "+err.Error(), err)
		}
	}
	chat := append(value.AppendString(value.AppendMapHeader(nil, 2), "options"), options...)
	chat = value.AppendMapHeader(value.AppendString(chat, "models"), len(a.Models))
	for _, name := range slices.Sorted(maps.Keys(a.Models)) {
		one, err := encodeChat(a.Models[name])
		if err != nil {
			return err
		}
		chat = append(value.AppendString(chat, name), one...)
	}
	f.Executor, f.Chat = abi.ExecutorModule, chat
	for i, list := range []*[]abi.Middleware{&f.TurnInput, &f.TurnOutput, &f.DispatchInput, &f.DispatchOutput} {
		for _, name := range a.Middleware[i] {
			*list = append(*list, abi.Middleware{Kind: abi.MiddlewareBuiltin, Name: name})
		}
	}
	return nil
}

// models are those of a definition.
func (d *definition) models() []*model.ChatOptions {
	if d.agent == nil {
		if d.chat == nil {
			return nil
		}
		return []*model.ChatOptions{d.chat}
	}
	list := make([]*model.ChatOptions, 0, len(d.agent.Models))
	for _, name := range slices.Sorted(maps.Keys(d.agent.Models)) {
		list = append(list, d.agent.Models[name])
	}
	return list
}

// engine returns the engine of a model by the name that the core has for it, nil for none.
func (d *definition) engine(name string) *model.Engine {
	for _, m := range d.models() {
		if m.Engine != nil && modelName(m) == name {
			return m.Engine
		}
	}
	return nil
}

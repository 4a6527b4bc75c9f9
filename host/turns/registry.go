package turns

import (
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/turn"
)

// ToolRegistry is the ordered set of tools, by name, that a context offers to its model. It contains hidden tools,
// but does not offer them. A dispatch's registry begins as a copy of its source's. All methods may be called from
// many goroutines.
type ToolRegistry struct {
	state   *turn.Context
	program *program
	set     toolSet // the turn's lock guards it
}

// turn is the turn of the context whose registry it is.
func (r *ToolRegistry) turn() *turn.Turn {
	if r == nil || r.state == nil {
		panic("turns: a ToolRegistry belongs to a context: get one from the Tools method of a TurnContext or DispatchContext")
	}
	return r.state.Turn()
}

// toolSet is what a registry holds. Copies share it until one of them changes.
type toolSet struct {
	tools  []*Tool
	hidden []string
	shared bool
}

func (s *toolSet) snapshot() toolSet {
	s.shared = true
	return *s
}

func (s *toolSet) own() {
	if s.shared {
		s.tools, s.hidden, s.shared = slices.Clone(s.tools), slices.Clone(s.hidden), false
	}
}

func (s *toolSet) find(name string) int {
	return slices.IndexFunc(s.tools, func(t *Tool) bool { return t.Name == name })
}

// Register adds a tool. A taken name fails with E_TOOL_ALREADY_REGISTERED unless overwrite is set: then the tool
// replaces the other. An invalid tool fails with E_INVALID_INITIAL_TOOL_VALUE.
func (r *ToolRegistry) Register(tool *Tool, overwrite bool) error {
	t := r.turn()
	def, err := r.program.definition(tool)
	if err != nil {
		return err
	}
	t.Lock()
	defer t.Unlock()
	s := &r.set
	number, err := r.program.define(tool, def)
	if err != nil {
		return err
	}
	i := s.find(tool.Name)
	if i >= 0 && !overwrite {
		return newError(abi.CodeToolAlreadyRegistered, tool.Name, nil)
	}
	s.own()
	if i >= 0 {
		s.tools[i] = tool
	} else {
		s.tools = append(s.tools, tool)
	}
	t.Edit(&abi.Edit{
		Context: r.state.Number(), Collection: abi.CollectionTools, Edit: abi.EditRegister, Handle: int64(number),
	})
	return nil
}

// Unregister removes a tool and its hidden mark. It reports whether there was one.
func (r *ToolRegistry) Unregister(name string) bool {
	t := r.turn()
	t.Lock()
	defer t.Unlock()
	return r.unregister(name)
}

func (r *ToolRegistry) unregister(name string) bool {
	s := &r.set
	i := s.find(name)
	if i < 0 {
		return false
	}
	s.own()
	s.tools = slices.Delete(s.tools, i, i+1)
	s.hidden = slices.DeleteFunc(s.hidden, func(h string) bool { return h == name })
	r.state.Turn().Edit(&abi.Edit{
		Context: r.state.Number(), Collection: abi.CollectionTools, Edit: abi.EditUnregister, Data: abi.Bytes(value.AppendString(nil, name)),
	})
	return true
}

// PruneEphemeral removes the tools that are ephemeral.
func (r *ToolRegistry) PruneEphemeral() {
	t := r.turn()
	t.Lock()
	defer t.Unlock()
	for _, tool := range slices.Clone(r.set.tools) {
		if tool.Ephemeral {
			r.unregister(tool.Name)
		}
	}
}

// Get returns the tool of a name, even a hidden one; nil if there is none.
func (r *ToolRegistry) Get(name string) *Tool {
	for _, tool := range r.All() {
		if tool.Name == name {
			return tool
		}
	}
	return nil
}

// Has reports whether there is a tool of a name.
func (r *ToolRegistry) Has(name string) bool { return r.Get(name) != nil }

// All returns the tools in order, including hidden ones, in a new slice.
func (r *ToolRegistry) All() []*Tool {
	t := r.turn()
	t.Lock()
	defer t.Unlock()
	return slices.Clone(r.set.tools)
}

// Visible returns the tools that are not hidden, in order.
func (r *ToolRegistry) Visible() []*Tool { return r.thatAre(false) }

// Hidden returns the hidden tools, in order.
func (r *ToolRegistry) Hidden() []*Tool { return r.thatAre(true) }

func (r *ToolRegistry) thatAre(hidden bool) []*Tool {
	t := r.turn()
	t.Lock()
	defer t.Unlock()
	return slices.DeleteFunc(slices.Clone(r.set.tools), func(t *Tool) bool {
		return slices.Contains(r.set.hidden, t.Name) != hidden
	})
}

// Hide hides tools. A name that is not registered yet is hidden once it is.
func (r *ToolRegistry) Hide(names ...string) {
	r.changeHidden(func(hidden []string) []string {
		for _, name := range names {
			if !slices.Contains(hidden, name) {
				hidden = append(hidden, name)
			}
		}
		return hidden
	})
}

// Unhide makes names visible again.
func (r *ToolRegistry) Unhide(names ...string) {
	r.changeHidden(func(hidden []string) []string {
		return slices.DeleteFunc(hidden, func(h string) bool { return slices.Contains(names, h) })
	})
}

// SetHidden hides exactly the given names.
func (r *ToolRegistry) SetHidden(names ...string) {
	r.changeHidden(func([]string) []string { return slices.Clone(names) })
}

// ClearHidden makes all tools visible.
func (r *ToolRegistry) ClearHidden() { r.SetHidden() }

func (r *ToolRegistry) changeHidden(change func([]string) []string) {
	t := r.turn()
	t.Lock()
	defer t.Unlock()
	s := &r.set
	s.own()
	s.hidden = change(s.hidden)
	data := value.AppendListHeader(nil, len(s.hidden))
	for _, name := range s.hidden {
		data = value.AppendString(data, name)
	}
	t.Edit(&abi.Edit{Context: r.state.Number(), Collection: abi.CollectionTools, Edit: abi.EditHidden, Data: abi.Bytes(data)})
}

// BindContext prunes ephemeral tools when ctx is acked. The function returned undoes it.
func (r *ToolRegistry) BindContext(ctx *DispatchContext) (unbind func()) {
	return ctx.OnAck(func() { r.PruneEphemeral() })
}

// MergeTools merges lists of tools. If two tools share a name, the later one's OnCollision decides: the later one
// stays (replace), the earlier one stays (keep), or policy decides; CollisionThrow gives the error
// E_TOOL_ALREADY_REGISTERED. Lists have no hidden names: for registries see MergeRegistries.
func MergeTools(policy Collision, lists ...[]*Tool) ([]*Tool, error) {
	var merged toolSet
	for _, tool := range slices.Concat(lists...) {
		i := merged.find(tool.Name)
		if i < 0 {
			merged.tools = append(merged.tools, tool)
			continue
		}
		decision := tool.OnCollision
		if decision == CollisionThrow {
			decision = policy
		}
		switch decision {
		case CollisionReplace:
			merged.tools[i] = tool
		case CollisionKeep:
		default:
			return nil, newError(abi.CodeToolAlreadyRegistered, tool.Name, nil)
		}
	}
	return merged.tools, nil
}

// MergeRegistries merges registries like MergeTools. hidden are the names under which a registry hides one of its own
// tools; pass them to ToolRegistry.SetHidden where you register the tools. The registries do not change.
func MergeRegistries(policy Collision, registries ...*ToolRegistry) (tools []*Tool, hidden []string, err error) {
	var lists [][]*Tool
	for _, r := range registries {
		lists = append(lists, r.All())
		for _, tool := range r.Hidden() {
			if !slices.Contains(hidden, tool.Name) {
				hidden = append(hidden, tool.Name)
			}
		}
	}
	if tools, err = MergeTools(policy, lists...); err != nil {
		return nil, nil, err
	}
	return tools, hidden, nil
}

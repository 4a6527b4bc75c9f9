package runtime

import (
	"slices"

	"github.com/turncore/turncore/runtime/fault"
)

// Registry is an ordered set of tools by name, some of which may be hidden from the model. Copies share their entries
// until one of them changes.
type Registry struct {
	tools  []*Tool
	hidden []string
	shared bool
	edits  uint32 // number of changes to tools
}

// snapshot returns a copy in constant time.
func (r *Registry) snapshot() *Registry {
	r.shared = true
	return r
}

// own returns the registry, copied first if it is shared.
//
//go:noinline
func (r *Registry) own() *Registry {
	if !r.shared {
		return r
	}
	return &Registry{tools: slices.Clone(r.tools), hidden: slices.Clone(r.hidden), edits: r.edits}
}

// Register adds a tool. With overwrite it replaces a tool of the same name in place; without, a duplicate name fails
// with E_TOOL_ALREADY_REGISTERED.
func (r *Registry) Register(tool *Tool, overwrite bool) error {
	r.edits++
	for i, have := range r.tools {
		if have.Name != tool.Name {
			continue
		}
		if !overwrite {
			return fault.New(fault.ToolAlreadyRegistered, tool.Name)
		}
		r.tools[i] = tool
		return nil
	}
	r.tools = append(r.tools, tool)
	return nil
}

// Unregister removes a tool and its hidden mark.
func (r *Registry) Unregister(name string) {
	r.edits++
	r.tools = slices.DeleteFunc(r.tools, func(t *Tool) bool { return t.Name == name })
	r.hidden = slices.DeleteFunc(r.hidden, func(h string) bool { return h == name })
}

// SetHidden replaces the hidden names.
func (r *Registry) SetHidden(names []string) { r.hidden = names }

// Get returns a tool by name, even a hidden one.
func (r *Registry) Get(name string) (*Tool, bool) {
	for _, t := range r.tools {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}

// Visible visits the tools that are not hidden, in order.
func (r *Registry) Visible(yield func(*Tool) bool) {
	for _, t := range r.tools {
		if !slices.Contains(r.hidden, t.Name) && !yield(t) {
			return
		}
	}
}

// firstMade is the number of the first tool that the guest makes in a turn.
const firstMade = 1 << 31

// Tools is the dispatch's registry. It is read-only.
func (d *Dispatch) Tools() *Registry { return d.registry }

// ephemeral reports whether any tool is ephemeral.
func (r *Registry) ephemeral() bool {
	return slices.ContainsFunc(r.tools, func(t *Tool) bool { return t.Ephemeral })
}

// setTools replaces the dispatch's tools, and notifies the world if they differ.
func (d *Dispatch) setTools(tools []*Tool) {
	if slices.Equal(d.registry.tools, tools) {
		return
	}
	d.registry = d.registry.own()
	d.registry.tools = tools
	d.registry.edits++
	d.turn.world.Sync(Sync{Context: d.number, Kind: KindTools, Op: SyncTools, Tools: tools})
}

// pruneEphemeral returns the dispatch's tools without the ephemeral ones.
func (d *Dispatch) pruneEphemeral() []*Tool {
	return slices.DeleteFunc(slices.Clone(d.registry.tools), func(t *Tool) bool { return t.Ephemeral })
}

// Define adds a tool to the turn, so that calls and registrations may use its number.
func (t *Turn) Define(tool *Tool) { t.tools = append(t.tools, tool) }

// ToolByNumber finds one of the turn's or the runner's tools.
func (t *Turn) ToolByNumber(number uint32) (*Tool, bool) {
	if number >= firstMade {
		if i := number - firstMade; i < uint32(len(t.made)) {
			return t.made[i], true
		}
		return nil, false
	}
	for _, list := range [2][]*Tool{t.config.Tools, t.tools} {
		for _, tool := range list {
			if tool.Number == number {
				return tool, true
			}
		}
	}
	return nil, false
}

package turns

import (
	"fmt"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/wire"
)

// ToolRegistry is the ordered set of tools, by name, that a context offers to its model. It contains hidden tools,
// but does not offer them. A dispatch's registry begins as a copy of its source's. All methods may be called from
// many goroutines.
type ToolRegistry struct {
	state *contextState
}

// turn is the turn of the context whose registry it is.
func (r *ToolRegistry) turn() *turn {
	if r == nil || r.state == nil {
		panic("turns: a ToolRegistry belongs to a context: get one from the Tools method of a TurnContext or DispatchContext")
	}
	return r.state.turn
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
	def, err := t.definition(tool)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &r.state.tools
	number, err := t.define(tool, def)
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
	t.edit(&abi.Edit{
		Context: r.state.number, Collection: abi.CollectionTools, Edit: abi.EditRegister, Handle: int64(number),
	})
	return nil
}

// Unregister removes a tool and its hidden mark. It reports whether there was one.
func (r *ToolRegistry) Unregister(name string) bool {
	t := r.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	return r.unregister(name)
}

func (r *ToolRegistry) unregister(name string) bool {
	s := &r.state.tools
	i := s.find(name)
	if i < 0 {
		return false
	}
	s.own()
	s.tools = slices.Delete(s.tools, i, i+1)
	s.hidden = slices.DeleteFunc(s.hidden, func(h string) bool { return h == name })
	r.state.turn.edit(&abi.Edit{
		Context: r.state.number, Collection: abi.CollectionTools, Edit: abi.EditUnregister, Data: abi.Bytes(value.AppendString(nil, name)),
	})
	return true
}

// PruneEphemeral removes the tools that are ephemeral.
func (r *ToolRegistry) PruneEphemeral() {
	t := r.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tool := range slices.Clone(r.state.tools.tools) {
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
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(r.state.tools.tools)
}

// Visible returns the tools that are not hidden, in order.
func (r *ToolRegistry) Visible() []*Tool { return r.thatAre(false) }

// Hidden returns the hidden tools, in order.
func (r *ToolRegistry) Hidden() []*Tool { return r.thatAre(true) }

func (r *ToolRegistry) thatAre(hidden bool) []*Tool {
	t := r.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.state.tools.tools), func(t *Tool) bool {
		return slices.Contains(r.state.tools.hidden, t.Name) != hidden
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
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &r.state.tools
	s.own()
	s.hidden = change(s.hidden)
	data := value.AppendListHeader(nil, len(s.hidden))
	for _, name := range s.hidden {
		data = value.AppendString(data, name)
	}
	t.edit(&abi.Edit{Context: r.state.number, Collection: abi.CollectionTools, Edit: abi.EditHidden, Data: abi.Bytes(data)})
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

// toolNumbers name the tools of a turn towards the guest.
type toolNumbers struct {
	runner []*Tool          // 1, 2, …
	own    []*Tool          // firstOwnTool, …
	made   []*Tool          // by the guest: firstMadeTool, …
	ids    map[*Tool]uint32 // of own and made
}

// firstOwnTool is the number of the first tool that is not the runner's, firstMadeTool that of the first that the guest
// makes.
const (
	firstOwnTool  = 1 << 16
	firstMadeTool = 1 << 31
)

func (n *toolNumbers) tool(number uint32) *Tool {
	switch {
	case number >= firstMadeTool:
		if i := number - firstMadeTool; uint64(i) < uint64(len(n.made)) {
			return n.made[i]
		}
		return nil
	case number >= firstOwnTool && int(number-firstOwnTool) < len(n.own):
		return n.own[number-firstOwnTool]
	case number >= 1 && int(number) <= len(n.runner):
		return n.runner[number-1]
	}
	return nil
}

// adoptTool makes the host's object of a tool that the guest has made, and whose handler runs there.
func (t *turn) adoptTool(data abi.Raw) error {
	raw, err := abi.BytesOf(data)
	if err != nil {
		return err
	}
	def, err := abi.Decode[abi.ToolDef](raw)
	if err != nil {
		return err
	}
	if uint64(def.Number) != firstMadeTool+uint64(len(t.tools.made)) {
		return fmt.Errorf("sync: tool %d comes out of turn", def.Number)
	}
	schema, err := wire.JSON(def.InputSchema)
	if err != nil {
		return err
	}
	tool := &Tool{
		Name: def.Name, Description: def.Description, InputSchema: schema, OnCollision: Collision(def.OnCollision),
		Trusted: def.Flags&abi.ToolTrusted != 0, Ephemeral: def.Flags&abi.ToolEphemeral != 0, Artifact: def.Flags&abi.ToolArtifact != 0,
	}
	// Outside of the turn there is nothing that could run it.
	tool.Handler = func(*DispatchContext, Args) (any, error) {
		return nil, newError(abi.CodeABIUnknownTarget, "the tool "+tool.Name+" belongs to another turn", nil)
	}
	t.tools.made = append(t.tools.made, tool)
	if t.tools.ids == nil {
		t.tools.ids = make(map[*Tool]uint32)
	}
	t.tools.ids[tool] = def.Number
	return nil
}

// number returns the number of a tool that the guest knows.
func (n *toolNumbers) number(tool *Tool) (number uint32, known bool) {
	if i := slices.Index(n.runner, tool); i >= 0 && tool != nil {
		return uint32(i + 1), true
	}
	number, known = n.ids[tool]
	return number, known
}

// definition is what define needs of a tool that the guest does not know. It runs code of the tool's schema: no lock may
// be held.
func (t *turn) definition(tool *Tool) (abi.ToolDef, error) {
	t.mu.Lock()
	_, known := t.tools.number(tool)
	t.mu.Unlock()
	if known {
		return abi.ToolDef{}, nil
	}
	return tool.definition(0)
}

// define returns the number of a tool. One that is not the runner's is made known to the guest by its definition, which
// the guest may refuse. The caller holds t.mu.
func (t *turn) define(tool *Tool, def abi.ToolDef) (uint32, error) {
	if number, known := t.tools.number(tool); known {
		return number, nil
	}
	number := uint32(firstOwnTool + len(t.tools.own))
	def.Number = number
	if t.closed {
		return 0, callAfterEnd()
	}
	if err := t.push(); err != nil {
		return 0, err
	}
	t.edit(&abi.Edit{Collection: abi.CollectionTools, Edit: abi.EditDefine, Data: abi.Bytes(def.Append(nil))})
	if err := t.push(); err != nil {
		return 0, err
	}
	t.tools.own = append(t.tools.own, tool)
	if t.tools.ids == nil {
		t.tools.ids = make(map[*Tool]uint32)
	}
	t.tools.ids[tool] = number
	return number, nil
}

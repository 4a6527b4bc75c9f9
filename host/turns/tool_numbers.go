package turns

import (
	"fmt"
	"math"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/internal/wire"
)

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

// AdoptTool implements turn.Program. The handler of such a tool runs in the core.
func (p *program) AdoptTool(data abi.Raw) error {
	raw, err := abi.BytesOf(data)
	if err != nil {
		return err
	}
	def, err := abi.Decode[abi.ToolDef](raw)
	if err != nil {
		return err
	}
	if uint64(def.Number) != firstMadeTool+uint64(len(p.tools.made)) {
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
	p.tools.made = append(p.tools.made, tool)
	if p.tools.ids == nil {
		p.tools.ids = make(map[*Tool]uint32)
	}
	p.tools.ids[tool] = def.Number
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

// definition is what define needs of a tool that the guest does not know. It runs code of the tool's schema: no lock
// may be held.
func (p *program) definition(tool *Tool) (abi.ToolDef, error) {
	p.turn.Lock()
	_, known := p.tools.number(tool)
	p.turn.Unlock()
	if known {
		return abi.ToolDef{}, nil
	}
	return tool.definition(0)
}

// define returns the number of a tool. One that is not the runner's is made known to the guest by its definition, which
// the guest may refuse. The caller holds the turn's lock.
func (p *program) define(tool *Tool, def abi.ToolDef) (uint32, error) {
	if number, known := p.tools.number(tool); known {
		return number, nil
	}
	number := uint32(firstOwnTool + len(p.tools.own))
	def.Number = number
	t := p.turn
	if t.Closed() {
		return 0, turn.ErrAfterEnd()
	}
	if err := t.Push(); err != nil {
		return 0, err
	}
	t.Edit(&abi.Edit{Collection: abi.CollectionTools, Edit: abi.EditDefine, Data: abi.Bytes(def.Append(nil))})
	if err := t.Push(); err != nil {
		return 0, err
	}
	p.tools.own = append(p.tools.own, tool)
	if p.tools.ids == nil {
		p.tools.ids = make(map[*Tool]uint32)
	}
	p.tools.ids[tool] = number
	return number, nil
}

// SetTools implements turn.Program.
func (p *program) SetTools(c *turn.Context, data abi.Raw) error {
	list, err := abi.BytesOf(data)
	if err != nil {
		return err
	}
	in := abi.NewReader(list)
	var tools []*Tool
	for range in.Array() {
		number := uint32(in.Uint(math.MaxUint32))
		tool := p.tools.tool(number)
		if tool == nil {
			return fmt.Errorf("sync of tool %d, which is not defined", number)
		}
		tools = append(tools, tool)
	}
	set := &contextOf(c).shared().tools.set
	set.own()
	set.tools = tools
	return in.Err()
}

package turns

import (
	"context"

	"github.com/turncore/turncore/host/internal/core"
	"github.com/turncore/turncore/host/internal/turn"
)

// program is what a turn has of the program: its functions, its tools, and the contexts that they take. It implements
// turn.Program; the turn's lock guards it.
type program struct {
	turn    *turn.Turn
	host    *Host
	config  *definition
	tools   toolNumbers
	root    TurnContext
	common  common                                         // of root
	writing writing                                        // has a lock of its own
	waitFor func(ctx context.Context, g Gate) (any, error) // of a standalone dispatch
}

// begin prepares a turn on a core that can take it.
func (h *Host) begin(ctx context.Context, config *definition, s turn.Spec) (*program, error) {
	p := &program{host: h, config: config, tools: toolNumbers{runner: config.tools}}
	s.Program, s.Face, s.Flights[0] = p, &p.root, &h.flight
	for {
		c, r, err := h.pool().Open(ctx, config)
		if err != nil {
			return nil, err
		}
		p.turn = turn.New(c, r, ctx, s)
		p.enter(config.tools)
		// A core that has died or begun to drain in between leaves the turn to another one.
		retry, err := p.turn.Join()
		switch {
		case err != nil:
			return nil, err
		case !retry:
			return p, nil
		}
	}
}

// enter fills in the context of the turn, which offers tools.
func (p *program) enter(tools []*Tool) {
	p.common = newCommon(p, p.turn.Root(), toolSet{tools: tools, shared: true})
	p.root.common = &p.common
}

// Open implements turn.Program.
func (p *program) Open(c, from *turn.Context, d core.Definition) {
	config := p.config
	if d != nil {
		config = d.(*definition)
	}
	ctx := newDispatchContext(p, c, config, contextOf(from).shared().tools.set.snapshot())
	c.Face, c.Listen = ctx, config.listen
}

// contextOf is the program's side of a context.
func contextOf(c *turn.Context) Context { return c.Face.(Context) }

// dispatchOf is the program's side of a dispatch's context, nil for a turn's.
func dispatchOf(c *turn.Context) *DispatchContext {
	d, _ := c.Face.(*DispatchContext)
	return d
}

// storage returns the callbacks that writes go through, and the context they are given: the turn's, or that of a
// dispatch without a turn.
func (p *program) storage(c *turn.Context) (Context, *Callbacks) {
	if d := dispatchOf(c); d != nil && p.turn.Standalone {
		return d, &p.config.callbacks
	}
	return &p.root, &p.config.callbacks
}

// configOf is the definition of the dispatch that a context is of, or else of the turn.
func (p *program) configOf(c *turn.Context) *definition {
	if d := dispatchOf(c); d != nil {
		return d.config
	}
	return p.config
}

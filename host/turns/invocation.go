package turns

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/core"
	"github.com/turncore/turncore/host/internal/invocation"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/model"
)

func init() {
	invocation.Open = func(of any, engine host.Engine, t *invocation.Team) invocation.Host {
		return openTeam(of.(*Host), engine, t)
	}
	invocation.CheckModel = func(of any, field string) (given bool, wrong []string) {
		m := of.(Model)
		return m.given(), m.wrong(field)
	}
	invocation.StateOf = func(ctx any) *turn.Context { return ctx.(*DispatchContext).state }
}

// team is a tree of agents that a host runs. It implements core.Team.
type team struct {
	host    *Host
	ownHost bool
	open    *invocation.Team
	base    *definition // of what belongs to no agent
	models  []*definition
	tools   []*Tool // of all agents
	flight  turn.Flight
}

func openTeam(h *Host, engine host.Engine, open *invocation.Team) *team {
	t := &team{host: h, open: open, base: &definition{}}
	credentials := make(map[string]model.Credential)
	for _, m := range open.Models {
		d := &definition{
			chat: m.Chat, tools: slices.Clone(m.Tools.([]*Tool)), firstTool: len(t.tools),
			wrapTool: m.WrapTool.([]ToolWrapper), wrapModel: m.WrapModel.([]model.Wrapper), key: m.Key,
		}
		d.executor, _ = m.Executor.(Executor)
		if of, _ := m.Model.(Model); d.executor == nil && d.chat == nil {
			var own map[string]model.Credential
			d.chat, own = of.chat()
			if c, some := own[modelCredential]; some && h == nil {
				d.chat.Credential = modelCredential + strconv.Itoa(int(m.Agent)) // agents may have different keys
				credentials[d.chat.Credential] = c
			}
		}
		t.models = append(t.models, d)
		t.tools = append(t.tools, d.tools...)
	}
	if h == nil {
		t.host, t.ownHost = NewHost(HostOptions{Engine: engine, Credentials: credentials}), true
	}
	return t
}

// Load implements invocation.Host.
func (t *team) Load(ctx context.Context) error {
	c, _, err := t.host.pool().OpenTeam(ctx, t)
	if err != nil {
		return err
	}
	t.host.pool().Release(c)
	return nil
}

// Models implements core.Team.
func (t *team) Models() []core.Definition {
	list := make([]core.Definition, len(t.models))
	for i, d := range t.models {
		list[i] = d
	}
	return list
}

// Frame implements core.Team.
func (t *team) Frame(models []uint32) *abi.OpenAgents {
	f := &abi.OpenAgents{App: t.open.App, Root: t.open.Root, Agents: slices.Clone(t.open.Agents), Plugins: t.open.Plugins}
	for i, m := range t.open.Models {
		f.Agents[m.Agent-1].Runner = models[i]
	}
	return f
}

// Now implements invocation.Host.
func (t *team) Now() (int64, error) { return t.host.cores.Now() }

// ID implements invocation.Host.
func (t *team) ID() string { return host.NewTurnID(t.host.options.Clock, t.host.options.Entropy) }

// Begin implements invocation.Host.
func (t *team) Begin(ctx context.Context, id string, journal io.Writer, prepare func(*turn.Effect, *abi.Effect) error) (*turn.Turn, error) {
	p := &invoked{program: program{host: t.host, config: t.base, tools: toolNumbers{runner: t.tools}}, team: t, prepare: prepare}
	s := turn.Spec{ID: id, Journal: journal, Program: p, Face: &p.root, Flights: [2]*turn.Flight{&t.host.flight, &t.flight}}
	for {
		c, r, err := t.host.pool().OpenTeam(ctx, t)
		if err != nil {
			return nil, err
		}
		p.turn = turn.New(c, r, ctx, s)
		p.enter(nil)
		retry, err := p.turn.Join()
		switch {
		case err != nil:
			return nil, err
		case !retry:
			return p.turn, nil
		}
	}
}

// Until implements invocation.Host.
func (t *team) Until(ctx context.Context) (wait context.Context, stop func()) {
	outer, stopOuter := t.host.flight.Until(ctx)
	wait, stopInner := t.flight.Until(outer)
	return wait, func() { stopInner(); stopOuter() }
}

// Call implements invocation.Host.
func (t *team) Call(ctx context.Context, method uint8, args abi.Raw) (abi.Raw, error) {
	c, err := t.host.pool().Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer t.host.pool().Release(c)
	if !c.Sessions() {
		return nil, core.NoSessions()
	}
	return c.Call(method, args)
}

// Close implements invocation.Host.
func (t *team) Close() error {
	left := t.flight.Close()
	if !t.ownHost {
		turn.AbortAll(left, newError(abi.CodeClosed, "", nil))
	}
	t.host.cores.CloseRunner(t)
	for _, d := range t.models {
		t.host.cores.CloseRunner(d)
	}
	if t.ownHost {
		return t.host.Close(context.Background())
	}
	return nil
}

// invoked is the program of an invocation: tools and models are those of turns. It implements turn.Stepper.
type invoked struct {
	program
	team    *team
	prepare func(e *turn.Effect, f *abi.Effect) error
}

// Step implements turn.Stepper.
func (p *invoked) Step(c *turn.Context, agent uint32) error {
	i := slices.IndexFunc(p.team.open.Models, func(m invocation.Model) bool { return m.Agent == agent })
	if i < 0 {
		return fmt.Errorf("context %d is a step of agent %d, which has no model", c.Number(), agent)
	}
	d := p.team.models[i]
	c.Face, c.Agent = newDispatchContext(&p.program, c, d, toolSet{tools: d.tools, shared: true}), agent
	return nil
}

// Prepare implements turn.Program.
func (p *invoked) Prepare(e *turn.Effect, f *abi.Effect) error {
	switch e.Kind {
	case abi.SessionEffectAppend, abi.SessionEffectDeliver, abi.SessionEffectHook, abi.SessionEffectAgent:
		return p.prepare(e, f)
	case abi.SessionEffectModel:
		e.Apart = true
		if err := p.prepare(e, f); err != nil {
			return err
		}
		return prepareExecutor(e)
	case abi.EffectTool:
		e.Apart = true
	case abi.EffectHTTP, abi.EffectModel:
		e.Yields = true
	case abi.EffectExecutor, abi.EffectStore, abi.EffectCommit, abi.EffectDiscard, abi.EffectSpool:
		return fmt.Errorf("an invocation has no effect of kind %d", e.Kind)
	}
	return p.program.Prepare(e, f)
}

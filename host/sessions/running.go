package sessions

import (
	"errors"
	"fmt"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/turn"
)

// running is an invocation that runs.
type running struct {
	runner        *Runner
	turn          *turn.Turn
	user, session string
	key           string // of the session in the store
	message       *Content
	artifacts     artifacts

	mu      sync.Mutex
	id      string
	now     snapshot
	streams map[uint32]*stream // of agents that custom agents run, by the numbers of their runs
	known   []contents         // what the core knows that is kept, by the numbers of agents
	lastRun uint32
}

// firstRun is the first number of an agent that a custom one runs.
const firstRun = 1 << 31

func (inv *running) invocationID() string {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.id
}

// handle returns the session as it is.
func (inv *running) handle() *Session {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return &Session{ID: inv.session, User: inv.user, App: inv.runner.sessions.app, now: inv.now}
}

// shown is what models have been shown of the session.
func (inv *running) shown() *shown {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return &inv.now.events.log.shown
}

// receive makes a stream for the events of an agent that a custom one runs, under the number run.
func (inv *running) receive() (run uint32, events *stream) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if inv.streams == nil {
		inv.streams = make(map[uint32]*stream)
	}
	run, events = firstRun+inv.lastRun, newStream()
	inv.lastRun++
	inv.streams[run] = events
	return run, events
}

// leave drops a stream.
func (inv *running) leave(run uint32) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.streams[run].leave()
	delete(inv.streams, run)
}

// prepare sets what performs an effect of the invocation. It is called under the turn's lock.
func (inv *running) prepare(e *turn.Effect, f *abi.Effect) error {
	raw := f.Args
	f.Args = nil // the effect has it, and no copy
	e.Apart = true
	switch e.Kind {
	case abi.SessionEffectAppend:
		args := &abi.AppendArgs{}
		if err := abi.DecodeInPlaceTo(raw, args); err != nil {
			return err
		}
		e.Ahead, e.Gives = args.Ahead, true
		e.Perform = func() (abi.Raw, error) { return nil, inv.append(e, args) }
	case abi.SessionEffectModel:
		e.Begin = func() error { return inv.asked(e.Context, raw) }
	case abi.SessionEffectDeliver:
		args := &abi.DeliverArgs{}
		if err := abi.DecodeInPlaceTo(raw, args); err != nil {
			return err
		}
		e.Gives = args.Run == 0
		e.Apart, e.Yields = !e.Gives, !e.Gives // it waits for who takes it
		e.Perform = func() (abi.Raw, error) { return nil, inv.deliver(e, args) }
	case abi.SessionEffectHook:
		args := &abi.HookArgs{}
		if err := abi.DecodeInPlaceTo(raw, args); err != nil {
			return err
		}
		call, err := inv.runner.hook(args)
		if err != nil {
			return err
		}
		ctx := &CallbackContext{}
		if e.Context.Number() != 0 {
			ctx.step = e.Context
		}
		ctx.base = base{Context: e.Later(), inv: inv, agent: inv.runner.name(args.Agent), state: State{of: e.Context, changes: &ctx.changes}}
		e.Perform = func() (abi.Raw, error) { return ctx.answer(args.Hook, call) }
	case abi.SessionEffectAgent:
		args, err := abi.DecodeInPlace[abi.AgentArgs](raw)
		if err != nil {
			return err
		}
		n, err := inv.runner.tree.agent(args.Agent)
		if err != nil || n.custom == nil {
			return errors.Join(err, fmt.Errorf("agent %d is no custom one", args.Agent))
		}
		ctx := &Context{run: args.Run, message: inv.message}
		var d decoder
		if input := d.content(at("input"), args.Input); input != nil {
			ctx.message = input
		}
		if d.err != nil {
			return d.err
		}
		e.Yields = true
		ctx.base = base{Context: e.Later(), inv: inv, agent: n.name, branch: args.Branch, state: State{of: e.Context}}
		e.Perform = func() (abi.Raw, error) { return nil, n.custom.Run(ctx, ctx.yield) }
	}
	return nil
}

// append stores an event, and delivers it if it is for the caller.
func (inv *running) append(e *turn.Effect, a *abi.AppendArgs) error {
	inv.appended() // the core goes on with the event before
	inv.mu.Lock()
	now := inv.now
	if id, ok := value.GetString(a.Event, "invocationId"); ok && string(id) != inv.id {
		inv.id = string(id)
	}
	inv.mu.Unlock()
	now, err := inv.runner.sessions.append(e.Context.Later(), inv.key, now, a, &inv.artifacts)
	if err != nil {
		return err
	}
	inv.mu.Lock()
	inv.now = now
	inv.mu.Unlock()
	if !a.Deliver {
		return nil
	}
	event, err := decodeEvent(a.Event)
	if err == nil {
		e.Given = event
	}
	return err
}

// appended notes that the core has all events that the invocation has appended.
func (inv *running) appended() {
	inv.mu.Lock()
	view := inv.now.events.view()
	inv.mu.Unlock()
	inv.turn.Core().Appended(view)
}

// deliver hands over an event that is not stored.
func (inv *running) deliver(e *turn.Effect, a *abi.DeliverArgs) error {
	event, err := decodeEvent(a.Event)
	if err != nil {
		return err
	}
	if a.Run == 0 {
		e.Given = event
		return nil
	}
	inv.mu.Lock()
	to := inv.streams[a.Run]
	inv.mu.Unlock()
	if to == nil {
		return errStopped()
	}
	return to.give(event)
}

// yield takes an event of a custom agent.
func (c *Context) yield(e *Event) error {
	v, err := e.encode(nil)
	if err != nil {
		return err
	}
	_, err = c.inv.turn.Root().Invoke(abi.SessionMethodYield, turn.Payload(&abi.YieldArgs{Run: c.run, Event: v}))
	return err
}

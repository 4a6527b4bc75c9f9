package conformance

import (
	"context"
	"time"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

// waitFor opens a gate and waits for it.
func waitFor(f *frame, arg any) (any, error) {
	a := fieldsOf(arg)
	g := turns.Gate{
		ID: a.str("id", "gate"), Reason: a.str("reason", "why"), Payload: map[string]any{"ask": 1}, CreatedAt: instant, Schema: a.any("schema"),
	}
	if v, there := a.take("payload"); there {
		g.Payload = v
	}
	if v, there := a.take("timeout"); there {
		g.Timeout = time.Duration(v.(float64)) * time.Millisecond
	}
	a.end()
	return f.inTurn().WaitFor(context.Background(), g)
}

// opened keeps the live gate of an event.
func (g *game) opened(ev event.Event) {
	if open, ok := ev.(*event.TurnGateOpen); ok {
		g.keepValue("gate "+open.Gate.ID(), open.Gate)
	}
}

// settle settles a gate that was opened.
func (g *game) settle(arg any, how func(gate event.OpenGate, a *fields) error) (any, error) {
	a := fieldsOf(arg)
	defer a.end()
	return nil, how(g.value("gate "+a.str("gate", "gate")).(event.OpenGate), a)
}

func resolve(f *frame, arg any) (any, error) {
	return f.game.settle(arg, func(gate event.OpenGate, a *fields) error {
		value := a.any("value")
		if digest, there := a.take("digest"); there {
			if digest == true {
				digest = gate.Digest()
			}
			return gate.ResolveShown(value, str(digest))
		}
		return gate.Resolve(value)
	})
}

func reject(f *frame, arg any) (any, error) {
	return f.game.settle(arg, func(gate event.OpenGate, a *fields) error {
		name, there := a.take("error")
		if !there {
			return gate.Reject(nil)
		}
		return gate.Reject(f.game.error(str(name)))
	})
}

func abortGate(f *frame, arg any) (any, error) {
	return f.game.settle(arg, func(gate event.OpenGate, _ *fields) error {
		return gate.Abort()
	})
}

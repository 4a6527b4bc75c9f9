package remote

import (
	"encoding/json"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/sse"
)

// gate is the gate of a turn that runs on a server.
type gate struct {
	shown sse.Gate
	turn  *following

	mu     sync.Mutex
	result string // how it was settled; empty for an open one
}

// ID implements event.OpenGate.
func (g *gate) ID() string { return g.shown.ID }

// TurnID implements event.OpenGate.
func (g *gate) TurnID() string { return g.turn.id }

// Reason implements event.OpenGate.
func (g *gate) Reason() string { return g.shown.Reason }

// Payload implements event.OpenGate.
func (g *gate) Payload() json.RawMessage { return g.shown.Payload }

// CreatedAt implements event.OpenGate.
func (g *gate) CreatedAt() time.Time { return g.shown.CreatedAt }

// Digest implements event.OpenGate.
func (g *gate) Digest() string { return g.shown.Digest }

// IsSettled implements event.OpenGate.
func (g *gate) IsSettled() bool { return g.settled() != nil }

// Resolve implements event.OpenGate. The decision is bound to the question that the gate shows.
func (g *gate) Resolve(v any) error { return g.ResolveShown(v, g.shown.Digest) }

// ResolveShown implements event.OpenGate.
func (g *gate) ResolveShown(v any, digest string) error {
	value, err := json.Marshal(v)
	if err != nil {
		return host.NewError(host.CodeInvalidTurnGateResolution, err.Error(), err)
	}
	return g.settle(map[string]any{"value": json.RawMessage(value), "digest": digest})
}

// Reject implements event.OpenGate.
func (g *gate) Reject(err error) error {
	if err == nil {
		err = host.NewError("", "rejected", nil)
	}
	return g.settle(map[string]any{"error": json.RawMessage(sse.ErrorJSON(err))})
}

// Abort implements event.OpenGate.
func (g *gate) Abort() error { return g.settle(map[string]any{"abort": true}) }

func (g *gate) settle(answer map[string]any) error {
	if err := g.settled(); err != nil {
		return err
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return g.turn.client.post(g.turn.caller, "/"+url.PathEscape(g.turn.id)+"/gates/"+url.PathEscape(g.shown.ID), body)
}

// settled is the error for a settled gate; nil for an open one.
func (g *gate) settled() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.result == "" {
		return nil
	}
	return gateSettled(g.result)
}

func (g *gate) close(result event.GateResult) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.result = result.String()
}

// gates are the open gates of the turns that a client follows.
type gates struct {
	mu   sync.Mutex
	open []*gate
}

func (b *gates) add(g *gate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = append(b.open, g)
}

// close closes the open gates of a turn that is followed: the one with an id, or (id empty) all.
func (b *gates) close(turn *following, id string, result event.GateResult) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = slices.DeleteFunc(b.open, func(g *gate) bool {
		closes := g.turn == turn && (id == "" || g.shown.ID == id)
		if closes {
			g.close(result)
		}
		return closes
	})
}

// find returns the only open gate with an id, of one turn or (turnID empty) of any.
func (b *gates) find(turnID, id string) (event.OpenGate, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found *gate
	for _, g := range b.open {
		switch {
		case g.shown.ID != id || turnID != "" && g.turn.id != turnID:
		case found != nil && found.turn.id != g.turn.id:
			return nil, false
		case found == nil: // who follows a turn twice has its gates twice, and either settles them
			found = g
		}
	}
	if found == nil {
		return nil, false
	}
	return found, true
}

func (b *gates) list() []event.OpenGate {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]event.OpenGate, len(b.open))
	for i, g := range b.open {
		list[i] = g
	}
	return list
}

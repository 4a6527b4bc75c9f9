package turn

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/wire"
)

// OpenGate opens a gate and waits until it is settled. It returns the value of the resolution. The end of until aborts
// the gate.
func (c *Context) OpenGate(until context.Context, args *abi.OpenGateArgs) ([]byte, error) {
	t := c.turn
	w := &wait{turn: t}
	if until != nil {
		defer context.AfterFunc(until, w.giveUp)() // takes the turn's lock when it is one of the turn's contexts
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opened = nil
	return c.invokeThen(abi.MethodOpenGate, Payload(args), w.begin)
}

// wait is a gate that somebody may cease to wait for. The turn's lock guards it.
type wait struct {
	turn   *Turn
	gate   *openGate // nil until it is open
	gaveUp bool
}

// begin is told that the core has taken the call which opens the gate.
func (w *wait) begin() {
	w.gate = w.turn.opened // by that very step; nil when it was refused
	if w.gaveUp && w.gate != nil {
		go w.gate.Abort() //nolint:errcheck // somebody else may have been first
	}
}

func (w *wait) giveUp() {
	w.turn.mu.Lock()
	w.gaveUp = true
	gate := w.gate
	w.turn.mu.Unlock()
	if gate != nil {
		_ = gate.Abort() // somebody else may have been first
	}
}

// openGate is the live gate of a turn.
type openGate struct {
	turn      *Turn
	number    uint32
	dispatch  uint32
	sequence  uint64 // in the runner's book
	id        string
	reason    string
	payload   json.RawMessage
	createdAt time.Time
	digest    string
	settled   bool             // guarded by the turn's lock
	result    event.GateResult // how, once it is settled
}

// ID implements event.OpenGate.
func (g *openGate) ID() string { return g.id }

// TurnID implements event.OpenGate.
func (g *openGate) TurnID() string { return g.turn.ID }

// Reason implements event.OpenGate.
func (g *openGate) Reason() string { return g.reason }

// Payload implements event.OpenGate.
func (g *openGate) Payload() json.RawMessage { return g.payload }

// CreatedAt implements event.OpenGate.
func (g *openGate) CreatedAt() time.Time { return g.createdAt }

// Digest implements event.OpenGate.
func (g *openGate) Digest() string { return g.digest }

// IsSettled implements event.OpenGate.
func (g *openGate) IsSettled() bool {
	g.turn.mu.Lock()
	defer g.turn.mu.Unlock()
	return g.settled
}

// Resolve implements event.OpenGate.
func (g *openGate) Resolve(v any) error { return g.resolve(v, "") }

// ResolveShown implements event.OpenGate.
func (g *openGate) ResolveShown(v any, digest string) error {
	if digest != "" {
		return g.resolve(v, digest)
	}
	if err := g.openOr(); err != nil {
		return err
	}
	return host.NewError(abi.CodeInvalidTurnGateResolution, g.id+": the digest of what was shown is empty", nil)
}

func (g *openGate) resolve(v any, digest string) error {
	raw, err := wire.Append(nil, v, "value")
	if err != nil {
		if settled := g.openOr(); settled != nil {
			return settled
		}
		return host.NewError(abi.CodeInvalidTurnGateResolution, err.Error(), err)
	}
	return g.settle(func() *abi.SettleGateArgs {
		return &abi.SettleGateArgs{Settle: abi.SettleResolve, Value: raw, Digest: digest}
	})
}

// Reject implements event.OpenGate.
func (g *openGate) Reject(err error) error {
	if err == nil {
		return g.settle(func() *abi.SettleGateArgs { return &abi.SettleGateArgs{Settle: abi.SettleReject} })
	}
	about := describe(err, nil)
	return g.settle(func() *abi.SettleGateArgs {
		return &abi.SettleGateArgs{Settle: abi.SettleReject, Error: g.turn.errors.keep(err, about)}
	})
}

// Abort implements event.OpenGate.
func (g *openGate) Abort() error {
	return g.settle(func() *abi.SettleGateArgs { return &abi.SettleGateArgs{Settle: abi.SettleAbort} })
}

// settle makes the call that args, under the turn's lock, makes the arguments of.
func (g *openGate) settle(args func() *abi.SettleGateArgs) error {
	t := g.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if g.settled {
		return g.settledError()
	}
	_, err := t.Root().InvokeLocked(abi.MethodSettleGate, func(b []byte) ([]byte, error) {
		a := args()
		a.Gate = g.number
		return a.Append(b), nil
	})
	return err
}

// openOr returns the error for a gate that is settled, nil for an open one.
func (g *openGate) openOr() error {
	g.turn.mu.Lock()
	defer g.turn.mu.Unlock()
	if g.settled {
		return g.settledError()
	}
	return nil
}

// settledError is E_TURN_GATE_SETTLED as the core words it. The caller holds the turn's lock.
func (g *openGate) settledError() error {
	err := host.NewError(host.CodeTurnGateSettled, g.result.String(), nil)
	err.Details = map[string]any{"result": g.result.String()}
	return err
}

// noteGate follows the gates that open and close. The caller holds t.mu.
func (t *Turn) noteGate(f *abi.Event) error {
	if event.Kind(f.Kind) == event.KindTurnGateClosed {
		var p abi.GateClosedEvent
		err := p.Unmarshal(f.Payload)
		if g := t.gates[p.Gate]; err == nil && g != nil {
			t.closeGate(g, event.GateResult(p.Result))
		}
		return err
	}
	var p abi.GateOpenEvent
	err := p.Unmarshal(f.Payload)
	if err != nil {
		return err
	}
	text, err := wire.JSON(orNil(p.Payload))
	if err != nil {
		return err
	}
	g := &openGate{
		turn: t, number: p.Gate, dispatch: f.Dispatch, id: p.ID, reason: p.Reason, payload: text,
		createdAt: time.UnixMilli(p.CreatedAt).UTC(), digest: p.Digest,
	}
	if t.gates == nil {
		t.gates = make(map[uint32]*openGate)
	}
	t.gates[p.Gate], t.opened = g, g
	if t.Gates != nil {
		t.Gates.add(g)
	}
	return nil
}

func (t *Turn) closeGate(g *openGate, result event.GateResult) {
	g.settled, g.result = true, result
	delete(t.gates, g.number)
	if t.Gates != nil {
		t.Gates.remove(g)
	}
}

// gateEvent makes the event that opens or closes a gate.
func (t *Turn) gateEvent(h event.Head, f *abi.Event) (event.Event, error) {
	if event.Kind(f.Kind) == event.KindTurnGateOpen {
		return &event.TurnGateOpen{Head: h, Gate: t.opened}, nil
	}
	var p abi.GateClosedEvent
	err := p.Unmarshal(f.Payload)
	return &event.TurnGateClosed{Head: h, GateID: p.ID, Result: event.GateResult(p.Result)}, err
}

// abandonGates closes the gates of a turn whose instance has died. The caller holds t.mu.
func (t *Turn) abandonGates() {
	open := slices.SortedFunc(maps.Values(t.gates), func(a, b *openGate) int { return int(a.number) - int(b.number) })
	for _, g := range open {
		t.closeGate(g, event.GateAborted)
		scope := abi.ScopeTurn
		if g.dispatch > 0 {
			scope |= abi.ScopeDispatch
		}
		h := t.nextHead(begun{dispatch: g.dispatch, iteration: -1})
		t.announce(&event.TurnGateClosed{Head: h, GateID: g.id, Result: event.GateAborted}, scope, g.dispatch)
	}
}

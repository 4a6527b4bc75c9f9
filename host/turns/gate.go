package turns

import (
	"context"
	"encoding/json"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/check"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/internal/wire"
)

// Gate is a question of WaitFor: a turn waits at the gate for an outside decision.
type Gate struct {
	// ID identifies the gate in answers, for example in TurnRunner.Gate. It should be unique among open gates.
	ID string
	// Reason is the question, for people.
	Reason string
	// Payload is the data to decide on: JSON-like data, or any value that marshals to it. Use json.RawMessage("null")
	// for none; nil is invalid.
	Payload any
	// CreatedAt is when the question arose.
	CreatedAt time.Time
	// Schema is a JSON Schema (draft 2020-12) that resolutions must match: JSON text, or any value that marshals to it.
	// nil allows any value. Its defaults are filled in; nothing is converted.
	Schema any
	// Timeout is how long the gate stays open, at least a millisecond; 0 for no limit.
	Timeout time.Duration
}

// Validate checks the gate against the rules of E_INVALID_INITIAL_TURN_GATE_VALUE and lists all violations. The core
// checks for unsupported features of the schema when the gate is opened.
func (g *Gate) Validate() error {
	_, err := g.encode()
	return err
}

// encode returns the gate as it crosses.
func (g *Gate) encode() (*abi.OpenGateArgs, error) {
	rules := abi.TurnGateRules
	v := [...]check.Given{
		check.Text(g.ID), check.Text(g.Reason), check.If(g.Payload != nil), check.Time(g.CreatedAt), check.If(g.Schema != nil), check.If(true),
	}
	list := check.Violations(rules, "", v[:])
	args := &abi.OpenGateArgs{
		ID: value.UTF8(g.ID), Reason: value.UTF8(g.Reason), CreatedAt: g.CreatedAt.UnixMilli(),
	}
	var err error
	if g.Payload != nil {
		if args.Payload, err = wire.Append(nil, g.Payload, "payload"); err != nil {
			list = append(list, err.Error())
		}
	}
	if g.Schema != nil {
		if args.Schema, err = encodeSchema(g.Schema, "schema"); err != nil {
			list = append(list, abi.Violation(string(abi.KindGateSchema), "field", "schema"))
		}
	}
	if g.Timeout != 0 {
		if g.Timeout < time.Millisecond {
			list = append(list, abi.Violation(string(abi.KindTimeout), "field", "timeout"))
		}
		args.Timeout = uint64(g.Timeout / time.Millisecond)
	}
	return args, check.Invalid(rules, list)
}

// encodeSchema encodes a JSON Schema: JSON text, or anything that marshals to it.
func encodeSchema(schema any, field string) (abi.Raw, error) {
	return wire.Append(nil, schemaValue(schema), field)
}

// schemaValue is a JSON Schema as something that is encoded to it.
func schemaValue(schema any) any {
	switch text := schema.(type) {
	case string:
		return json.RawMessage(text)
	case []byte:
		return json.RawMessage(text)
	}
	return schema
}

// WaitFor opens a gate and waits until it is settled. It returns the value of the resolution as plain data (nil,
// bool, int64, float64, string, []any, map[string]any), or an error: the same error value as in a rejection,
// E_TURN_GATE_ABORTED after its own abort or the turn's, or E_TURN_GATE_TIMEOUT. A gate with invalid fields fails
// with E_INVALID_INITIAL_TURN_GATE_VALUE, before any event. Listeners of KindTurnGateOpen get the live gate.
//
// A gate belongs to the turn, whichever context opened it: the abort of a dispatch leaves it open. Cancelling until
// aborts only the gate; pass context.Background() to wait regardless, or the context itself to stop waiting when it
// ends.
//
// In a dispatch without a turn, RawContext.WaitFor decides; without one the error is E_LLM_EXECUTION_GATE_NOT_SUPPORTED.
func (b *base) WaitFor(until context.Context, g Gate) (any, error) {
	t := b.state.turn
	args, err := g.encode()
	if err != nil {
		return nil, err
	}
	if t.standalone {
		if t.waitFor == nil {
			return nil, newError(abi.CodeLLMExecutionGateNotSupported, "", nil)
		}
		return waitOutside(until, g, t.waitFor)
	}
	w := &wait{turn: t}
	if until != nil {
		defer context.AfterFunc(until, w.giveUp)() // takes the turn's lock when it is one of the turn's contexts
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opened = nil
	raw, err := t.invokeThen(b.state.number, abi.MethodOpenGate, payload(args), w.begin)
	if err != nil {
		return nil, err
	}
	return wire.Plain(raw)
}

// waitOutside waits as the program sees to it. A panic there is an error like another.
func waitOutside(until context.Context, g Gate, waitFor func(ctx context.Context, g Gate) (any, error)) (got any, err error) {
	defer panics.Recovered(&err)
	return waitFor(until, g)
}

// wait is a gate that somebody may cease to wait for. The turn's lock guards it.
type wait struct {
	turn   *turn
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

// ErrGateSettled is the error of settling a settled gate. The *host.Error says how it was settled, its Details as
// map[string]any{"result": "resolved"}.
var ErrGateSettled error = host.CodeTurnGateSettled

// openGate is the live gate of a turn.
type openGate struct {
	turn      *turn
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
func (g *openGate) TurnID() string { return g.turn.id }

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
	return newError(abi.CodeInvalidTurnGateResolution, g.id+": the digest of what was shown is empty", nil)
}

func (g *openGate) resolve(v any, digest string) error {
	raw, err := wire.Append(nil, v, "value")
	if err != nil {
		if settled := g.openOr(); settled != nil {
			return settled
		}
		return newError(abi.CodeInvalidTurnGateResolution, err.Error(), err)
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
	_, err := t.invokeLocked(0, abi.MethodSettleGate, func() (abi.Raw, error) {
		a := args()
		a.Gate = g.number
		return a.Append(nil), nil
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

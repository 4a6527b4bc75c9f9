package turns

import (
	"context"
	"encoding/json"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
)

// Gate is what WaitFor asks: a turn waits at it until somebody outside decides.
type Gate struct {
	// ID names the gate to who settles it, TurnRunner.Gate for instance. It should be unique among the gates that are
	// open at the same time.
	ID string
	// Reason says, for people, what is to be decided.
	Reason string
	// Payload is what there is to decide on: JSON-like data, or anything that marshals to it. json.RawMessage("null")
	// for none; nil is refused.
	Payload any
	// CreatedAt is when the question arose.
	CreatedAt time.Time
	// Schema is a JSON Schema (draft 2020-12) that resolutions must keep: JSON text, or anything that marshals to it. nil
	// allows any value. Its defaults are filled in; nothing is converted.
	Schema any
	// Timeout is how long the gate stays open, at least a millisecond; 0 for as long as it takes.
	Timeout time.Duration
}

// Validate checks the gate against the rules of E_INVALID_INITIAL_TURN_GATE_VALUE and lists all that is wrong. That its
// schema uses nothing that is not supported is checked by the core, when the gate is opened.
func (g *Gate) Validate() error {
	_, err := g.encode()
	return err
}

// encode returns the gate as it crosses.
func (g *Gate) encode() (*abi.OpenGateArgs, error) {
	rules := abi.TurnGateRules
	v := [...]given{
		givenText(g.ID), givenText(g.Reason), givenIf(g.Payload != nil), givenTime(g.CreatedAt), givenIf(g.Schema != nil), givenIf(true),
	}
	list := violations(rules, "", v[:])
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
	return args, invalid(rules, list)
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

// WaitFor opens a gate and waits until it is settled. It returns the value that the gate was resolved with, as plain
// data (nil, bool, int64, float64, string, []any, map[string]any), or else the error: the very one it was rejected with,
// E_TURN_GATE_ABORTED after its own abort or the turn's, E_TURN_GATE_TIMEOUT. A gate whose fields are invalid is refused
// with E_INVALID_INITIAL_TURN_GATE_VALUE, before any event. Listeners of KindTurnGateOpen are given the live gate.
//
// A gate belongs to the turn, whichever context opened it: the abort of a dispatch leaves it open. Cancelling until aborts
// the gate, nothing else; pass context.Background() to wait whatever comes, and the context itself to give up with it.
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
	return decodePlain(raw)
}

// waitOutside waits as the program sees to it. A panic there is an error like another.
func waitOutside(until context.Context, g Gate, waitFor func(ctx context.Context, g Gate) (any, error)) (got any, err error) {
	defer recovered(&err)
	return waitFor(until, g)
}

// wait is a gate that somebody may cease to wait for. The turn's lock guards it.
type wait struct {
	turn   *turn
	gate   *OpenGate // nil until it is open
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

// GateResult is how a gate was settled.
type GateResult uint8

// Results of a gate.
const (
	GateResolved = GateResult(abi.GateResolved)
	GateRejected = GateResult(abi.GateRejected)
	GateAborted  = GateResult(abi.GateAborted)
	GateTimeout  = GateResult(abi.GateTimeout)
)

// String returns the result as in JSON, such as "resolved".
func (r GateResult) String() string {
	switch r {
	case GateResolved:
		return "resolved"
	case GateRejected:
		return "rejected"
	case GateAborted:
		return "aborted"
	case GateTimeout:
		return "timeout"
	}
	return ""
}

// ErrGateSettled is what settling a gate fails with that is settled. The *host.Error says how it was settled, its Details as
// map[string]any{"result": "resolved"}.
var ErrGateSettled error = host.CodeTurnGateSettled

// OpenGate is a live gate, to be settled from a listener or from anywhere else. The first to settle it wins; later calls
// change nothing and return ErrGateSettled. Its methods may be called from many goroutines.
type OpenGate struct {
	turn      *turn
	number    uint32
	dispatch  uint32
	sequence  uint64 // in the runner's book
	id        string
	reason    string
	payload   json.RawMessage
	createdAt time.Time
	digest    string
	settled   bool       // guarded by the turn's lock
	result    GateResult // how, once it is settled
}

// ID is the gate's id.
func (g *OpenGate) ID() string { return g.id }

// TurnID is the id of the turn that waits.
func (g *OpenGate) TurnID() string { return g.turn.id }

// Reason says what is to be decided.
func (g *OpenGate) Reason() string { return g.reason }

// Payload is what there is to decide on, as JSON text.
func (g *OpenGate) Payload() json.RawMessage { return g.payload }

// CreatedAt is when the question arose.
func (g *OpenGate) CreatedAt() time.Time { return g.createdAt }

// Digest names what the gate shows: the SHA-256 of the canonical JSON (RFC 8785) of {"id", "payload", "reason"}, in
// lower-case hexadecimal digits. Hand it out with what is shown, and hand it back to ResolveShown.
func (g *OpenGate) Digest() string { return g.digest }

// IsSettled tells whether somebody has settled the gate.
func (g *OpenGate) IsSettled() bool {
	g.turn.mu.Lock()
	defer g.turn.mu.Unlock()
	return g.settled
}

// Resolve settles the gate with a value, which WaitFor returns: JSON-like data, or anything that marshals to it. A value
// that breaks the gate's schema is refused with E_INVALID_TURN_GATE_RESOLUTION, whose Details list the violations, and
// the gate stays open.
func (g *OpenGate) Resolve(v any) error { return g.resolve(v, "") }

// ResolveShown is Resolve for a decision that was made on what had the given Digest. When that is not the gate's, or
// empty, the decision is refused with E_INVALID_TURN_GATE_RESOLUTION and the gate stays open.
func (g *OpenGate) ResolveShown(v any, digest string) error {
	if digest != "" {
		return g.resolve(v, digest)
	}
	if err := g.openOr(); err != nil {
		return err
	}
	return newError(abi.CodeInvalidTurnGateResolution, g.id+": the digest of what was shown is empty", nil)
}

func (g *OpenGate) resolve(v any, digest string) error {
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

// Reject settles the gate with an error, which WaitFor returns as it is.
func (g *OpenGate) Reject(err error) error {
	if err == nil {
		return g.settle(func() *abi.SettleGateArgs { return &abi.SettleGateArgs{Settle: abi.SettleReject} })
	}
	about := describe(err, nil)
	return g.settle(func() *abi.SettleGateArgs {
		return &abi.SettleGateArgs{Settle: abi.SettleReject, Error: g.turn.errors.keep(err, about)}
	})
}

// Abort settles the gate with E_TURN_GATE_ABORTED.
func (g *OpenGate) Abort() error {
	return g.settle(func() *abi.SettleGateArgs { return &abi.SettleGateArgs{Settle: abi.SettleAbort} })
}

// settle makes the call that args, under the turn's lock, makes the arguments of.
func (g *OpenGate) settle(args func() *abi.SettleGateArgs) error {
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
func (g *OpenGate) openOr() error {
	g.turn.mu.Lock()
	defer g.turn.mu.Unlock()
	if g.settled {
		return g.settledError()
	}
	return nil
}

// settledError is E_TURN_GATE_SETTLED as the core words it. The caller holds the turn's lock.
func (g *OpenGate) settledError() error {
	err := host.NewError(host.CodeTurnGateSettled, g.result.String(), nil)
	err.Details = map[string]any{"result": g.result.String()}
	return err
}

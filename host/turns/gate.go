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
// In a dispatch without a turn, RawContext.WaitFor decides; without one the error is
// E_LLM_EXECUTION_GATE_NOT_SUPPORTED.
func (b *base) WaitFor(until context.Context, g Gate) (any, error) {
	args, err := g.encode()
	if err != nil {
		return nil, err
	}
	if p := b.program; p.turn.Standalone {
		if p.waitFor == nil {
			return nil, newError(abi.CodeLLMExecutionGateNotSupported, "", nil)
		}
		return waitOutside(until, g, p.waitFor)
	}
	raw, err := b.state.OpenGate(until, args)
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

// ErrGateSettled is the error of settling a settled gate. The *host.Error says how it was settled, its Details as
// map[string]any{"result": "resolved"}.
var ErrGateSettled error = host.CodeTurnGateSettled

// Gate returns the open gate with the given id, for outside code to settle: an HTTP handler, another goroutine. ok is
// false if there is none, or if several turns have an open gate with that id, because a guess could approve the wrong
// one: then use GateOf.
func (r *TurnRunner) Gate(id string) (gate event.OpenGate, ok bool) { return r.gates.Find(id, "") }

// GateOf returns the open gate with the given id of one turn; ok is false if the turn has none or several.
func (r *TurnRunner) GateOf(turnID, id string) (gate event.OpenGate, ok bool) {
	if turnID == "" {
		return nil, false
	}
	return r.gates.Find(id, turnID)
}

// Gates returns the open gates of all the runner's turns, in the order in which they were opened.
func (r *TurnRunner) Gates() []event.OpenGate { return r.gates.List() }

package runtime

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/schema"
	"github.com/turncore/turncore/runtime/fault"
)

// GateInput opens a gate: a place where a turn waits until somebody outside decides.
type GateInput struct {
	ID        string
	Reason    string
	Payload   []byte // value: the subject of the decision
	CreatedAt int64  // ms since the Unix epoch
	Schema    []byte // JSON Schema for resolutions, a value; nil for any
	Timeout   uint64 // ms from the opening; 0 for none
}

// GateResult is how a gate was settled.
type GateResult uint8

// Gate is a gate, open or settled. It belongs to its turn, wherever in it it was opened: the end of a dispatch leaves
// it open; the abort and the end of the turn settle it.
type Gate struct {
	number   uint32
	id       string
	digest   string
	schema   *schema.Schema
	due      uint64 // on the turn's clock; 0 for never
	doomed   bool   // opened after the turn's abort: the next Tick settles it
	dispatch *Dispatch
	settled  func(value []byte, err error) // nil after it was called
}

// Number of the gate within its turn, from 1.
func (g *Gate) Number() uint32 { return g.number }

// Settled reports whether the gate is settled.
func (g *Gate) Settled() bool { return g.settled == nil }

// OpenGate opens a gate from the turn's context (d nil) or from a dispatch's. It calls settled once, after
// turnGateClosed, with the value of the resolution, or with the error for the waiting code. No task is parked
// meanwhile. Invalid input fails with E_INVALID_INITIAL_TURN_GATE_VALUE, without an event.
//
// The turn's abort settles its gates at once. A gate opened after the abort still emits turnGateOpen, so that a
// listener may settle it; the next Tick, which it requests, aborts it.
func (t *Turn) OpenGate(d *Dispatch, in GateInput, settled func(value []byte, err error)) error {
	switch {
	case t.standalone:
		return fault.New(fault.LLMExecutionGateNotSupported)
	case t.context.ended || d != nil && d.ended:
		return fault.New(fault.CallAfterEnd, "the turn or the dispatch has ended")
	}
	compiled, digest, err := in.check()
	if err != nil {
		return err
	}
	t.settled = append(t.settled, GateResolved)
	g := &Gate{
		number: uint32(len(t.settled)), id: in.ID, digest: digest, schema: compiled, doomed: t.context.aborted, dispatch: d, settled: settled,
	}
	if in.Timeout > 0 {
		g.due = t.elapsed + in.Timeout
	}
	t.gates = append(t.gates, g)
	t.emit(d, EventTurnGateOpen, &GateOpenEvent{
		Gate: g.number, ID: in.ID, Reason: in.Reason, Payload: in.Payload, CreatedAt: in.CreatedAt, Digest: digest,
	})
	t.askTick()
	return nil
}

// WaitFor opens a gate and parks the task until it is settled. It is for compiled-in code: calls of host code wait in
// the host and use OpenGate.
func (t *Turn) WaitFor(task Task, d *Dispatch, in GateInput) (resolution []byte, err error) {
	done := false
	// A listener may settle the gate before OpenGate returns.
	if refusal := t.OpenGate(d, in, func(v []byte, e error) { resolution, err, done = v, e, true }); refusal != nil {
		return nil, refusal
	}
	task.Wait(func() bool { return done })
	return resolution, err
}

// check lists all violations of the input.
func (in *GateInput) check() (compiled *schema.Schema, digest string, err error) {
	var wrong []string
	if in.ID == "" {
		wrong = append(wrong, "`id` must be a non-empty string")
	}
	if in.Reason == "" {
		wrong = append(wrong, "`reason` must be a non-empty string")
	}
	if len(in.Payload) == 0 {
		wrong = append(wrong, "`payload` is required")
	} else if digest, err = value.GateDigest(in.ID, in.Reason, in.Payload); err != nil {
		wrong = append(wrong, "`payload`: "+err.Error())
	}
	if in.CreatedAt > maxStamp || in.CreatedAt < -maxStamp {
		wrong = append(wrong, "`createdAt` must be a number of milliseconds")
	}
	if in.Schema != nil {
		if compiled, err = schema.Compile(in.Schema); err != nil {
			wrong = append(wrong, "`schema`: "+err.Error())
		}
	}
	if in.Timeout > value.MaxInt {
		wrong = append(wrong, "`timeout` must be a whole number of milliseconds")
	}
	if wrong != nil {
		return nil, "", fault.New(fault.InvalidInitialTurnGateValue, wrong...)
	}
	return compiled, digest, nil
}

// Gate finds one of the turn's gates by its number. For a settled gate, known is true and g is nil.
func (t *Turn) Gate(number uint32) (g *Gate, known bool) {
	for _, g := range t.gates {
		if g.number == number {
			return g, true
		}
	}
	return nil, number > 0 && number <= uint32(len(t.settled))
}

// GateSettled returns E_TURN_GATE_SETTLED, the error for settling a gate again. It says how the gate was settled.
func (t *Turn) GateSettled(number uint32) error {
	result := gateWords[t.settled[number-1]]
	err := fault.New(fault.TurnGateSettled, result)
	err.Details = value.AppendString(value.AppendString(value.AppendMapHeader(nil, 1), "result"), result)
	return err
}

// gateWords are the words for GateResult.
var gateWords = [...]string{GateResolved: "resolved", GateRejected: "rejected", GateAborted: "aborted", GateTimeout: "timeout"}

// OpenGates is the number of the turn's open gates.
func (t *Turn) OpenGates() int { return len(t.gates) }

// Accept checks a resolution against the gate's schema, and shown, unless it is empty, against the gate's digest. It
// returns the value with the schema's defaults filled in and converts nothing else. An invalid value fails with
// E_INVALID_TURN_GATE_RESOLUTION, whose details list the violations, and leaves the gate open.
func (g *Gate) Accept(resolution []byte, shown string) ([]byte, error) {
	if shown != "" && shown != g.digest {
		return nil, refusal(fault.InvalidTurnGateResolution, g.id, []schema.Violation{{Keyword: "digest", Message: "the digest does not match what the gate shows"}})
	}
	if len(resolution) == 0 {
		resolution = value.AppendNil(nil)
	}
	if g.schema == nil {
		return resolution, nil
	}
	valid, violations := g.schema.Validate(resolution)
	if len(violations) > 0 {
		return nil, refusal(fault.InvalidTurnGateResolution, g.id, violations)
	}
	return valid, nil
}

// ResolveGate settles a gate with an accepted value. Like RejectGate and AbortGate it does nothing if the gate is
// settled: the first wins.
func (t *Turn) ResolveGate(g *Gate, resolution []byte) {
	t.settleGate(g, GateResolved, resolution, nil)
}

// RejectGate settles a gate with an error, which the waiting code gets. nil stands for an unspecified error.
func (t *Turn) RejectGate(g *Gate, err error) {
	if err == nil {
		err = fault.Plain("the gate was rejected without an error")
	}
	t.settleGate(g, GateRejected, nil, err)
}

// AbortGate settles a gate with E_TURN_GATE_ABORTED.
func (t *Turn) AbortGate(g *Gate) { t.abortGate(g, nil) }

func (t *Turn) abortGate(g *Gate, reason error) {
	err := fault.New(fault.TurnGateAborted, g.id)
	err.Cause = reason
	t.settleGate(g, GateAborted, nil, err)
}

// abortGates settles all gates, when the turn is aborted or ends.
func (t *Turn) abortGates(reason error) {
	for len(t.gates) > 0 {
		t.abortGate(t.gates[0], reason)
	}
}

// settleGate notifies listeners that a gate is closed, then the waiting code.
func (t *Turn) settleGate(g *Gate, result GateResult, resolution []byte, err error) {
	tell := g.settled
	if tell == nil {
		return
	}
	g.settled = nil
	t.settled[g.number-1] = result
	if i := slices.Index(t.gates, g); i >= 0 {
		t.gates = slices.Delete(t.gates, i, i+1)
	}
	t.emit(g.dispatch, EventTurnGateClosed, &GateClosedEvent{Gate: g.number, ID: g.id, Result: result})
	tell(resolution, err)
	t.askTick()
}

// Tick settles gates whose timeout has passed, and ends dispatches whose deadline has passed.
func (t *Turn) Tick() {
	t.gateDue = 0 // the request is used up
	for i := 0; i < len(t.gates); {
		switch g := t.gates[i]; {
		case g.doomed:
			t.abortGate(g, t.reason)
		case g.due > 0 && g.due <= t.elapsed:
			t.settleGate(g, GateTimeout, nil, fault.New(fault.TurnGateTimeout, g.id))
		default:
			i++
		}
	}
	for _, d := range t.dispatches {
		if due := d.bounds.due; due > 0 && due <= t.elapsed && !d.ended {
			d.expire()
		}
	}
	t.askTick()
}

// Due is the time of the next Tick on the turn's clock; 0 for never.
func (t *Turn) Due() uint64 { return t.gateDue }

// askTick requests the tick for the earliest gate or deadline.
func (t *Turn) askTick() {
	next := uint64(0)
	for _, g := range t.gates {
		due := g.due
		if g.doomed {
			due = max(t.elapsed, 1) // 0 would mean never
		}
		if due > 0 && (next == 0 || due < next) {
			next = due
		}
	}
	for _, d := range t.dispatches {
		if due := d.bounds.due; due > 0 && !d.ended && (next == 0 || due < next) {
			next = due
		}
	}
	if next != t.gateDue {
		t.gateDue = next
		t.world.Timer(next)
	}
}

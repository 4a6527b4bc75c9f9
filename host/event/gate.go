package event

import (
	"encoding/json"
	"time"

	"github.com/turncore/turncore/abi"
)

// OpenGate is a live gate that a listener or any other code can settle. The first call wins; later calls change
// nothing and return turns.ErrGateSettled. Its methods may be called from many goroutines.
type OpenGate interface {
	// ID is the gate's id.
	ID() string
	// TurnID is the id of the waiting turn.
	TurnID() string
	// Reason is the question.
	Reason() string
	// Payload is the data to decide on, as JSON text.
	Payload() json.RawMessage
	// CreatedAt is when the question arose.
	CreatedAt() time.Time
	// Digest identifies the question: the SHA-256 of the canonical JSON (RFC 8785) of {"id", "payload", "reason"}, in
	// lower-case hexadecimal digits. Send it with the question, and pass it back to ResolveShown.
	Digest() string
	// IsSettled reports whether the gate is settled.
	IsSettled() bool
	// Resolve settles the gate with a value, which WaitFor returns: JSON-like data, or any value that marshals to it. A
	// value that does not match the gate's schema fails with E_INVALID_TURN_GATE_RESOLUTION, whose Details list the
	// violations, and the gate stays open.
	Resolve(v any) error
	// ResolveShown is Resolve for a decision on a question with the given Digest. If the digest differs from the gate's,
	// or is empty, the decision fails with E_INVALID_TURN_GATE_RESOLUTION and the gate stays open.
	ResolveShown(v any, digest string) error
	// Reject settles the gate with an error; WaitFor returns the same error.
	Reject(err error) error
	// Abort settles the gate with E_TURN_GATE_ABORTED.
	Abort() error
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
func (r GateResult) String() string { return nameOf(gateResultNames[:], r) }

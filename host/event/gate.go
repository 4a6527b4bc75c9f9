package event

import (
	"encoding/json"
	"time"

	"github.com/turncore/turncore/abi"
)

// OpenGate is a live gate, to be settled from a listener or from anywhere else. The first to settle it wins; later calls
// change nothing and return turns.ErrGateSettled. Its methods may be called from many goroutines.
type OpenGate interface {
	// ID is the gate's id.
	ID() string
	// TurnID is the id of the turn that waits.
	TurnID() string
	// Reason says what is to be decided.
	Reason() string
	// Payload is what there is to decide on, as JSON text.
	Payload() json.RawMessage
	// CreatedAt is when the question arose.
	CreatedAt() time.Time
	// Digest names what the gate shows: the SHA-256 of the canonical JSON (RFC 8785) of {"id", "payload", "reason"}, in
	// lower-case hexadecimal digits. Hand it out with what is shown, and hand it back to ResolveShown.
	Digest() string
	// IsSettled tells whether somebody has settled the gate.
	IsSettled() bool
	// Resolve settles the gate with a value, which WaitFor returns: JSON-like data, or anything that marshals to it. A value
	// that breaks the gate's schema is refused with E_INVALID_TURN_GATE_RESOLUTION, whose Details list the violations, and
	// the gate stays open.
	Resolve(v any) error
	// ResolveShown is Resolve for a decision that was made on what had the given Digest. When that is not the gate's, or
	// empty, the decision is refused with E_INVALID_TURN_GATE_RESOLUTION and the gate stays open.
	ResolveShown(v any, digest string) error
	// Reject settles the gate with an error, which WaitFor returns as it is.
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

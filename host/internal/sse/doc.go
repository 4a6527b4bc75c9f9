// Package sse writes and reads the events of a turn as server-sent events, in the format of abi/WIRE.md.
package sse

import (
	"encoding/json"

	"github.com/turncore/turncore/host/event"
)

// End is how a turn ended, as its stream of events says at the end.
type End struct {
	Status     event.Status
	Iterations int
	Err        error
	Object     json.RawMessage // of the answer; nil for none
}

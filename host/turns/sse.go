package turns

import (
	"cmp"
	"net/http"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/sse"
)

// SSEOptions are options of ServeSSE.
type SSEOptions struct {
	// Continue lets the turn run on when its client goes away. Without it such a turn is aborted.
	Continue bool
	// After leaves out the events up to this number: those that the client has, as its header Last-Event-ID says.
	After uint32
	// MaxReplayBytes is about how many bytes of the turn's events are kept for slow clients, and for those that come
	// back. One that is farther behind gets E_TURN_EVENTS_LOST. 0 means 8 MiB.
	MaxReplayBytes int
}

// ServeSSE answers a request with the events of a turn and its end, as server-sent events, which readTurnStream reads
// in JavaScript: abi/WIRE.md describes the format. It returns when the turn has ended, or when the client has gone
// away: that aborts the turn, unless the options say otherwise. The error says why the response was cut; it is nil
// after the turn's end, whatever the end was.
//
// It goes no faster than the client reads, and the stream keeps fewer events from then on: see MaxReplayBytes. Give the
// turn a context that outlives the request if it is to continue without the client. For a server whose clients come
// back, settle gates and abort turns see package remote.
func ServeSSE(w http.ResponseWriter, r *http.Request, s *Stream, options ...SSEOptions) error {
	var o SSEOptions
	if n := len(options); n > 0 {
		o = options[n-1]
	}
	s.Keep(cmp.Or(max(o.MaxReplayBytes, 0), sse.MaxReplay))
	err := sse.Serve(r.Context(), w, s.log, o.After, func() sse.End { return endOf(s.Result()) })
	if err != nil && !o.Continue {
		s.abort()
	}
	return err
}

// endOf is the end of a turn as its stream tells it.
func endOf(result *Result, err error) sse.End {
	if result == nil {
		if err == nil {
			err = newError(abi.CodeClosed, "", nil)
		}
		return sse.End{Status: event.Failed, Err: err}
	}
	return sse.End{Status: result.Status, Iterations: result.Iterations, Err: result.Err}
}

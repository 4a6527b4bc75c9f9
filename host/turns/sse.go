package turns

import (
	"context"
	"net/http"
	"time"

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
}

// silence is how long a connection is silent before a comment shows that it lives.
const silence = 15 * time.Second

// ServeSSE answers a request with the events of a turn and its end, as server-sent events, which readTurnStream reads in
// JavaScript: abi/WIRE.md describes the format. It returns when the turn has ended, or when the client has gone away:
// that aborts the turn, unless the options say otherwise. The error says why the response was cut; it is nil after the turn's
// end, whatever the end was.
//
// It goes no faster than the client reads. Give the turn a context that outlives the request if it is to continue
// without the client.
func ServeSSE(w http.ResponseWriter, r *http.Request, s *Stream, options ...SSEOptions) error {
	var o SSEOptions
	if n := len(options); n > 0 {
		o = options[n-1]
	}
	err := s.serve(r.Context(), w, o.After)
	if err != nil && !o.Continue {
		s.abort()
	}
	return err
}

func (s *Stream) serve(ctx context.Context, w http.ResponseWriter, after uint32) error {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	// Whoever gathers or compresses the events would hold them back.
	header.Set("Cache-Control", "no-store, no-transform")
	header.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	encoder := sse.NewEncoder(after)
	defer context.AfterFunc(ctx, s.wake)()
	var text []byte
	for next := 0; ; {
		if err := flush.Flush(); err != nil {
			return err
		}
		events, ended := s.wait(ctx, next)
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		text = text[:0]
		for _, ev := range events {
			next++
			if ev.Meta().Seq <= after {
				continue
			}
			var err error
			if text, err = encoder.Event(text, ev); err != nil {
				return err
			}
		}
		switch {
		case len(events) == 0 && ended:
			text = encoder.End(text, s.wireEnd())
		case len(events) == 0:
			text = append(encoder.Close(text), ":\n"...)
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		if len(events) == 0 && ended {
			return flush.Flush()
		}
	}
}

// mostEvents is how many events are encoded at a time.
const mostEvents = 1024

// wait returns the events from a place on, and waits for the first of them: until the turn's end, the end of ctx, or a
// long silence.
func (s *Stream) wait(ctx context.Context, next int) (events []event.Event, ended bool) {
	silent := false
	timer := time.AfterFunc(silence, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		silent = true
		s.more.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for next == len(s.events) && !s.ended && !silent && ctx.Err() == nil {
		s.more.Wait()
	}
	return s.events[next:min(len(s.events), next+mostEvents)], s.ended
}

// wake lets everybody look who waits for an event.
func (s *Stream) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more.Broadcast()
}

// wireEnd is the end of the turn, which has ended.
func (s *Stream) wireEnd() sse.End {
	result, err := s.Result()
	if result == nil {
		if err == nil {
			err = newError(abi.CodeClosed, "", nil)
		}
		return sse.End{Status: event.Failed, Err: err}
	}
	return sse.End{Status: result.Status, Iterations: result.Iterations, Err: result.Err}
}

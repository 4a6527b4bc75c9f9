package sse

import (
	"context"
	"net/http"
	"time"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/eventlog"
)

// MaxReplay is about how many bytes of events are kept for slow clients, and for those that come back, unless the
// program says otherwise.
const MaxReplay = 8 << 20

// silence is how long a connection is silent before a comment shows that it lives.
const silence = 15 * time.Second

// Serve answers a request with the events of a log after a number, and with its end. It goes no faster than the client
// reads. It returns nil after the end, the cause of ctx, the connection's error, or E_TURN_EVENTS_LOST, which it has
// told the client.
func Serve(ctx context.Context, w http.ResponseWriter, log *eventlog.Log, after uint32, end func() End) error {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	// Whoever gathers or compresses the events would hold them back.
	header.Set("Cache-Control", "no-store, no-transform")
	header.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	encoder := NewEncoder(after)
	place, seq := log.First()
	if place > 0 && seq > after+1 { // some that the client has may be gone
		return fault(w, flush, encoder, eventlog.Lost())
	}
	var text []byte
	var events []event.Event
	for {
		if err := flush.Flush(); err != nil {
			return err
		}
		var ended bool
		var err error
		events, ended, err = next(ctx, log, place, events)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fault(w, flush, encoder, err)
		}
		text = text[:0]
		for _, ev := range events {
			place++
			if ev.Meta().Seq <= after {
				continue
			}
			if text, err = encoder.Event(text, ev); err != nil {
				return fault(w, flush, encoder, err)
			}
		}
		switch {
		case len(events) == 0 && ended:
			text = encoder.End(text, end())
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

// fault ends a response before its turn.
func fault(w http.ResponseWriter, flush *http.ResponseController, encoder *Encoder, err error) error {
	if _, writeErr := w.Write(encoder.Fault(nil, err)); writeErr != nil {
		return writeErr
	}
	if flushErr := flush.Flush(); flushErr != nil {
		return flushErr
	}
	return err
}

// next waits for events until the end, the end of ctx, or a long silence.
func next(ctx context.Context, log *eventlog.Log, place int, into []event.Event) ([]event.Event, bool, error) {
	quiet, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	defer context.AfterFunc(quiet, log.Wake)()
	return log.Next(place, into, func() bool { return quiet.Err() == nil })
}

package turns

import (
	"context"
	"errors"
	"iter"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/eventlog"
	"github.com/turncore/turncore/host/internal/panics"
)

// Stream is a running turn with its events.
//
//	stream := runner.Stream(ctx, turns.Input{Message: "Hi!"})
//	for ev, err := range stream.Events() {
//		if err != nil {
//			return err // the turn failed: no event follows
//		}
//		…
//	}
//	result, err := stream.Result()
//
// A Stream that was not made by a method or by [NewStream] has no events, and its result is an E_INVALID_VALUE.
//
// A stream keeps the events that its loops have not read, and those that they have, for a second loop: about the last
// MaxStreamBytes of them. The turn never waits for a loop. One that is farther behind ends with E_TURN_EVENTS_LOST.
type Stream struct {
	abort context.CancelFunc
	log   *eventlog.Log

	done   chan struct{} // closed at the end, after the result is set
	result *Result
	err    error
}

// MaxStreamBytes is about how many bytes of events a Stream keeps, each with 256 bytes beside its data.
const MaxStreamBytes = 64 << 20

func newStream(abort context.CancelFunc) *Stream {
	return &Stream{abort: abort, log: eventlog.New(MaxStreamBytes), done: make(chan struct{})}
}

// NewStream returns the stream of a turn that runs elsewhere: run, in a goroutine of its own, tells the turn's events
// in order, and returns what Result is to return. Its context ends when the stream is aborted, or with ctx. Package
// remote makes its streams by it.
func NewStream(ctx context.Context, run func(ctx context.Context, tell func(event.Event)) (*Result, error)) *Stream {
	ctx, abort := context.WithCancel(ctx)
	s := newStream(abort)
	go func() {
		defer abort()
		result, err := (*Result)(nil), panics.ErrGoexit
		defer func() { s.end(result, err) }()
		defer panics.Recovered(&err)
		result, err = run(ctx, s.log.Push)
	}()
	return s
}

// Stream starts a turn in a new goroutine and returns a stream of its events. Cancelling ctx aborts the turn.
func (r *TurnRunner) Stream(ctx context.Context, in TurnInput) *Stream {
	r.mustBeMade()
	ctx, abort := context.WithCancel(ctx)
	s := newStream(abort)
	listen := in.OnEvent
	in.OnEvent = func(ev event.Event) {
		if listen != nil {
			listen(ev)
		}
		s.log.Push(ev)
	}
	go r.runThen(ctx, in, func(result *Result, err error) { //nolint:errcheck // the stream has it
		s.end(result, err)
		abort()
	})
	return s
}

// made tells whether the stream is one of a turn.
func (s *Stream) made() bool { return s != nil && s.log != nil }

func (s *Stream) end(result *Result, err error) {
	s.result, s.err = result, err
	close(s.done)
	s.log.End()
}

// Events yields the turn's events from the first on, as they come; unread events are kept, as far as there is room.
// Leaving the loop aborts the turn, also by a panic. If the turn was nacked or failed, or the input was rejected, a
// last pair without an event has the result's Err. After an abort the loop ends without an error. A loop that is too
// far behind aborts the turn: its last pair has E_TURN_EVENTS_LOST. One that reads what has been lost in a turn that
// has ended gets it too.
func (s *Stream) Events() iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		complete := false
		defer func() {
			if !complete { // by break or return, but also by a panic or runtime.Goexit
				s.Abort()
			}
		}()
		for ev, err := range s.all() {
			if !yield(ev, err) || errors.Is(err, host.CodeTurnEventsLost) {
				return
			}
		}
		complete = true
	}
}

// all is like Events, but leaving the loop does nothing.
func (s *Stream) all() iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if !s.made() {
			_, err := s.Result()
			yield(nil, err)
			return
		}
		var events []event.Event
		for place := 0; ; {
			var ended bool
			var err error
			events, ended, err = s.log.Next(place, events, nil)
			for _, ev := range events {
				if place++; !yield(ev, nil) {
					return
				}
			}
			switch {
			case err != nil:
				yield(nil, err)
				return
			case len(events) > 0 || !ended:
				continue
			}
			result, err := s.Result()
			if err != nil && (result == nil || result.Status != event.Aborted) {
				yield(nil, err)
			}
			return
		}
	}
}

// Keep lowers the number of bytes of events that the stream keeps: see MaxStreamBytes. The last event is kept in any
// case.
func (s *Stream) Keep(bytes int) {
	if s.made() {
		s.log.Keep(bytes)
	}
}

// Abort aborts the turn.
func (s *Stream) Abort() {
	if s.made() {
		s.abort()
	}
}

// Result waits for the turn's end and returns its result, like Run.
func (s *Stream) Result() (*Result, error) {
	if !s.made() {
		return nil, newError(abi.CodeInvalidValue, "stream: is that of no turn: the method Stream of a runner makes one", nil)
	}
	<-s.done
	return s.result, s.err
}

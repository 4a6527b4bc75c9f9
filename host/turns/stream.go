package turns

import (
	"context"
	"iter"
	"sync"

	"github.com/turncore/turncore/host/event"
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
type Stream struct {
	abort context.CancelFunc

	mu     sync.Mutex
	more   sync.Cond
	events []event.Event
	ended  bool
	result *Result
	err    error
}

func newStream(abort context.CancelFunc) *Stream {
	s := &Stream{abort: abort}
	s.more.L = &s.mu
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
		s.push(ev)
	}
	go r.runThen(ctx, in, func(result *Result, err error) { //nolint:errcheck // the stream has it
		s.end(result, err)
		abort()
	})
	return s
}

func (s *Stream) push(ev event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, ev)
	s.more.Broadcast()
}

func (s *Stream) end(result *Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.result, s.err = true, result, err
	s.more.Broadcast()
}

// Events yields the turn's events from the first on, as they come; unread events are kept. Leaving the loop aborts
// the turn. If the turn was nacked or failed, or the input was rejected, a last pair without an event has the
// result's Err. After an abort the loop ends without an error.
func (s *Stream) Events() iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for ev, err := range s.all() {
			if !yield(ev, err) {
				s.abort()
				return
			}
		}
	}
}

// all is like Events, but leaving the loop does nothing.
func (s *Stream) all() iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for next := 0; ; next++ {
			s.mu.Lock()
			for next == len(s.events) && !s.ended {
				s.more.Wait()
			}
			if next < len(s.events) {
				ev := s.events[next]
				s.mu.Unlock()
				if !yield(ev, nil) {
					return
				}
				continue
			}
			err := s.err
			if s.result != nil && s.result.Status == event.Aborted {
				err = nil
			}
			s.mu.Unlock()
			if err != nil {
				yield(nil, err)
			}
			return
		}
	}
}

// Abort aborts the turn.
func (s *Stream) Abort() { s.abort() }

// Result waits for the turn's end and returns its result, like Run.
func (s *Stream) Result() (*Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.ended {
		s.more.Wait()
	}
	return s.result, s.err
}

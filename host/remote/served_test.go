package remote

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/sse"
)

// serve runs a turn with one event to its end.
func serve(t *testing.T, s *served, id string) {
	t.Helper()
	turn, err := s.findOrAdd(id, func(*liveTurn) {})
	if err != nil || turn == nil {
		t.Fatalf("turn %s is not run: %v", id, err)
	}
	turn.push(&event.Message{Head: event.Head{Seq: 1}, StreamDelta: event.StreamDelta{ID: "m", Delta: "text"}})
	turn.ended = sse.End{Status: event.Ack}
	turn.log.End()
	s.ended(turn)
}

// What a server knows of turns whose events are gone: their ids for an hour, the last 10,000.
func TestForgottenTurns(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := newServed(1) // a byte: only the turn that ended last is kept
	s.now = func() time.Time { return now }
	serve(t, &s, "first")
	serve(t, &s, "second")
	if _, err := s.find("first"); !errors.Is(err, host.CodeTurnEventsLost) {
		t.Errorf("a forgotten turn gives %v", err)
	}
	if turn, err := s.find("second"); turn == nil || err != nil {
		t.Errorf("the turn that ended last gives %v, %v", turn, err)
	}

	now = now.Add(time.Hour - time.Second)
	if _, err := s.find("first"); !errors.Is(err, host.CodeTurnEventsLost) {
		t.Errorf("within the hour it gives %v", err)
	}
	now = now.Add(time.Second)
	if turn, err := s.find("first"); turn != nil || err != nil {
		t.Errorf("after an hour it gives %v, %v", turn, err)
	}
	serve(t, &s, "first") // and may be run

	for i := range maxForgotten + 2 {
		serve(t, &s, fmt.Sprint("turn ", i))
	}
	if turn, err := s.find("turn 0"); turn != nil || err != nil {
		t.Errorf("beyond the last 10,000 it gives %v, %v", turn, err)
	}
	if _, err := s.find("turn 1"); !errors.Is(err, host.CodeTurnEventsLost) {
		t.Errorf("among the last 10,000 it gives %v", err)
	}
	if n := len(s.forgotten); n != maxForgotten || len(s.order) != n || len(s.past) != 1 {
		t.Errorf("%d ids are known, %d in order, %d turns are kept", n, len(s.order), len(s.past))
	}
}

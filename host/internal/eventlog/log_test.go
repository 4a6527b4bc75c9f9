package eventlog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
)

func delta(seq uint32, text string) event.Event {
	return &event.Message{Head: event.Head{Seq: seq}, StreamDelta: event.StreamDelta{ID: "m", Delta: text}}
}

// TestBound keeps the last events, and tells a reader that is too far behind.
func TestBound(t *testing.T) {
	l := New(10 * cost)
	for seq := range uint32(1000) {
		l.Push(delta(seq+1, ""))
		if _, size, _ := l.State(); size > 10*cost || len(l.events) > 10 || cap(l.events) > 32 {
			t.Fatalf("%d bytes, %d events of %d", size, len(l.events), cap(l.events))
		}
	}
	if _, _, err := l.Next(0, nil, nil); !errors.Is(err, host.CodeTurnEventsLost) {
		t.Errorf("the first event: %v", err)
	}
	place, seq := l.First()
	if int(seq) != place+1 {
		t.Errorf("place %d has event %d", place, seq)
	}
	events, ended, err := l.Next(place, nil, nil)
	if err != nil || ended || events[len(events)-1].Meta().Seq != 1000 {
		t.Errorf("%d events, %v, %v", len(events), ended, err)
	}
}

// TestOneEventIsKept keeps an event that is over the bound.
func TestOneEventIsKept(t *testing.T) {
	l := New(1)
	l.Push(delta(1, "a"))
	l.Push(delta(2, "b"))
	events, _, err := l.Next(1, nil, nil)
	if err != nil || len(events) != 1 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// TestLargeEvent keeps what is in front of an event that is over the bound.
func TestLargeEvent(t *testing.T) {
	l := New(40 * cost)
	for seq := range uint32(9) {
		l.Push(delta(seq+1, ""))
	}
	l.Push(delta(10, strings.Repeat("x", 50*cost)))
	l.Push(delta(11, ""))
	events, _, err := l.Next(0, nil, nil)
	if err != nil || len(events) != 11 {
		t.Errorf("%d events, %v", len(events), err)
	}
	if _, size, _ := l.State(); size != 20*cost {
		t.Errorf("%d bytes", size)
	}
}

// TestLargeEvents keeps four of them at most, whether the bound was there before or after.
func TestLargeEvents(t *testing.T) {
	early, late := New(40*cost), New(1<<30)
	for seq := range uint32(100) {
		for _, l := range []*Log{early, late} {
			l.Push(delta(seq+1, strings.Repeat("x", 50*cost)))
		}
		if len(early.events) > 4 {
			t.Fatalf("%d events", len(early.events))
		}
	}
	late.Keep(40 * cost)
	if n := len(late.events); n != 3 {
		t.Errorf("%d events", n)
	}
	if _, size, _ := late.State(); size != 30*cost {
		t.Errorf("%d bytes", size)
	}
	late.Keep(0)
	if n := len(late.events); n != 1 {
		t.Errorf("%d events", n)
	}
}

// TestKeep lowers the bound of a log that has events, and never raises it.
func TestKeep(t *testing.T) {
	l := New(100 * cost)
	for seq := range uint32(50) {
		l.Push(delta(seq+1, ""))
	}
	l.Keep(4 * cost)
	l.Keep(100 * cost)
	if _, size, _ := l.State(); size > 4*cost {
		t.Errorf("%d bytes", size)
	}
}

// TestBegun waits no longer than its context.
func TestBegun(t *testing.T) {
	l := New(1000)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := l.Begun(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nothing came: %v", err)
	}
	l.End()
	if err := l.Begun(t.Context()); err != nil {
		t.Error(err)
	}
}

package turns_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

// telling is a turn elsewhere that tells deltas, until after the last one it may end.
func telling(ctx context.Context, n int, told, end chan struct{}) *turns.Stream {
	return turns.NewStream(ctx, func(ctx context.Context, tell func(event.Event)) (*turns.Result, error) {
		for seq := range n {
			tell(&event.Message{Head: event.Head{Seq: uint32(seq + 1)}, StreamDelta: event.StreamDelta{ID: "m", Delta: "x"}}) //nolint:gosec // few
			if ctx.Err() != nil {
				break
			}
		}
		close(told)
		select {
		case <-end:
			return &turns.Result{Status: event.Ack}, nil
		case <-ctx.Done():
			return &turns.Result{Status: event.Aborted, Err: context.Cause(ctx)}, context.Cause(ctx)
		}
	})
}

// TestStreamIsBounded keeps about MaxStreamBytes of a turn that nobody reads, and never makes the turn wait.
func TestStreamIsBounded(t *testing.T) {
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc) //nolint:gosec // far less
	}
	before := heap()
	told, end := make(chan struct{}), make(chan struct{})
	s := telling(t.Context(), 400_000, told, end)
	<-told
	if grown := heap() - before; grown > 2*turns.MaxStreamBytes {
		t.Errorf("400,000 events take %d MiB", grown>>20)
	}
	s.Keep(10_000)
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("40 events take %d KiB", grown>>10)
	}
	close(end)
	if _, err := s.Result(); err != nil {
		t.Error(err)
	}
	for ev, err := range s.Events() {
		if ev != nil || !errors.Is(err, host.CodeTurnEventsLost) {
			t.Errorf("%v, %v", ev, err)
		}
	}
}

// TestSlowLoop aborts the turn of a loop that is too far behind.
func TestSlowLoop(t *testing.T) {
	told := make(chan struct{})
	s := telling(t.Context(), 100_000, told, nil)
	s.Keep(100_000)
	var last error
	for _, err := range s.Events() {
		<-told
		last = err
	}
	if !errors.Is(last, host.CodeTurnEventsLost) {
		t.Errorf("the loop ends with %v", last)
	}
	if result, _ := s.Result(); result.Status != event.Aborted {
		t.Errorf("the turn is %s", result.Status)
	}
}

// TestNewStreamPanics is told by the result.
func TestNewStreamPanics(t *testing.T) {
	s := turns.NewStream(t.Context(), func(context.Context, func(event.Event)) (*turns.Result, error) { panic("oops") })
	var panicked *host.PanicError
	if _, err := s.Result(); !errors.As(err, &panicked) {
		t.Error(err)
	}
	s = turns.NewStream(t.Context(), func(context.Context, func(event.Event)) (*turns.Result, error) {
		runtime.Goexit()
		return nil, nil
	})
	if _, err := s.Result(); err == nil {
		t.Error("no error after Goexit")
	}
}

// Package eventlog keeps the events of one turn, for readers that come and go.
package eventlog

import (
	"context"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
)

// cost is what an event costs beside its data, in bytes.
const cost = 256

// batch is how many events a reader gets at a time, at most.
const batch = 1024

// Log keeps the events of a turn: the last ones, as far as there is room. An event counts as a quarter of the bound at
// most, so that a large one drops few of those in front of it, which nobody may have read. At most four events count
// for less than they hold. Writers never wait for readers: a reader may be in the middle of a call that waits for the
// turn.
type Log struct {
	mu     sync.Mutex
	more   sync.Cond
	events []event.Event
	first  int // place of the oldest event that is kept
	size   int // about how many bytes are kept, as they count
	most   int
	ended  bool
}

// New returns a log that keeps about so many bytes, and the last event in any case.
func New(bytes int) *Log {
	l := &Log{most: bytes}
	l.more.L = &l.mu
	return l
}

// Keep lowers the number of bytes that are kept.
func (l *Log) Keep(bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes >= l.most {
		return
	}
	l.most, l.size = bytes, 0
	for _, ev := range l.events {
		l.size += l.count(ev)
	}
	l.drop()
}

// Push adds an event.
func (l *Log) Push(ev event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, ev)
	l.size += l.count(ev)
	l.drop()
	l.more.Broadcast()
}

// End says that no event follows.
func (l *Log) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.more.Broadcast()
}

// Wake lets everybody look who waits.
func (l *Log) Wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.more.Broadcast()
}

// State tells how far the log has come.
func (l *Log) State() (lastSeq uint32, size int, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.events); n > 0 {
		lastSeq = l.events[n-1].Meta().Seq
	}
	return lastSeq, l.size, l.ended
}

// First is the place of the oldest event that is kept, from 0, and its number; 0 for none.
func (l *Log) First() (place int, seq uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.events) > 0 {
		seq = l.events[0].Meta().Seq
	}
	return l.first, seq
}

// Next returns events from a place on. It waits for the first of them, or for the end; wait, if it is not nil, may end
// the waiting early when it returns false: it is asked whenever the log is woken. The events are the caller's.
// E_TURN_EVENTS_LOST is the error for events that are no longer kept.
func (l *Log) Next(place int, into []event.Event, wait func() bool) (events []event.Event, ended bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for place == l.first+len(l.events) && !l.ended && (wait == nil || wait()) {
		l.more.Wait()
	}
	if place < l.first {
		return nil, false, Lost()
	}
	rest := l.events[place-l.first:]
	return append(into[:0], rest[:min(len(rest), batch)]...), l.ended, nil
}

// Begun waits for the first event, or for the end.
func (l *Log) Begun(ctx context.Context) error {
	defer context.AfterFunc(ctx, l.Wake)()
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.events) == 0 && !l.ended && ctx.Err() == nil {
		l.more.Wait()
	}
	return context.Cause(ctx)
}

// drop drops a quarter of what may be kept at a time, so that each event is moved a few times at most.
func (l *Log) drop() {
	if l.size <= l.most {
		return
	}
	n := 0
	for ; n < len(l.events)-1 && l.size > l.most-l.most/4; n++ {
		l.size -= l.count(l.events[n])
	}
	l.events = append([]event.Event(nil), l.events[n:]...)
	l.first += n
}

// count is what an event counts as.
func (l *Log) count(ev event.Event) int { return min(sizeOf(ev), max(l.most/4, 1)) }

// Lost is the error for events that are no longer kept.
func Lost() error { return host.NewError(host.CodeTurnEventsLost, "", nil) }

// sizeOf is about how many bytes an event holds. The text of a message is shared by its events.
func sizeOf(ev event.Event) int {
	switch ev := ev.(type) {
	case *event.Message:
		return cost + len(ev.Delta)
	case *event.Thought:
		return cost + len(ev.Delta)
	case *event.ToolCall:
		return cost + len(ev.Args) + 2*len(ev.ResultsJSON)
	case *event.ToolExecutionStart:
		return cost + len(ev.Args)
	case *event.TurnGateOpen:
		return cost + len(ev.Gate.Reason()) + len(ev.Gate.Payload())
	case *event.Log:
		return cost + len(ev.Message) + len(ev.Payload)
	case *event.Warning:
		return cost + len(ev.Message) + len(ev.Payload)
	case *event.GenerationStats:
		return cost + len(ev.Stats)
	}
	return cost
}

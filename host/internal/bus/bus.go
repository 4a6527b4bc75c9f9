// Package bus calls the listeners of events.
package bus

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/internal/stack"
)

// Bus holds listeners. Its zero value is ready to use.
type Bus struct {
	mu        sync.Mutex // serialises changes
	listeners atomic.Pointer[[]*listener]
	kinds     atomic.Uint32 // of all listeners together
	asked     atomic.Uint32 // of those that are not for all kinds
}

type listener struct {
	kinds uint32 // one bit per kind
	fn    func(event.Event)
}

// LastKind is the highest number of a kind.
const LastKind = event.KindModelCallEnd

// AllKinds are the bits of all kinds of event.
const AllKinds = 1<<(event.KindGenerationStats+1) - 1 | 1<<event.KindModelCallStart | 1<<event.KindModelCallEnd

// Bit is the bit of a kind of event. It panics for a kind that is unknown.
func Bit(k event.Kind) uint32 {
	if k > LastKind || AllKinds>>k&1 == 0 && k != 0 {
		panic(fmt.Sprintf("turns: unknown kind of event %d; KindMessage and the constants beside it are the known ones", k))
	}
	return 1 << k
}

// Add registers a listener and returns the function that takes it off.
func (b *Bus) Add(kinds uint32, fn func(event.Event)) (remove func()) {
	if fn == nil {
		panic("turns: nil listener")
	}
	l := &listener{kinds, fn}
	b.change(func(list []*listener) []*listener { return append(list, l) })
	return func() {
		b.change(func(list []*listener) []*listener {
			return slices.DeleteFunc(list, func(other *listener) bool { return other == l })
		})
	}
}

func (b *Bus) change(edit func([]*listener) []*listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := edit(slices.Clone(b.snapshot()))
	var kinds, asked uint32
	for _, l := range list {
		kinds |= l.kinds
		if l.kinds != AllKinds {
			asked |= l.kinds
		}
	}
	b.listeners.Store(&list)
	b.kinds.Store(kinds)
	b.asked.Store(asked)
}

// snapshot returns the listeners in the order in which they were added.
func (b *Bus) snapshot() []*listener {
	if list := b.listeners.Load(); list != nil {
		return *list
	}
	return nil
}

// Wants tells whether there is a listener of a kind of event. A nil bus has none.
func (b *Bus) Wants(k event.Kind) bool { return b != nil && b.kinds.Load()&Bit(k) != 0 }

// Asks tells whether there is a listener of a kind of event that is not one of all kinds. A nil bus has none.
func (b *Bus) Asks(k event.Kind) bool { return b != nil && b.asked.Load()&Bit(k) != 0 }

// Tell calls the listeners of an event, and adds to failures what those that panicked, or ended the goroutine, failed
// with. No lock is held.
func (b *Bus) Tell(ev event.Event, failures *[]error) {
	if b != nil {
		tellAll(b.snapshot(), ev, failures)
	}
}

func tellAll(list []*listener, ev event.Event, failures *[]error) {
	k, next := Bit(ev.Kind()), 0
	defer func() {
		if next < len(list) { // a listener is ending the goroutine: those behind it have not heard of the event
			tellAll(list[next:], ev, failures)
		}
	}()
	for next < len(list) {
		l := list[next]
		next++
		if l.kinds&k != 0 {
			Notify(l.fn, ev, failures)
		}
	}
}

// Notify calls one listener. That a call of user code came out of a listener is told by this function being on the
// stack, so it must not be inlined.
//
//go:noinline
func Notify(fn func(event.Event), ev event.Event, failures *[]error) {
	completed := false
	defer func() {
		if completed {
			return
		}
		if v := recover(); v != nil {
			*failures = append(*failures, panics.Caught(v))
			return
		}
		*failures = append(*failures, panics.ErrGoexit)
	}()
	fn(ev)
	completed = true
}

var notify = stack.Of(reflect.ValueOf(Notify).Pointer())

// InsideListener tells whether the calling goroutine is inside a listener. It is only asked when another delivery is
// under way.
func InsideListener() bool { return notify.Runs() }

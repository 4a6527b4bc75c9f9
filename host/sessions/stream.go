package sessions

import (
	"sync"

	"github.com/turncore/turncore/host"
)

// stream hands events from the goroutines of an invocation to the one that takes them, one after another.
type stream struct {
	events chan delivery
	left   chan struct{} // is closed when nobody takes events any more
	once   sync.Once
}

// delivery is an event for the one that takes them, who answers when it wants the next one.
type delivery struct {
	event *Event
	taken chan struct{}
}

func newStream() *stream { return &stream{events: make(chan delivery), left: make(chan struct{})} }

// errStopped is what an agent is told whose caller has left.
func errStopped() error { return host.NewError(host.CodeInvocationStopped, "", nil) }

// give hands over an event and waits until the next one is asked for. It fails with E_INVOCATION_STOPPED if none is.
func (s *stream) give(e *Event) error {
	d := delivery{e, make(chan struct{})}
	select {
	case s.events <- d:
	case <-s.left:
		return errStopped()
	}
	select {
	case <-d.taken:
		return nil
	case <-s.left:
	}
	select {
	case <-d.taken: // before it left
		return nil
	default:
		return errStopped()
	}
}

// leave says that nobody takes events any more.
func (s *stream) leave() { s.once.Do(func() { close(s.left) }) }

// each yields the events until done gives how their source has ended. ended is false if yield wants no more: the source
// has not ended then.
func (s *stream) each(done <-chan error, yield func(*Event, error) bool) (err error, ended bool) {
	defer s.leave() // also when yield ends the goroutine
	for {
		select {
		case d := <-s.events:
			if !yield(d.event, nil) {
				return nil, false
			}
			close(d.taken)
		case err := <-done:
			return err, true
		}
	}
}

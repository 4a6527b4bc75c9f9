package sessions

import (
	"runtime"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/collections"
)

// eventLog is a session's events, as they cross to the core: those that are common to all who have loaded the session.
// It only grows.
type eventLog struct {
	data  *collections.History
	shown shown
}

func newLog(bodies [][]byte) *eventLog {
	l := &eventLog{data: collections.NewHistory(abi.CollectionEvents, 0)}
	l.data.ExtendBodies(0, bodies)
	// The core may forget the events when nobody can refer to the log any more.
	runtime.AddCleanup(l, (*collections.History).Forget, l.data)
	return l
}

// events are the first events of a log.
type events struct {
	log   *eventLog // nil for none
	count int
}

// followedBy is the events and others behind them: the same log, which grows, unless other events follow there.
func (e events) followedBy(bodies ...[]byte) events {
	after := events{e.log, e.count + len(bodies)}
	switch {
	case len(bodies) == 0:
	case e.log == nil:
		after.log = newLog(bodies)
	case !e.log.data.ExtendBodies(e.count, bodies):
		all := make([][]byte, 0, after.count)
		for i := range e.count {
			all = append(all, e.body(i))
		}
		after.log = newLog(append(all, bodies...))
	}
	return after
}

// body is the value of the i-th event.
func (e events) body(i int) []byte { return e.log.data.Body(i) }

// view is the events for the core.
func (e events) view() collections.View {
	if e.log == nil {
		return collections.View{}
	}
	return e.log.data.View().First(e.count)
}

// bytes is about how much memory they take.
func (e events) bytes() int {
	if e.log == nil {
		return 0
	}
	return e.log.data.Bytes()
}

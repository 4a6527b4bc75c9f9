// Package queue lets what runs in a session wait for what runs there already.
package queue

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/turncore/turncore/host"
)

// Queue has the lines of a store's sessions, in a process.
type Queue struct {
	mu    sync.Mutex
	lines map[string]*line // of the sessions in which something runs
}

var queues PerStore[Queue]

// Of returns the queue of a store.
func Of(store any) *Queue {
	return queues.Get(store, func() *Queue { return &Queue{lines: make(map[string]*line)} })
}

// line is what is in line for a session: what runs, and what waits for it, in order.
type line struct {
	waiting []chan struct{}
}

// inside is the key of the sessions in which a context is.
type inside struct{}

// entered is a context inside a session.
type entered struct {
	context.Context
	queue   *Queue
	session string
	outer   *entered // nil for none
	left    sync.Once
}

// Value returns the context itself for the key inside.
func (e *entered) Value(key any) any {
	if key == (inside{}) {
		return e
	}
	return e.Context.Value(key)
}

// leave lets the next in line run.
func (e *entered) leave() { e.left.Do(func() { e.queue.leave(e.session) }) }

// Until makes the context in which something waits in line: it ends also when nothing may begin any more. stop is
// called when the wait is over.
type Until func(ctx context.Context) (wait context.Context, stop func())

// Enter waits until nothing else runs in a session, or refuses with E_SESSION_BUSY if something does. What enters is to
// run in the returned context, and ends with leave. kind is what it is, for errors, such as "turn". If it must wait, it
// does so in a context of until.
func (q *Queue) Enter(
	ctx context.Context, kind, session string, refuse bool, until Until,
) (in context.Context, leave func(), err error) {
	outer, _ := ctx.Value(inside{}).(*entered)
	for e := outer; e != nil; e = e.outer {
		if e.queue == q && e.session == session {
			return nil, nil, busy(session, ": the "+kind+" is started inside another one of it")
		}
	}
	if err := q.lineUp(ctx, session, refuse, until); err != nil {
		return nil, nil, err
	}
	now := &entered{Context: ctx, queue: q, session: session, outer: outer}
	return now, now.leave, nil
}

func busy(session, why string) error {
	e := host.NewError(host.CodeSessionBusy, "session "+strconv.Quote(session)+why, nil)
	e.Details = map[string]any{"session": session}
	return e
}

func (q *Queue) lineUp(ctx context.Context, session string, refuse bool, until Until) error {
	q.mu.Lock()
	l := q.lines[session]
	if l == nil {
		q.lines[session] = &line{}
		q.mu.Unlock()
		return nil
	}
	if refuse {
		q.mu.Unlock()
		return busy(session, "")
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	q.mu.Unlock()
	ctx, over := until(ctx)
	defer over()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	i := slices.Index(l.waiting, turn)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	q.mu.Unlock()
	if i < 0 { // its turn has come at the same time
		q.leave(session)
	}
	return context.Cause(ctx)
}

// leave lets the next in line run.
func (q *Queue) leave(session string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[session]
	if len(l.waiting) == 0 {
		delete(q.lines, session)
		return
	}
	close(l.waiting[0])
	l.waiting = l.waiting[1:]
}

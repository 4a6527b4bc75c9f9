package turn

import (
	"context"
	"strconv"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/internal/stash"
	"github.com/turncore/turncore/host/record"
)

// Context is a context of a turn: the host's copy of the collections, the abort signal, and what has come of a
// dispatch. The turn's lock guards it.
type Context struct {
	// Face is the program's side of it.
	Face any
	// Listen hears the events of a dispatch; nil for nobody.
	Listen func(event.Event)
	// Asked is what the executor of such a step is asked, once the core has said it; under the turn's lock.
	Asked any
	// Answer is what the executor of a step of an invocation answers, when it has ended.
	Answer abi.Raw

	// Agent is the number of the agent that a step of an invocation is of.
	Agent  uint32
	number uint32 // 0 the turn's, n its n-th dispatch's
	turn   *Turn
	later  later
	parent *Context // what it was copied from; nil for the turn's

	records [record.Kinds]collections.Order
	stash   stash.Data

	cause error // why it was aborted
	// The context that user code waits on is made when it is first asked for.
	signal context.Context
	cancel context.CancelCauseFunc

	// Of a dispatch.
	id        string
	nackErr   error
	onAck     []*func()
	iteration int32
	acked     bool
	nacked    bool

	aborted bool
}

// open makes the n-th dispatch's context as a copy of another one, in constant time.
func (c *Context) open(number uint32) *Context {
	child := &Context{
		turn: c.turn, number: number, parent: c, id: c.turn.DispatchID(number),
		stash: c.stash.Snapshot(), aborted: c.aborted, cause: c.cause,
	}
	child.later.of = child
	for kind := range c.records {
		child.records[kind] = c.records[kind].Snapshot()
	}
	return child
}

// DispatchID is the id of the turn's n-th dispatch.
func (t *Turn) DispatchID(number uint32) string {
	return t.ID + ".d" + strconv.FormatUint(uint64(number), 10)
}

// Turn is the turn that it is a context of.
func (c *Context) Turn() *Turn { return c.turn }

// Number is 0 for the turn's own context and n for that of its n-th dispatch.
func (c *Context) Number() uint32 { return c.number }

// ID is the id of a dispatch.
func (c *Context) ID() string { return c.id }

// Signal returns the context that is cancelled by an abort. The caller holds the turn's lock.
func (c *Context) Signal() context.Context {
	if c.signal != nil {
		return c.signal
	}
	parent := c.turn.outer
	if c.parent != nil {
		parent = c.parent.Signal()
	}
	c.signal, c.cancel = context.WithCancelCause(parent)
	switch {
	case c.aborted:
		c.cancel(c.cause)
	case c.turn.done:
		c.cancel(errEnded)
	}
	return c.signal
}

// Deadline is that of the context.Context that the turn was given.
func (c *Context) Deadline() (deadline time.Time, ok bool) { return c.turn.outer.Deadline() }

// Aborted reports whether the context was aborted.
func (c *Context) Aborted() bool {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	return c.aborted || c.turn.outer.Err() != nil
}

// Abort aborts the context: on the host at once, then in the core.
func (c *Context) Abort(cause error) { c.turn.abort(c, cause) }

// abort marks the context and those inside it. The caller holds t.mu.
func (c *Context) abort(cause error) {
	if c.aborted {
		return
	}
	c.aborted, c.cause = true, cause
	if c.cancel != nil {
		c.cancel(cause)
	}
	for _, other := range c.turn.contexts[1:] {
		if other.parent == c {
			other.abort(cause)
		}
	}
}

// Reason is why the context was aborted, nil if it was not. The caller does not hold the turn's lock.
func (c *Context) Reason() error {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	if c.cause == nil && c.turn.outer.Err() != nil {
		return context.Cause(c.turn.outer)
	}
	return c.cause
}

// Iteration is the number of a dispatch's current iteration, from 0.
func (c *Context) Iteration() int {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	return int(c.iteration)
}

// Signalled reports how a dispatch was signalled, by host code or inside the core: acked, or nacked with an error.
func (c *Context) Signalled() (acked, nacked bool, nack error) {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	return c.acked, c.nacked, c.nackErr
}

// ErrorOf reads an error that the core has put into a value of bytes: the one that host code gave, or one that is made
// once.
func (c *Context) ErrorOf(raw abi.Raw) (failure, err error) {
	b, err := abi.BytesOf(raw)
	if err != nil {
		return nil, err
	}
	var v abi.ErrorValue
	if err := abi.DecodeTo(b, &v); err != nil {
		return nil, err
	}
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	return c.turn.errors.decode(&v), nil
}

// Later is Signal for code that may not need it: the signal is made when it is first asked for anything. No caller of
// its methods may hold the turn's lock.
func (c *Context) Later() context.Context { return &c.later }

// later is a context that is made when it is first asked for anything.
type later struct{ of laterOf }

// laterOf makes it, under the turn's lock.
type laterOf interface {
	made() context.Context
	in() *Turn
}

func (c *Context) made() context.Context { return c.Signal() }

func (c *Context) in() *Turn { return c.turn }

func (e *Effect) in() *Turn { return e.turn }

func (l *later) now() context.Context {
	t := l.of.in()
	t.mu.Lock()
	defer t.mu.Unlock()
	return l.of.made()
}

func (l *later) Deadline() (deadline time.Time, ok bool) { return l.of.in().outer.Deadline() }

func (l *later) Done() <-chan struct{} { return l.now().Done() }

func (l *later) Err() error { return l.now().Err() }

func (l *later) Value(key any) any { return l.now().Value(key) }

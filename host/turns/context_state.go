package turns

import (
	"context"
	"strconv"
	"time"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/internal/stash"
	"github.com/turncore/turncore/host/internal/tokens"
	"github.com/turncore/turncore/host/record"
)

// contextState is what a TurnContext and a DispatchContext both are: the host's copy of the collections, and the abort
// signal. The turn's lock guards it.
type contextState struct {
	turn   *turn
	number uint32        // 0 the turn's, n its n-th dispatch's
	parent *contextState // what it was copied from; nil for the turn's

	records [record.Kinds]collections.Order
	stash   stash.Data
	tools   toolSet

	aborted bool
	cause   error
	// The context that user code waits on is made when it is first asked for.
	signal context.Context
	cancel context.CancelCauseFunc
}

// open makes the n-th dispatch's state as a copy of another's, in constant time.
func (c *contextState) open(number uint32) contextState {
	child := contextState{
		turn: c.turn, number: number, parent: c,
		stash: c.stash.Snapshot(), tools: c.tools.snapshot(), aborted: c.aborted, cause: c.cause,
	}
	for kind := range c.records {
		child.records[kind] = c.records[kind].Snapshot()
	}
	return child
}

// context returns the context that is cancelled by an abort. The caller holds t.mu.
func (c *contextState) context() context.Context {
	if c.signal != nil {
		return c.signal
	}
	parent := c.turn.outer
	if c.parent != nil {
		parent = c.parent.context()
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

// abort marks the context and those inside it. The caller holds t.mu.
func (c *contextState) abort(cause error) {
	if c.aborted {
		return
	}
	c.aborted, c.cause = true, cause
	if c.cancel != nil {
		c.cancel(cause)
	}
	for _, other := range c.turn.contexts[1:] {
		if other.state.parent == c {
			other.state.abort(cause)
		}
	}
}

// reason is why the context was aborted, nil if it was not. The caller does not hold t.mu.
func (c *contextState) reason() error {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	if c.cause == nil && c.turn.outer.Err() != nil {
		return context.Cause(c.turn.outer)
	}
	return c.cause
}

// base is what TurnContext and DispatchContext have in common.
type base struct {
	state        *contextState
	instructions Collection[*record.Instruction]
	memories     Collection[*record.Memory]
	retrievables Collection[*record.Retrievable]
	messages     Collection[*record.Message]
	thoughts     Collection[*record.Thought]
	toolCalls    Collection[*record.ToolCall]
	stash        Stash
	tools        ToolRegistry
	call         context.Context // of a tool's call that has a signal of its own; nil otherwise
	scope        *tokens.Scope   // nil until tokens are counted; guarded by the turn's lock
}

func newBase(c *contextState) base {
	return base{
		state:        c,
		instructions: Collection[*record.Instruction]{c},
		memories:     Collection[*record.Memory]{c},
		retrievables: Collection[*record.Retrievable]{c},
		messages:     Collection[*record.Message]{c},
		thoughts:     Collection[*record.Thought]{c},
		toolCalls:    Collection[*record.ToolCall]{c},
		stash:        Stash{c},
		tools:        ToolRegistry{c},
	}
}

// TurnID is the turn's id; "" in a standalone dispatch.
func (b *base) TurnID() string { return b.state.turn.shownID() }

// SystemPrompt is the turn's system prompt.
func (b *base) SystemPrompt() string { return b.state.turn.systemPrompt }

// StandingInstructions are the texts that the model gets in every turn.
func (b *base) StandingInstructions() *Collection[*record.Instruction] { return &b.instructions }

// TurnMemories are the memories in scope.
func (b *base) TurnMemories() *Collection[*record.Memory] { return &b.memories }

// TurnRetrievables are the retrieved documents in scope.
func (b *base) TurnRetrievables() *Collection[*record.Retrievable] { return &b.retrievables }

// TurnMessages are the messages in scope.
func (b *base) TurnMessages() *Collection[*record.Message] { return &b.messages }

// TurnThoughts are the thoughts in scope.
func (b *base) TurnThoughts() *Collection[*record.Thought] { return &b.thoughts }

// TurnToolCalls are the completed tool calls in scope.
func (b *base) TurnToolCalls() *Collection[*record.ToolCall] { return &b.toolCalls }

// Stash is the context's key-value data.
func (b *base) Stash() *Stash { return &b.stash }

// Tools is the registry of the tools that the context offers.
func (b *base) Tools() *ToolRegistry { return &b.tools }

// Aborted reports whether the context was aborted.
func (b *base) Aborted() bool {
	if b.call != nil && b.call.Err() != nil {
		return true
	}
	t := b.state.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	return b.state.aborted || t.outer.Err() != nil
}

// Abort aborts the context for the given reason; nil means context.Canceled. It interrupts no running code: code that
// watches the context ends by itself.
func (b *base) Abort(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	b.state.turn.abort(b.state, cause)
}

func (b *base) signal() context.Context {
	if b.call != nil {
		return b.call
	}
	b.state.turn.mu.Lock()
	defer b.state.turn.mu.Unlock()
	return b.state.context()
}

// Deadline implements context.Context.
func (b *base) Deadline() (deadline time.Time, ok bool) { return b.state.turn.outer.Deadline() }

// Done implements context.Context: it is closed by an abort, and when the turn has ended.
func (b *base) Done() <-chan struct{} { return b.signal().Done() }

// Err implements context.Context.
func (b *base) Err() error { return b.signal().Err() }

// Value implements context.Context.
func (b *base) Value(key any) any {
	if key == (tokens.ScopeKey{}) {
		return b.tokenScope()
	}
	return b.signal().Value(key)
}

// tokenScope is the context as the place where tokens are counted.
func (b *base) tokenScope() *tokens.Scope {
	b.state.turn.mu.Lock()
	defer b.state.turn.mu.Unlock()
	if b.scope == nil {
		b.scope = &tokens.Scope{Count: b.EstimateTokens}
	}
	return b.scope
}

// shared gives the package access to what is behind a Context.
func (b *base) shared() *base { return b }

// Context is the common interface of *TurnContext and *DispatchContext. It is also a context.Context, cancelled when
// the context is aborted: pass it to every function that takes one. context.Cause returns the reason.
type Context interface {
	context.Context
	TurnID() string
	SystemPrompt() string
	StandingInstructions() *Collection[*record.Instruction]
	TurnMemories() *Collection[*record.Memory]
	TurnRetrievables() *Collection[*record.Retrievable]
	TurnMessages() *Collection[*record.Message]
	TurnThoughts() *Collection[*record.Thought]
	TurnToolCalls() *Collection[*record.ToolCall]
	Stash() *Stash
	Tools() *ToolRegistry
	Aborted() bool
	Abort(cause error)
	WaitFor(until context.Context, g Gate) (any, error)
	EstimateTokens(encoding string, texts ...string) ([]int, error)
	shared() *base
}

// TurnContext is the context of a turn's middleware. Its methods may be called from many goroutines.
//
// Stores, mutates and deletes go through the storage callback immediately, then change the collection.
type TurnContext struct {
	base
}

var _ Context = (*TurnContext)(nil)

// ID is the turn's id.
func (c *TurnContext) ID() string { return c.state.turn.id }

// DispatchContext is the context of a dispatch's middleware and executor. Its methods may be called from many
// goroutines.
//
// Stores, mutates and deletes change the collection at once. Storage and the source get them when the iteration
// succeeds; after a nack, an abort or a failure they never do.
//
// A tool's handler gets a DispatchContext that is also cancelled with its call, which may have a time limit.
type DispatchContext struct {
	base
	*dispatchState
}

// dispatchState is what all DispatchContexts of a dispatch share.
type dispatchState struct {
	id      string
	helpers Helpers
	config  *definition

	// Guarded by the turn's lock.
	iteration int
	acked     bool
	nacked    bool
	nackErr   error
	onAck     []*func()
	listen    func(event.Event)
}

var _ Context = (*DispatchContext)(nil)

// during is the same context for a call with a signal of its own.
func (c *DispatchContext) during(call context.Context) *DispatchContext {
	view := &DispatchContext{base: newBase(c.state), dispatchState: c.dispatchState}
	view.call = call
	return view
}

// DispatchID is the dispatch's id, as in events.
func (c *DispatchContext) DispatchID() string { return c.id }

// ID is the dispatch's id.
func (c *DispatchContext) ID() string { return c.id }

func (t *turn) dispatchID(number uint32) string {
	return t.id + ".d" + strconv.FormatUint(uint64(number), 10)
}

// Iteration is the number of the current iteration, from 0.
func (c *DispatchContext) Iteration() int {
	c.state.turn.mu.Lock()
	defer c.state.turn.mu.Unlock()
	return c.iteration
}

// IsSignalled reports whether the dispatch was acked or nacked, by host code or inside the core.
func (c *DispatchContext) IsSignalled() bool {
	c.state.turn.mu.Lock()
	defer c.state.turn.mu.Unlock()
	return c.acked || c.nacked
}

// IsAcked reports whether the dispatch was acked.
func (c *DispatchContext) IsAcked() bool {
	c.state.turn.mu.Lock()
	defer c.state.turn.mu.Unlock()
	return c.acked
}

// NackError is the error of the nack, nil without one.
func (c *DispatchContext) NackError() error {
	c.state.turn.mu.Lock()
	defer c.state.turn.mu.Unlock()
	return c.nackErr
}

package turns

import (
	"context"
	"time"

	"github.com/turncore/turncore/host/internal/tokens"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/record"
)

// base is what TurnContext and DispatchContext have in common.
type base struct {
	*common
	call   context.Context // of a tool's call that has a signal of its own, or that a wrapper gave; nil otherwise
	effect *effectKey      // of the storage function or the tool's handler that got the context; nil otherwise
	scope  *tokens.Scope   // nil until tokens are counted; guarded by the turn's lock
}

// common is what all contexts of a turn, or of a dispatch, have: its own and those of single calls.
type common struct {
	state        *turn.Context
	program      *program
	config       *definition // of a dispatch
	helpers      Helpers     // of its executor
	instructions Collection[*record.Instruction]
	memories     Collection[*record.Memory]
	retrievables Collection[*record.Retrievable]
	messages     Collection[*record.Message]
	thoughts     Collection[*record.Thought]
	toolCalls    Collection[*record.ToolCall]
	stash        Stash
	tools        ToolRegistry
}

func newCommon(p *program, c *turn.Context, tools toolSet) common {
	return common{
		state:        c,
		program:      p,
		instructions: Collection[*record.Instruction]{c},
		memories:     Collection[*record.Memory]{c},
		retrievables: Collection[*record.Retrievable]{c},
		messages:     Collection[*record.Message]{c},
		thoughts:     Collection[*record.Thought]{c},
		toolCalls:    Collection[*record.ToolCall]{c},
		stash:        Stash{c},
		tools:        ToolRegistry{c, p, tools},
	}
}

// TurnID is the turn's id; "" in a standalone dispatch.
func (b *base) TurnID() string { return b.state.Turn().ShownID() }

// SystemPrompt is the turn's system prompt.
func (b *base) SystemPrompt() string { return b.state.Turn().SystemPrompt }

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
	return b.state.Aborted()
}

// Abort aborts the context for the given reason; nil means context.Canceled. It interrupts no running code: code that
// watches the context ends by itself.
func (b *base) Abort(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	b.state.Abort(cause)
}

func (b *base) signal() context.Context {
	if b.call != nil {
		return b.call
	}
	b.program.turn.Lock()
	defer b.program.turn.Unlock()
	return b.state.Signal()
}

// Deadline implements context.Context.
func (b *base) Deadline() (deadline time.Time, ok bool) {
	if b.call != nil {
		return b.call.Deadline()
	}
	return b.state.Deadline()
}

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
	b.program.turn.Lock()
	defer b.program.turn.Unlock()
	if b.scope == nil {
		b.scope = &tokens.Scope{Count: b.EstimateTokens}
	}
	return b.scope
}

// IdempotencyKey names the call that the context was passed to, for systems that must not do the same thing twice: in a
// tool's handler the tool's call, in a storage function the write. It is "" elsewhere. It stays the same when the turn
// is replayed.
//
// A tool's call has the key "TURN.PATH.CHECKSUM.N": the turn's id, the place in the turn such as "d1.0.x", the checksum
// of tool and arguments, and the number of the call among equal calls of that place, from 1. A write has
// "TURN@START.eN", the number of its effect in this run of the turn; each of several calls for one effect has a part
// more. docs/tools.md and docs/turn-runner.md tell when two keys are equal.
func (b *base) IdempotencyKey() string { return b.effect.String() }

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
	IdempotencyKey() string
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
func (c *TurnContext) ID() string { return c.state.Turn().ID }

// DispatchContext is the context of a dispatch's middleware and executor. Its methods may be called from many
// goroutines.
//
// Stores, mutates and deletes change the collection at once. Storage and the source get them when the iteration
// succeeds; after a nack, an abort or a failure they never do.
//
// A tool's handler gets a DispatchContext of its own: with the call's IdempotencyKey, and also cancelled with the call,
// which may have a time limit.
type DispatchContext struct {
	base
}

var _ Context = (*DispatchContext)(nil)

// newDispatchContext makes the context of a dispatch.
func newDispatchContext(p *program, c *turn.Context, config *definition, tools toolSet) *DispatchContext {
	made := &struct {
		DispatchContext
		common common
	}{common: newCommon(p, c, tools)}
	made.common.config, made.common.helpers.ctx = config, &made.DispatchContext
	made.base.common = &made.common
	return &made.DispatchContext
}

// keyed is the same context for one call, with a key to fill in. The caller holds the turn's lock.
func (c *TurnContext) keyed() *TurnContext {
	view := &struct {
		TurnContext
		key effectKey
	}{TurnContext: *c}
	view.key.turn = c.program.turn
	view.effect, view.scope = &view.key, nil
	return &view.TurnContext
}

// keyed is the same context for one call, with a key to fill in. The caller holds the turn's lock.
func (c *DispatchContext) keyed() *DispatchContext {
	view := &struct {
		DispatchContext
		key effectKey
	}{DispatchContext: *c}
	view.key.turn = c.program.turn
	view.effect, view.scope = &view.key, nil
	return &view.DispatchContext
}

// DispatchID is the dispatch's id, as in events.
func (c *DispatchContext) DispatchID() string { return c.state.ID() }

// ID is the dispatch's id.
func (c *DispatchContext) ID() string { return c.state.ID() }

// Iteration is the number of the current iteration, from 0.
func (c *DispatchContext) Iteration() int { return c.state.Iteration() }

// IsSignalled reports whether the dispatch was acked or nacked, by host code or inside the core.
func (c *DispatchContext) IsSignalled() bool {
	acked, nacked, _ := c.state.Signalled()
	return acked || nacked
}

// IsAcked reports whether the dispatch was acked.
func (c *DispatchContext) IsAcked() bool {
	acked, _, _ := c.state.Signalled()
	return acked
}

// NackError is the error of the nack, nil without one.
func (c *DispatchContext) NackError() error {
	_, _, nack := c.state.Signalled()
	return nack
}

// Ack ends the dispatch successfully after the current iteration. A second signal fails with
// E_LLM_EXECUTION_ALREADY_SIGNALLED.
func (c *DispatchContext) Ack() error { return c.state.Ack() }

// Nack fails the dispatch with the given error once the running code has returned; the iteration's writes are
// discarded. nil stands for an unspecified error.
func (c *DispatchContext) Nack(cause error) error { return c.state.Nack(cause) }

// OnAck calls a function once when the dispatch is acked: before Ack returns or, for an ack inside the core, before
// the next event. It does not call it if the dispatch has already been acked, or on a nack. A panic in it is ignored.
// The returned function removes it. OnAck panics for a nil function.
func (c *DispatchContext) OnAck(fn func()) (cancel func()) {
	if fn == nil {
		panic("turns: nil ack handler")
	}
	return c.state.OnAck(fn)
}

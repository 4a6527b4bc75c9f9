package turns

import (
	"fmt"
	"math"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/toolargs"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/record"
)

// invoke calls a method of a context in the core and returns the reply's value. args makes the arguments, under the
// turn's lock; nil for none.
func (t *turn) invoke(context uint32, method uint8, args func() (abi.Raw, error)) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.invokeLocked(context, method, args)
}

func (t *turn) invokeLocked(context uint32, method uint8, args func() (abi.Raw, error)) ([]byte, error) {
	return t.invokeThen(context, method, args, nil)
}

// invokeThen is invokeLocked for a call that is answered later: taken, unless it is nil, runs when the core has taken the
// call.
func (t *turn) invokeThen(context uint32, method uint8, args func() (abi.Raw, error), taken func()) ([]byte, error) {
	if t.closed {
		return nil, t.deadOr(callAfterEnd())
	}
	var raw abi.Raw
	if args != nil {
		var err error
		if raw, err = args(); err != nil {
			return nil, err
		}
	}
	w := t.waiter()
	w.actor.first = method == abi.MethodSettleGate
	t.lastCall++
	number := t.lastCall
	t.calls[number] = &w.call
	t.frames.call = abi.Call{Turn: t.number, Call: number, Elapsed: t.tick(), Context: context, Method: method, Args: raw}
	err := t.exchange(&w.actor, &t.frames.call)
	t.opening, t.acking, t.emitting = t.config, nil, nil
	if err != nil {
		delete(t.calls, number)
		w.actor.call = nil
		t.await(&w.actor)
		return nil, err
	}
	if taken != nil {
		taken()
	}
	t.await(&w.actor)
	reply, err := w.call.value, w.call.err
	if w.call.delivered {
		t.waiters = append(t.waiters, w)
	}
	return reply, err
}

// waiter is a goroutine that waits for the reply to a call. They are used again, as calls are many.
type waiter struct {
	actor actor
	call  call
}

func (t *turn) waiter() *waiter {
	n := len(t.waiters)
	if n == 0 {
		w := &waiter{}
		w.actor.call = &w.call
		return w
	}
	w := t.waiters[n-1]
	t.waiters = t.waiters[:n-1]
	*w = waiter{actor: actor{call: &w.call, effects: w.actor.effects[:0]}}
	return w
}

// payload is the encoding of a method's arguments.
func payload(v interface {
	Append(b []byte) []byte
},
) func() (abi.Raw, error) {
	return func() (abi.Raw, error) { return v.Append(nil), nil }
}

// store is MethodStore and MethodMutate.
func (b *base) store(method uint8, r record.Record, old string) error {
	_, err := b.storeAs(method, r, old)
	return err
}

// storeAs is store, and returns the reply's value.
func (b *base) storeAs(method uint8, r record.Record, old string) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	t := b.state.turn
	body, err := t.encode(r)
	if err != nil {
		return nil, err
	}
	return t.invoke(b.state.number, method, func() (abi.Raw, error) {
		handle, data := t.name(r, body)
		return (&abi.StoreArgs{Collection: kindOf(r), Handle: handle, Data: data, Old: old}).Append(nil), nil
	})
}

// storeFound stores a document and returns the one that was stored in its place.
func (b *base) storeFound(method uint8, r *record.Retrievable) (*record.Retrievable, error) {
	v, err := b.storeAs(method, r, "")
	if err != nil {
		return nil, err
	}
	t := b.state.turn
	in := abi.NewReader(v)
	handle := in.Int(abi.MaxInt)
	t.mu.Lock()
	defer t.mu.Unlock()
	stored, ok := t.handles.record(handle).(*record.Retrievable)
	if !in.OK() || !ok {
		return nil, fmt.Errorf("the reply to a store names %d, which is no document", handle)
	}
	return stored, nil
}

func (b *base) remove(kind uint8, id string) error {
	_, err := b.state.turn.invoke(b.state.number, abi.MethodDelete, payload(&abi.DeleteArgs{Collection: kind, ID: id}))
	return err
}

// StoreStandingInstruction adds a standing instruction.
func (b *base) StoreStandingInstruction(text string) error {
	return b.store(abi.MethodStore, record.NewInstruction(text), "")
}

// MutateStandingInstruction replaces the standing instruction whose text is old.
func (b *base) MutateStandingInstruction(old, text string) error {
	return b.store(abi.MethodMutate, record.NewInstruction(text), old)
}

// DeleteStandingInstruction deletes the standing instruction with the given text.
func (b *base) DeleteStandingInstruction(text string) error {
	return b.remove(abi.CollectionInstructions, text)
}

// StoreMemory adds a memory.
func (b *base) StoreMemory(m *record.Memory) error { return b.store(abi.MethodStore, m, "") }

// MutateMemory replaces the memory with the same id.
func (b *base) MutateMemory(m *record.Memory) error { return b.store(abi.MethodMutate, m, "") }

// DeleteMemory deletes the memory with the given id.
func (b *base) DeleteMemory(id string) error { return b.remove(abi.CollectionMemories, id) }

// StoreRetrievable adds a retrieved document and returns the stored one: a text that is not inline is spooled first.
// The id of a tool call fails with E_ARTIFACT_ID_COLLISION.
func (b *base) StoreRetrievable(r *record.Retrievable) (*record.Retrievable, error) {
	return b.storeFound(abi.MethodStore, r)
}

// MutateRetrievable replaces the document with the same id and returns the new one, like StoreRetrievable.
func (b *base) MutateRetrievable(r *record.Retrievable) (*record.Retrievable, error) {
	return b.storeFound(abi.MethodMutate, r)
}

// DeleteRetrievable deletes the document with the given id.
func (b *base) DeleteRetrievable(id string) error { return b.remove(abi.CollectionRetrievables, id) }

// StoreMessage adds a message.
func (b *base) StoreMessage(m *record.Message) error { return b.store(abi.MethodStore, m, "") }

// MutateMessage replaces the message with the same id.
func (b *base) MutateMessage(m *record.Message) error { return b.store(abi.MethodMutate, m, "") }

// DeleteMessage deletes the message with the given id.
func (b *base) DeleteMessage(id string) error { return b.remove(abi.CollectionMessages, id) }

// StoreThought adds a thought.
func (b *base) StoreThought(t *record.Thought) error { return b.store(abi.MethodStore, t, "") }

// MutateThought replaces the thought with the same id.
func (b *base) MutateThought(t *record.Thought) error { return b.store(abi.MethodMutate, t, "") }

// DeleteThought deletes the thought with the given id.
func (b *base) DeleteThought(id string) error { return b.remove(abi.CollectionThoughts, id) }

// StoreToolCall adds a completed tool call. The id of a retrieved document fails with E_ARTIFACT_ID_COLLISION.
func (b *base) StoreToolCall(c *record.ToolCall) error { return b.store(abi.MethodStore, c, "") }

// MutateToolCall replaces the tool call with the same id.
func (b *base) MutateToolCall(c *record.ToolCall) error { return b.store(abi.MethodMutate, c, "") }

// DeleteToolCall deletes the tool call with the given id.
func (b *base) DeleteToolCall(id string) error { return b.remove(abi.CollectionToolCalls, id) }

// ReplaceToolCallGroup replaces the tool calls with the given ids.
func (b *base) ReplaceToolCallGroup(ids []string, replacements []*record.ToolCall) error {
	t := b.state.turn
	bodies := make([][]byte, len(replacements))
	for i, c := range replacements {
		err := c.Validate()
		if err == nil {
			bodies[i], err = t.encode(c)
		}
		if err != nil {
			return err
		}
	}
	_, err := t.invoke(b.state.number, abi.MethodReplaceGroup, func() (abi.Raw, error) {
		args := abi.ReplaceGroupArgs{IDs: ids}
		for i, c := range replacements {
			handle, data := t.name(c, bodies[i])
			args.Items = append(args.Items, abi.Item{Handle: handle, Data: data})
		}
		return args.Append(nil), nil
	})
	return err
}

// ToolCallCount is the number of current tool calls with a checksum: how often the model has made the same call.
func (c *DispatchContext) ToolCallCount(checksum string) (int, error) {
	v, err := c.state.turn.invoke(c.state.number, abi.MethodToolCallCount, payload(&abi.CountArgs{Checksum: checksum}))
	if err != nil {
		return 0, err
	}
	in := abi.NewReader(v)
	n := int(in.Int(math.MaxInt32))
	return n, in.Err()
}

// Commit writes the iteration's queue to storage, and returns when storage has it. A later nack does not undo it.
func (c *DispatchContext) Commit() error {
	_, err := c.state.turn.invoke(c.state.number, abi.MethodCommit, nil)
	return err
}

func (c *DispatchContext) executeTool(tool *Tool, args any, providerCallID string) (any, error) {
	raw, err := tool.encodeArgs(args)
	if err != nil {
		return nil, err
	}
	t := c.state.turn
	def, err := t.definition(tool)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	v, err := t.invokeLocked(c.state.number, abi.MethodExecuteTool, func() (abi.Raw, error) {
		number, err := t.define(tool, def)
		return (&abi.ExecuteToolArgs{Tool: number, ProviderCallID: providerCallID, Args: raw}).Append(nil), err
	})
	if err != nil {
		return nil, err
	}
	r, err := abi.DecodeInPlace[abi.ExecuteToolResult](v)
	if err != nil {
		return nil, err
	}
	if r.Effect == 0 { // the handler ran inside the core
		return wire.Plain(r.Value)
	}
	result := t.kept[r.Effect]
	delete(t.kept, r.Effect)
	return result, nil
}

// encodeArgs encodes the arguments of a call of the tool. Null is refused here: in a frame it is no value at all.
func (t *Tool) encodeArgs(args any) (abi.Raw, error) {
	raw, err := encodeArgs(args)
	if err == nil && wire.IsNil(raw) {
		const message = "the value must be object, not null"
		return nil, newError(abi.CodeInvalidToolArgs, t.Name+": "+message, newError(abi.CodeValidationException, message, nil))
	}
	return raw, err
}

// encodeArgs encodes the arguments of a tool call.
func encodeArgs(args any) (abi.Raw, error) {
	if a, ok := args.(Args); ok {
		if len(a.raw) == 0 {
			return toolargs.Empty(), nil
		}
		return a.raw, nil
	}
	return toolargs.Encode(args)
}

// dispatch runs a dispatch with this context as its source.
func (b *base) dispatch(d *definition) (DispatchResult, error) {
	t := b.state.turn
	d.callbacks, d.tokenizers = t.config.callbacks, t.config.tokenizers
	r, _, err := t.core.runner(d)
	if err != nil {
		return DispatchResult{}, err
	}
	defer t.core.closeRunner(d)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.journal.runner(r)
	v, err := t.invokeLocked(b.state.number, abi.MethodDispatch, func() (abi.Raw, error) {
		// The dispatch's context is made while this very frame is taken.
		t.opening = d
		return (&abi.DispatchArgs{Runner: r.number}).Append(nil), nil
	})
	if err != nil {
		return DispatchResult{Status: event.Nack}, err
	}
	f, err := abi.Decode[abi.DispatchResult](v)
	return DispatchResult{DispatchID: t.dispatchID(f.Dispatch), Status: event.Status(f.Status), Iterations: int(f.Iterations)}, err
}

// Log writes a line to the structured log. The payload may be anything that can be encoded: nil for none,
// json.RawMessage("null") for one that is null.
func (h *Helpers) Log(level event.Level, kind, message string, detail any) {
	args := &abi.LogArgs{Level: uint8(level), Kind: kind, Message: message, HasPayload: detail != nil}
	if detail != nil {
		raw, err := wire.Append(nil, detail, "payload")
		if err != nil {
			raw = value.AppendString(nil, fmt.Sprint(detail)) // a log line never fails
		}
		args.Payload = raw
	}
	_, _ = h.ctx.state.turn.invoke(h.ctx.state.number, abi.MethodLog, payload(args)) // nor does it when the turn has ended
}

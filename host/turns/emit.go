package turns

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/wire"
)

// EmitMessage sends listeners a delta of a message from this context, like Helpers.ReportMessage. It stores nothing
// and seals no stream.
func (b *base) EmitMessage(id, delta string, isComplete bool) error {
	return b.emitStream(event.KindMessage, id, delta, isComplete)
}

// EmitThought sends listeners a delta of a thought.
func (b *base) EmitThought(id, delta string, isComplete bool) error {
	return b.emitStream(event.KindThought, id, delta, isComplete)
}

// EmitInterruptedMessage sends listeners the last delta of an interrupted message, like Helpers.InterruptMessage.
func (b *base) EmitInterruptedMessage(id, delta string) error {
	return b.emitInterrupted(event.KindMessage, id, delta)
}

// EmitInterruptedThought is EmitInterruptedMessage for a thought.
func (b *base) EmitInterruptedThought(id, delta string) error {
	return b.emitInterrupted(event.KindThought, id, delta)
}

func (b *base) emitInterrupted(kind event.Kind, id, delta string) error {
	if b.state.turn.core.interrupts() {
		kind += messageInterrupted - event.KindMessage
	}
	return b.emitStream(kind, id, delta, true)
}

func (b *base) emitStream(kind event.Kind, id, delta string, isComplete bool) error {
	which := kind - event.KindMessage
	if kind >= messageInterrupted {
		which = kind - messageInterrupted
	}
	return b.emit(kind, func(t *turn) []byte {
		s := t.emittedStream(int(which), streamKey{b.state.number, id})
		t.emitting = s
		return (&abi.StreamEvent{
			ID: id, Created: s.created, Delta: delta, Length: uint64(s.text.Len() + len(delta)), Complete: isComplete,
		}).Append(nil)
	})
}

// emittedStream is the text that a context emits under an id. It begins as what was reported under that id so far; from then
// on neither adds to the other, since the core counts what is reported only. The caller holds t.mu.
func (t *turn) emittedStream(which int, key streamKey) *stream {
	s := t.emitted[which][key]
	if s != nil {
		return s
	}
	s = &stream{id: key.id, created: t.tick()}
	if reported := t.texts[which][key]; reported != nil {
		s.created = reported.created
		s.text.WriteString(reported.text.String())
	}
	if t.emitted[which] == nil {
		t.emitted[which] = make(map[streamKey]*stream)
	}
	t.emitted[which][key] = s
	return s
}

// EmitToolCall sends listeners a report of a tool call from this context.
func (b *base) EmitToolCall(id string, s event.ToolCallState) error {
	e := abi.ToolCallEvent{
		ID: id, Tool: s.Tool, Checksum: s.Checksum, ExecutionID: s.ExecutionID, ProviderCallID: s.ProviderCallID,
		Complete: s.IsComplete, IsError: s.IsError,
	}
	if s.Args != nil {
		raw, err := encodeArgs(s.Args)
		if err != nil {
			return err
		}
		e.Args = raw
	}
	return b.emit(event.KindToolCall, func(t *turn) []byte {
		e.Created = t.tick()
		if s.Results != nil {
			t.keepResults(b.state.number, id, s.Results)
			e.Results = abi.ResultsHost
		}
		return e.Append(nil)
	})
}

// EmitToolExecutionStart notifies observers that a handler not called through Tool.Executor is about to run.
func (b *base) EmitToolExecutionStart(e event.ToolExecution, args any) error {
	raw, err := wire.Append(nil, args, "args")
	if err != nil {
		return newError(abi.CodeInvalidValue, err.Error(), err)
	}
	return b.emit(event.KindToolExecutionStart, func(*turn) []byte {
		return (&abi.ToolStartEvent{
			Tool: e.ToolName, CallID: e.CallID, ExecutionID: e.ExecutionID, ProviderCallID: e.ProviderCallID, Args: raw,
		}).Append(nil)
	})
}

// EmitToolExecutionEnd notifies observers that such a handler, started the given number of milliseconds ago, has
// ended.
func (b *base) EmitToolExecutionEnd(e event.ToolExecution, tookMs int64, isError bool) error {
	return b.emit(event.KindToolExecutionEnd, func(t *turn) []byte {
		started := max(int64(t.tick())-tookMs, 0)
		return (&abi.ToolEndEvent{
			Tool: e.ToolName, CallID: e.CallID, ExecutionID: e.ExecutionID, ProviderCallID: e.ProviderCallID,
			Started: uint64(started), IsError: isError,
		}).Append(nil)
	})
}

// emit is MethodEmit. payload is called under the turn's lock.
func (b *base) emit(kind event.Kind, payload func(t *turn) []byte) error {
	t := b.state.turn
	_, err := t.invoke(b.state.number, abi.MethodEmit, func() (abi.Raw, error) {
		return (&abi.EmitArgs{Kind: uint8(kind), Payload: payload(t)}).Append(nil), nil
	})
	return err
}

// keepResults holds what was reported as a tool call's results for its events. The caller holds t.mu.
func (t *turn) keepResults(context uint32, id string, results any) {
	if t.results == nil {
		t.results = make(map[streamKey]any)
	}
	t.results[streamKey{context, id}] = results
}

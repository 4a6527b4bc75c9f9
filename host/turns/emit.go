package turns

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/wire"
)

// EmitMessage sends listeners a delta of a message from this context, like Helpers.ReportMessage. It stores nothing
// and seals no stream.
func (b *base) EmitMessage(id, delta string, isComplete bool) error {
	return b.state.EmitStream(event.KindMessage, id, delta, isComplete)
}

// EmitThought sends listeners a delta of a thought.
func (b *base) EmitThought(id, delta string, isComplete bool) error {
	return b.state.EmitStream(event.KindThought, id, delta, isComplete)
}

// EmitInterruptedMessage sends listeners the last delta of an interrupted message, like Helpers.InterruptMessage.
func (b *base) EmitInterruptedMessage(id, delta string) error {
	return b.state.EmitInterrupted(event.KindMessage, id, delta)
}

// EmitInterruptedThought is EmitInterruptedMessage for a thought.
func (b *base) EmitInterruptedThought(id, delta string) error {
	return b.state.EmitInterrupted(event.KindThought, id, delta)
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
	return b.state.EmitToolCall(id, &e, s.Results)
}

// EmitToolExecutionStart notifies observers that a handler not called through Tool.Executor is about to run.
func (b *base) EmitToolExecutionStart(e event.ToolExecution, args any) error {
	raw, err := wire.Append(nil, args, "args")
	if err != nil {
		return newError(abi.CodeInvalidValue, err.Error(), err)
	}
	return b.state.Emit(event.KindToolExecutionStart, func() []byte {
		return (&abi.ToolStartEvent{
			Tool: e.ToolName, CallID: e.CallID, ExecutionID: e.ExecutionID, ProviderCallID: e.ProviderCallID, Args: raw,
		}).Append(nil)
	})
}

// EmitToolExecutionEnd notifies observers that such a handler, started the given number of milliseconds ago, has
// ended.
func (b *base) EmitToolExecutionEnd(e event.ToolExecution, tookMs int64, isError bool) error {
	return b.state.EmitToolEnd(&abi.ToolEndEvent{
		Tool: e.ToolName, CallID: e.CallID, ExecutionID: e.ExecutionID, ProviderCallID: e.ProviderCallID, IsError: isError,
	}, tookMs)
}

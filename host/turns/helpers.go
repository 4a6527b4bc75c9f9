package turns

import (
	"errors"
	"fmt"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/model"
)

// Helpers let an executor stream a model's answer. They notify listeners and store nothing: call StoreMessage and
// similar methods once a stream is complete. All methods may be called from many goroutines.
type Helpers struct {
	ctx *DispatchContext
}

// ReportMessage adds a delta, the new text only, to the message with the given id; the first report begins the
// message. isComplete seals it: a further report returns ErrStreamSealed. Listeners run before ReportMessage returns.
func (h *Helpers) ReportMessage(id, delta string, isComplete bool) error {
	return h.ctx.state.Report(abi.StreamMessage, id, delta, isComplete)
}

// InterruptMessage adds the last delta to an interrupted message, and seals it: its event has IsInterrupted.
func (h *Helpers) InterruptMessage(id, delta string) error {
	return h.ctx.state.Interrupt(abi.StreamMessage, id, delta)
}

// ReportThought is ReportMessage for a thought.
func (h *Helpers) ReportThought(id, delta string, isComplete bool) error {
	return h.ctx.state.Report(abi.StreamThought, id, delta, isComplete)
}

// InterruptThought is InterruptMessage for a thought.
func (h *Helpers) InterruptThought(id, delta string) error {
	return h.ctx.state.Interrupt(abi.StreamThought, id, delta)
}

// ReportToolCall notifies listeners of a tool call.
func (h *Helpers) ReportToolCall(id string, r event.ToolCallReport) error {
	args := abi.ReportToolCallArgs{
		ID: id, Tool: r.Tool, HasTool: r.Tool != "", HasResults: r.Results != nil,
		Complete: r.IsComplete, ExecutionID: r.ExecutionID, ProviderCallID: r.ProviderCallID,
	}
	if r.IsError != nil {
		args.HasIsError, args.IsError = true, *r.IsError
	}
	if r.Args != nil {
		raw, err := encodeArgs(r.Args)
		if err != nil {
			cause := errors.Unwrap(err)
			return newError(abi.CodeInvalidValue, cause.Error(), cause)
		}
		args.Args = raw
	}
	return h.ctx.state.ReportToolCall(id, &args, r.Results)
}

// ReportGenerationStats sends observers the cost of a model call. Negative numbers fail with E_INVALID_VALUE.
func (h *Helpers) ReportGenerationStats(stats model.Stats) error {
	for name, n := range map[string]int64{
		"promptTokens": int64(stats.PromptTokens), "completionTokens": int64(stats.CompletionTokens),
		"totalTokens": int64(stats.TotalTokens), "cachedTokens": int64(stats.CachedTokens),
		"reasoningTokens": int64(stats.ReasoningTokens), "totalDurationNs": stats.TotalDurationNs,
		"loadDurationNs": stats.LoadDurationNs, "promptEvalDurationNs": stats.PromptEvalDurationNs,
		"evalDurationNs": stats.EvalDurationNs,
	} {
		if n < 0 {
			return newError(abi.CodeInvalidValue, "stats."+name+": must be a number that is not negative", nil)
		}
	}
	raw, err := wire.Append(nil, stats, "stats")
	if err != nil {
		return newError(abi.CodeInvalidValue, err.Error(), err)
	}
	_, err = h.ctx.state.Invoke(abi.MethodStats, turn.Payload(&abi.StatsArgs{Stats: raw}))
	return err
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
	_, _ = h.ctx.state.Invoke(abi.MethodLog, turn.Payload(args)) // nor does it when the turn has ended
}

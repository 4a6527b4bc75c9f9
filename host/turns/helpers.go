package turns

import (
	"errors"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/event"
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
	return h.report(abi.StreamMessage, id, delta, isComplete)
}

// InterruptMessage adds the last delta to an interrupted message, and seals it: its event has IsInterrupted.
func (h *Helpers) InterruptMessage(id, delta string) error {
	return h.interrupt(abi.StreamMessage, id, delta)
}

// ReportThought is ReportMessage for a thought.
func (h *Helpers) ReportThought(id, delta string, isComplete bool) error {
	return h.report(abi.StreamThought, id, delta, isComplete)
}

// InterruptThought is InterruptMessage for a thought.
func (h *Helpers) InterruptThought(id, delta string) error {
	return h.interrupt(abi.StreamThought, id, delta)
}

func (h *Helpers) interrupt(stream uint8, id, delta string) error {
	t := h.ctx.state.turn
	if !t.core.interrupts() {
		return h.report(stream, id, delta, true)
	}
	_, err := t.invoke(h.ctx.state.number, abi.MethodInterrupt, payload(&abi.InterruptArgs{Stream: stream, ID: id, Delta: delta}))
	return err
}

func (h *Helpers) report(stream uint8, id, delta string, isComplete bool) error {
	t := h.ctx.state.turn
	_, err := t.invoke(h.ctx.state.number, abi.MethodReport, func() (abi.Raw, error) {
		// Streams report often: the arguments are put together in a buffer that is used again.
		b := value.AppendListHeader(t.scratch[:0], 4)
		b = value.AppendInt(b, int64(stream))
		b = value.AppendString(value.AppendString(b, id), delta)
		t.scratch = value.AppendBool(b, isComplete)
		return t.scratch, nil
	})
	return err
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
	t := h.ctx.state.turn
	_, err := t.invoke(h.ctx.state.number, abi.MethodReportToolCall, func() (abi.Raw, error) {
		if r.Results != nil {
			t.keepResults(h.ctx.state.number, id, r.Results)
		}
		return args.Append(nil), nil
	})
	return err
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
	_, err = h.ctx.state.turn.invoke(h.ctx.state.number, abi.MethodStats, payload(&abi.StatsArgs{Stats: raw}))
	return err
}

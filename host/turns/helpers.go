package turns

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/check"
	"github.com/turncore/turncore/host/internal/panics"
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
	if err := checkID(id); err != nil {
		return err
	}
	return h.ctx.state.Report(abi.StreamMessage, id, delta, isComplete)
}

// InterruptMessage adds the last delta to an interrupted message, and seals it: its event has IsInterrupted.
func (h *Helpers) InterruptMessage(id, delta string) error {
	if err := checkID(id); err != nil {
		return err
	}
	return h.ctx.state.Interrupt(abi.StreamMessage, id, delta)
}

// ReportThought is ReportMessage for a thought.
func (h *Helpers) ReportThought(id, delta string, isComplete bool) error {
	if err := checkID(id); err != nil {
		return err
	}
	return h.ctx.state.Report(abi.StreamThought, id, delta, isComplete)
}

// InterruptThought is InterruptMessage for a thought.
func (h *Helpers) InterruptThought(id, delta string) error {
	if err := checkID(id); err != nil {
		return err
	}
	return h.ctx.state.Interrupt(abi.StreamThought, id, delta)
}

// ReportToolCall notifies listeners of a tool call.
func (h *Helpers) ReportToolCall(id string, r event.ToolCallReport) error {
	if err := checkID(id); err != nil {
		return err
	}
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

// checkID refuses the id of a report that would be another one in its events.
func checkID(id string) error {
	if !utf8.ValidString(id) {
		return newError(abi.CodeInvalidValue, check.NoUTF8("id"), nil)
	}
	return nil
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
//
// A line never fails: a payload that cannot be encoded becomes a text, and of a line that is larger than a frame the
// payload is left out, with a text in its place, and the kind and the message are cut. A level that is none counts as
// the highest. When the turn has ended nothing is written any more. A host may cut the log of an agent's module.
func (h *Helpers) Log(level event.Level, kind, message string, detail any) {
	kind, message = value.UTF8(kind), value.UTF8(message)
	args := &abi.LogArgs{Level: uint8(min(level, event.LevelError)), Kind: kind, Message: message, HasPayload: detail != nil}
	if detail != nil {
		args.Payload = logged(detail)
	}
	if _, err := h.ctx.state.Invoke(abi.MethodLog, turn.Payload(args)); err == nil {
		return
	}
	most := h.ctx.state.Turn().Core().MaxBody()
	args.Kind, args.Message = cutText(kind, most/8), cutText(message, most/2)
	if args.HasPayload {
		args.Payload = value.AppendString(nil, cutText(fmt.Sprintf("left out: it has %d bytes", len(args.Payload)), most/8))
	}
	_, _ = h.ctx.state.Invoke(abi.MethodLog, turn.Payload(args)) // it fails when the turn has ended
}

// logged encodes the payload of a line, as a text if it has no encoding.
func logged(detail any) abi.Raw {
	raw, err := func() (raw abi.Raw, err error) {
		defer panics.Recovered(&err)
		return wire.Append(nil, detail, "payload")
	}()
	if err == nil {
		return raw
	}
	text := err.Error()
	if most := mostPrinted; printable(reflect.ValueOf(detail), maxPrinted, &most) {
		text = fmt.Sprint(detail)
	}
	return value.AppendString(nil, text)
}

// Bounds on the depth and the parts of a payload that becomes a text.
const (
	maxPrinted  = 32
	mostPrinted = 10_000
)

// printable tells whether package fmt prints a value, which it does for ever if the value contains itself.
func printable(v reflect.Value, depth int, parts *int) bool {
	if *parts--; depth == 0 || *parts < 0 {
		return false
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		return v.IsNil() || printable(v.Elem(), depth-1, parts)
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if !printable(it.Key(), depth-1, parts) || !printable(it.Value(), depth-1, parts) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !printable(v.Index(i), depth-1, parts) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !printable(v.Field(i), depth-1, parts) {
				return false
			}
		}
	}
	return true
}

// cutText is the beginning of a text in so many bytes, with its end marked.
func cutText(text string, most int) string {
	const end = "…"
	if len(text) <= most {
		return text
	}
	n := max(most-len(end), 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + end
}

package event

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
)

// line writes the members of a JSON object one after the other.
type line struct {
	text []byte
	more bool // a member has been written
}

func (l *line) key(name string) {
	if l.more {
		l.text = append(l.text, ',')
	}
	l.more = true
	l.text = append(value.AppendJSONString(l.text, name), ':')
}

func (l *line) str(name, s string) {
	l.key(name)
	l.text = value.AppendJSONString(l.text, s)
}

func (l *line) num(name string, n int64) {
	l.key(name)
	l.text = value.AppendJSONNumber(l.text, float64(n))
}

func (l *line) time(name string, t time.Time) { l.num(name, t.UnixMilli()) }

func (l *line) truth(name string, b bool) {
	l.key(name)
	l.text = strconv.AppendBool(l.text, b)
}

func (l *line) raw(name string, text json.RawMessage) {
	if text != nil {
		l.key(name)
		l.text = append(l.text, text...)
	}
}

// any writes a value that user code gave; one that cannot be encoded is left out.
func (l *line) any(name string, v any) {
	if v == nil {
		return
	}
	encoded, err := wire.Append(nil, v, name)
	if err != nil {
		return
	}
	if text, err := value.AppendJSON(nil, encoded); err == nil {
		l.raw(name, text)
	}
}

func (l *line) err(name string, err error) {
	if err != nil {
		l.key(name)
		l.text = appendError(l.text, err, 8)
	}
}

// appendError writes an error as {code, message, cause?}, at most depth errors of the chain.
func appendError(dst []byte, err error, depth int) []byte {
	l := line{text: append(dst, '{')}
	code, message := "Error", err.Error()
	if e, ok := err.(*host.Error); ok {
		message = e.Message
		if e.Code != "" {
			code = string(e.Code)
		} else if e.Name != "" {
			code = e.Name
		}
	}
	l.str("code", code)
	l.str("message", message)
	if cause := errors.Unwrap(err); cause != nil && depth > 1 {
		l.key("cause")
		l.text = appendError(l.text, cause, depth-1)
	}
	return append(l.text, '}')
}

func (l *line) end() ([]byte, error) { return append(l.text, '}'), nil }

// begin starts the line of an event.
func begin(e Event) line {
	h := e.Meta()
	l := line{text: append(make([]byte, 0, 256), '{')}
	l.str("event", e.Kind().String())
	l.num("seq", int64(h.Seq))
	l.time("at", h.At)
	if h.TurnID != "" {
		l.str("turnId", h.TurnID)
	}
	if h.DispatchID != "" {
		l.str("dispatchId", h.DispatchID)
	}
	if h.Iteration >= 0 {
		l.num("iteration", int64(h.Iteration))
	}
	return l
}

// span writes when something began and ended.
func (l *line) span(from, to time.Time) {
	l.time("startedAt", from)
	l.time("endedAt", to)
	l.num("durationMs", to.UnixMilli()-from.UnixMilli())
}

func (d *StreamDelta) line(e Event) ([]byte, error) {
	l := begin(e)
	at := e.Meta().At
	l.str("id", d.ID)
	l.str("aDelta", d.Delta)
	l.num("length", int64(len(d.Full)))
	l.truth("isComplete", d.IsComplete)
	if d.IsInterrupted {
		l.truth("isInterrupted", true)
	}
	l.time("createdAt", d.CreatedAt)
	l.time("updatedAt", at)
	if d.IsComplete {
		l.time("completedAt", at)
		l.str("full", d.Full)
	}
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *Message) MarshalJSON() ([]byte, error) { return e.line(e) }

// MarshalJSON writes the event as a line of the event log.
func (e *Thought) MarshalJSON() ([]byte, error) { return e.line(e) }

// MarshalJSON writes the event as a line of the event log.
func (e *ToolCall) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.str("id", e.ID)
	l.str("tool", e.Tool)
	l.raw("args", e.Args)
	l.str("checksum", e.Checksum)
	l.optional("executionId", e.ExecutionID)
	l.optional("providerCallId", e.ProviderCallID)
	l.truth("isComplete", e.IsComplete)
	l.truth("isError", e.IsError)
	if e.ResultsJSON != nil {
		l.raw("results", e.ResultsJSON)
	} else {
		l.any("results", e.Results)
	}
	l.time("createdAt", e.CreatedAt)
	l.time("updatedAt", e.At)
	if e.IsComplete {
		l.time("completedAt", e.At)
	}
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *TurnStart) MarshalJSON() ([]byte, error) { return startLine(e) }

// MarshalJSON writes the event as a line of the event log.
func (e *DispatchStart) MarshalJSON() ([]byte, error) { return startLine(e) }

// MarshalJSON writes the event as a line of the event log.
func (e *IterationStart) MarshalJSON() ([]byte, error) { return startLine(e) }

func startLine(e Event) ([]byte, error) {
	l := begin(e)
	l.time("startedAt", e.Meta().At)
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *TurnEnd) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.str("status", e.Status.String())
	l.span(e.StartedAt, e.At)
	l.err("error", e.Err)
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *DispatchEnd) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.str("status", e.Status.String())
	l.num("iterations", int64(e.Iterations))
	l.span(e.StartedAt, e.At)
	l.err("error", e.Err)
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *IterationEnd) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.str("status", e.Status.String())
	l.span(e.StartedAt, e.At)
	if len(e.Discarded) > 0 {
		l.key("discarded")
		l.text = append(l.text, '[')
		for i := range e.Discarded {
			d := &e.Discarded[i]
			if i > 0 {
				l.text = append(l.text, ',')
			}
			item := line{text: append(l.text, '{')}
			item.str("op", string(d.Op))
			item.str("kind", d.Kind)
			item.str("id", d.ID)
			l.text = append(item.text, '}')
		}
		l.text = append(l.text, ']')
	}
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *ToolExecutionStart) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.execution(&e.ToolExecution)
	l.raw("args", e.Args)
	l.time("startedAt", e.At)
	return l.end()
}

func (l *line) execution(e *ToolExecution) {
	l.str("toolName", e.ToolName)
	l.str("callId", e.CallID)
	l.optional("executionId", e.ExecutionID)
	l.optional("providerCallId", e.ProviderCallID)
}

// optional writes a text that may be absent.
func (l *line) optional(key, text string) {
	if text != "" {
		l.str(key, text)
	}
}

// MarshalJSON writes the event as a line of the event log.
func (e *ToolExecutionEnd) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.execution(&e.ToolExecution)
	l.truth("isError", e.IsError)
	l.span(e.StartedAt, e.At)
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *TurnGateOpen) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.str("gateId", e.Gate.ID())
	l.str("reason", e.Gate.Reason())
	l.raw("payload", e.Gate.Payload())
	l.time("createdAt", e.Gate.CreatedAt())
	l.str("digest", e.Gate.Digest())
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *TurnGateClosed) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.str("gateId", e.GateID)
	l.str("result", e.Result.String())
	l.time("settledAt", e.At)
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *Log) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.str("level", e.Level.String())
	l.str("kind", e.Type)
	l.str("message", e.Message)
	l.raw("payload", e.Payload)
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *Warning) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.str("source", e.Source)
	l.str("kind", e.Type)
	l.str("message", e.Message)
	l.err("error", e.Err)
	l.raw("payload", e.Payload)
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *Error) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.err("error", e.Err)
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *GenerationStats) MarshalJSON() ([]byte, error) {
	l := begin(e)
	if n := len(e.Stats); n > 2 && e.Stats[0] == '{' {
		l.text = append(append(l.text, ','), e.Stats[1:n-1]...)
	}
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *ModelCallStart) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.model(&e.ModelCall)
	l.time("startedAt", e.At)
	return l.end()
}

// MarshalJSON writes the event as a line of the event log.
func (e *ModelCallEnd) MarshalJSON() ([]byte, error) {
	l := begin(e)
	l.model(&e.ModelCall)
	l.str("status", e.Status.String())
	if e.HTTPStatus != 0 {
		l.num("httpStatus", int64(e.HTTPStatus))
	}
	l.span(e.StartedAt, e.At)
	if !e.FirstTokenAt.IsZero() {
		l.time("firstTokenAt", e.FirstTokenAt)
	}
	if u := e.Usage; u != nil {
		l.key("usage")
		usage := line{text: append(l.text, '{')}
		usage.num("promptTokens", int64(u.PromptTokens))
		usage.num("completionTokens", int64(u.CompletionTokens))
		usage.num("totalTokens", int64(u.TotalTokens))
		l.text = append(usage.text, '}')
	}
	l.err("error", e.Err)
	return l.end()
}

func (l *line) model(c *ModelCall) {
	l.optional("provider", c.Provider)
	l.str("model", c.Model)
	l.num("attempt", int64(c.Attempt))
}

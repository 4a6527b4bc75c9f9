package turn

import (
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/whole"
)

// Report adds a delta to a stream that an executor reports.
func (c *Context) Report(stream uint8, id, delta string, isComplete bool) error {
	_, err := c.Invoke(abi.MethodReport, func(b []byte) ([]byte, error) {
		// Unlike other frames, it takes ill-formed text, which is replaced.
		b = value.AppendInt(value.AppendListHeader(b, 4), int64(stream))
		b = value.AppendString(value.AppendString(b, id), c.whole(false, stream, id, delta, isComplete))
		return value.AppendBool(b, isComplete), nil
	})
	return err
}

// Interrupt adds the last delta to a stream that was interrupted.
func (c *Context) Interrupt(stream uint8, id, delta string) error {
	if !c.turn.core.Interrupts() {
		return c.Report(stream, id, delta, true)
	}
	_, err := c.Invoke(abi.MethodInterrupt, func(b []byte) ([]byte, error) {
		return (&abi.InterruptArgs{Stream: stream, ID: id, Delta: c.whole(false, stream, id, delta, true)}).Append(b), nil
	})
	return err
}

// cut is a stream whose last delta has ended within a character.
type cut struct {
	streamKey
	emitted bool
	stream  uint8
}

// whole is a delta of a stream with whole characters. The caller holds t.mu.
func (c *Context) whole(emitted bool, stream uint8, id, delta string, last bool) string {
	t := c.turn
	if n := len(delta); len(t.cuts) == 0 && (last || n == 0 || delta[n-1] < utf8.RuneSelf) { // almost always
		return delta
	}
	key := cut{streamKey{c.number, id}, emitted, stream}
	rest := t.cuts[key]
	delta = rest.Next(delta, last)
	if rest == "" {
		delete(t.cuts, key)
		return delta
	}
	if t.cuts == nil {
		t.cuts = make(map[cut]whole.Text)
	}
	t.cuts[key] = rest
	return delta
}

// ReportToolCall reports a tool call; nil results for none.
func (c *Context) ReportToolCall(id string, args *abi.ReportToolCallArgs, results any) error {
	_, err := c.Invoke(abi.MethodReportToolCall, func(b []byte) ([]byte, error) {
		if results != nil {
			c.keepResults(id, results)
		}
		return args.Append(b), nil
	})
	return err
}

// EmitStream sends listeners a delta of a message or a thought from this context.
func (c *Context) EmitStream(kind event.Kind, id, delta string, isComplete bool) error {
	return c.emitStream(kind, kind, id, delta, isComplete)
}

// EmitInterrupted sends listeners the last delta of a message or a thought that was interrupted.
func (c *Context) EmitInterrupted(kind event.Kind, id, delta string) error {
	as := kind
	if c.turn.core.Interrupts() {
		as += messageInterrupted - event.KindMessage
	}
	return c.emitStream(kind, as, id, delta, true)
}

// emitStream emits to a stream of one kind, as an event of another.
func (c *Context) emitStream(kind, as event.Kind, id, delta string, isComplete bool) error {
	return c.Emit(as, func() []byte {
		delta := c.whole(true, uint8(kind), id, delta, isComplete)
		s := c.emittedStream(int(kind-event.KindMessage), id)
		c.turn.emitting = s
		return (&abi.StreamEvent{
			ID: id, Created: s.created, Delta: delta, Length: uint64(s.text.Len() + len(delta)), Complete: isComplete,
		}).Append(nil)
	})
}

// emittedStream is the text that a context emits under an id. It begins as what was reported under that id so far; from
// then on neither adds to the other, since the core counts what is reported only. The caller holds t.mu.
func (c *Context) emittedStream(which int, id string) *stream {
	t, key := c.turn, streamKey{c.number, id}
	s := t.emitted[which][key]
	if s != nil {
		return s
	}
	s = &stream{id: id, created: t.tick()}
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

// EmitToolCall sends listeners a report of a tool call from this context; nil results for none.
func (c *Context) EmitToolCall(id string, e *abi.ToolCallEvent, results any) error {
	return c.Emit(event.KindToolCall, func() []byte {
		e.Created = c.turn.tick()
		if results != nil {
			c.keepResults(id, results)
			e.Results = abi.ResultsHost
		}
		return e.Append(nil)
	})
}

// EmitToolEnd sends observers that a tool's handler, started so many milliseconds ago, has ended.
func (c *Context) EmitToolEnd(e *abi.ToolEndEvent, tookMs int64) error {
	return c.Emit(event.KindToolExecutionEnd, func() []byte {
		e.Started = uint64(max(int64(c.turn.tick())-tookMs, 0))
		return e.Append(nil)
	})
}

// Emit is MethodEmit. payload is called under the turn's lock.
func (c *Context) Emit(kind event.Kind, payload func() []byte) error {
	_, err := c.Invoke(abi.MethodEmit, func(b []byte) ([]byte, error) {
		return (&abi.EmitArgs{Kind: uint8(kind), Payload: payload()}).Append(b), nil
	})
	return err
}

// keepResults holds what was reported as a tool call's results for its events. The caller holds t.mu.
func (c *Context) keepResults(id string, results any) {
	t := c.turn
	if t.results == nil {
		t.results = make(map[streamKey]any)
	}
	t.results[streamKey{c.number, id}] = results
}

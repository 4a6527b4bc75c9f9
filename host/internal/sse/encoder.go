package sse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/event"
)

// block is the number of bytes of text that fill a text block.
const block = 256

// Encoder encodes the events of one response. What it gives for an event depends on the events before it, never on when
// they came: a text block stays open while text comes, so that each delta can be sent at once and costs only its own
// bytes. Its methods append to dst.
type Encoder struct {
	head head        // the shared members as the reader has them
	text event.Event // the delta that was written last, unless it was complete or something else followed
	from int         // length of the stream's text where the open block begins
	open bool        // a text block is open
	seq  uint32      // number of the last event
}

// head are the members that most events share with the one before.
type head struct {
	at                 int64
	turnID, dispatchID string
	iteration          int
	written            bool // the reader has them
}

func headOf(e event.Event) head {
	h := e.Meta()
	return head{h.At.UnixMilli(), h.TurnID, h.DispatchID, h.Iteration, true}
}

// NewEncoder returns an encoder for a reader that has the events up to a number.
func NewEncoder(after uint32) *Encoder { return &Encoder{seq: after} }

// Event appends an event.
func (e *Encoder) Event(dst []byte, ev event.Event) ([]byte, error) {
	delta := deltaOf(ev)
	if delta != nil && e.continues(ev, delta) {
		return e.delta(dst, ev, delta), nil
	}
	dst = e.Close(dst)
	dst = append(dst, "data:{"...)
	start := len(dst)
	dst = appendMember(dst, start, "event", quoted(ev.Kind().String()))
	dst = e.appendHead(dst, start, headOf(ev))
	if delta != nil {
		dst = appendText(dst, start, ev, delta)
	} else {
		line, err := ev.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if dst, err = appendRest(dst, start, line); err != nil {
			return nil, err
		}
	}
	e.seq, e.text = ev.Meta().Seq, nil
	if delta != nil && !delta.IsComplete {
		e.text = ev
	}
	return appendID(append(dst, '}'), e.seq), nil
}

// Close ends an open block. A comment, and an end of the response, needs it.
func (e *Encoder) Close(dst []byte) []byte {
	if !e.open {
		return dst
	}
	e.open = false
	return appendID(append(dst, `"]`...), e.seq)
}

// End ends the turn.
func (e *Encoder) End(dst []byte, end End) []byte {
	dst = append(e.Close(dst), "event:end\ndata:{"...)
	start := len(dst)
	dst = appendMember(dst, start, "status", quoted(end.Status.String()))
	dst = appendMember(dst, start, "iterations", strconv.AppendInt(nil, int64(end.Iterations), 10))
	if end.Err != nil {
		dst = appendMember(dst, start, "error", ErrorJSON(end.Err))
	}
	if end.Object != nil {
		dst = appendMember(dst, start, "object", end.Object)
	}
	return appendID(append(dst, '}'), e.seq+1)
}

// Fault says why the response ends before the turn.
func (e *Encoder) Fault(dst []byte, err error) []byte {
	dst = append(e.Close(dst), "event:fault\ndata:"...)
	return append(append(dst, ErrorJSON(err)...), "\n\n"...)
}

func (e *Encoder) continues(ev event.Event, delta *event.StreamDelta) bool {
	if e.text == nil || delta.IsComplete || e.text.Kind() != ev.Kind() || deltaOf(e.text).ID != delta.ID {
		return false
	}
	a, b := e.text.Meta(), ev.Meta()
	return a.TurnID == b.TurnID && a.DispatchID == b.DispatchID && a.Iteration == b.Iteration
}

func (e *Encoder) delta(dst []byte, ev event.Event, delta *event.StreamDelta) []byte {
	from, seq := len(deltaOf(e.text).Full), ev.Meta().Seq
	// Events that were read from such a stream may share a number: a block has all of them.
	if e.open && from-e.from >= block && seq > e.seq {
		dst = e.Close(dst)
	}
	if !e.open {
		at := ev.Meta().At.UnixMilli()
		dst = strconv.AppendInt(append(dst, "data:["...), at-e.head.at, 10)
		dst = append(dst, `,"`...)
		e.open, e.head.at, e.from = true, at, from
	}
	e.text, e.seq = ev, seq
	text := quoted(delta.Delta)
	return append(dst, text[1:len(text)-1]...)
}

// appendHead appends the shared members that are not as in the event before.
func (e *Encoder) appendHead(dst []byte, start int, h head) []byte {
	last := e.head
	if !last.written {
		last = head{iteration: -1}
	}
	if h.at != last.at || !last.written {
		dst = appendMember(dst, start, "at", strconv.AppendInt(nil, h.at, 10))
	}
	text := func(name, now, before string) {
		switch {
		case now == before:
		case now == "":
			dst = appendMember(dst, start, name, null)
		default:
			dst = appendMember(dst, start, name, quoted(now))
		}
	}
	text("turnId", h.turnID, last.turnID)
	text("dispatchId", h.dispatchID, last.dispatchID)
	switch {
	case h.iteration == last.iteration:
	case h.iteration < 0:
		dst = appendMember(dst, start, "iteration", null)
	default:
		dst = appendMember(dst, start, "iteration", strconv.AppendInt(nil, int64(h.iteration), 10))
	}
	e.head = h
	return dst
}

var null = []byte("null")

// appendText appends the members of a delta that the reader cannot know.
func appendText(dst []byte, start int, ev event.Event, d *event.StreamDelta) []byte {
	dst = appendMember(dst, start, "id", quoted(d.ID))
	dst = appendMember(dst, start, "aDelta", quoted(d.Delta))
	dst = appendMember(dst, start, "length", strconv.AppendInt(nil, int64(len(d.Full)), 10))
	if d.IsComplete {
		dst = appendMember(dst, start, "isComplete", []byte("true"))
	}
	if d.IsInterrupted {
		dst = appendMember(dst, start, "isInterrupted", []byte("true"))
	}
	if created := d.CreatedAt.UnixMilli(); created != ev.Meta().At.UnixMilli() {
		dst = appendMember(dst, start, "createdAt", strconv.AppendInt(nil, created, 10))
	}
	return dst
}

// appendRest appends the members of a line of the event log that are not shared.
func appendRest(dst []byte, start int, line []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		switch name {
		case "event", "seq", "at", "turnId", "dispatchId", "iteration":
		default:
			dst = appendMember(dst, start, fmt.Sprint(name), v)
		}
	}
	return dst, nil
}

// appendMember appends a member of the object whose members begin at start.
func appendMember(dst []byte, start int, name string, v []byte) []byte {
	if len(dst) > start {
		dst = append(dst, ',')
	}
	dst = append(value.AppendJSONString(dst, name), ':')
	return append(dst, v...)
}

func quoted(s string) []byte { return value.AppendJSONString(nil, s) }

func appendID(dst []byte, seq uint32) []byte {
	dst = strconv.AppendUint(append(dst, "\nid:"...), uint64(seq), 10)
	return append(dst, "\n\n"...)
}

// deltaOf is the delta of a message or thought; nil for other events.
func deltaOf(ev event.Event) *event.StreamDelta {
	switch ev := ev.(type) {
	case *event.Message:
		return &ev.StreamDelta
	case *event.Thought:
		return &ev.StreamDelta
	}
	return nil
}

// ErrorJSON is an error as event lines show it.
func ErrorJSON(err error) []byte {
	line, marshalErr := (&event.Error{Err: err}).MarshalJSON()
	var members struct{ Error json.RawMessage }
	if marshalErr != nil || json.Unmarshal(line, &members) != nil {
		return []byte(`{"code":"Error","message":""}`)
	}
	return members.Error
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// lines prints a turn's events as JSON lines, each the bytes of its MarshalJSON.
type lines struct {
	w    io.Writer
	stop func(error) // called at the first failure

	mu  sync.Mutex
	err error // the first failure
}

func (l *lines) event(ev event.Event) {
	text, err := ev.MarshalJSON()
	l.write(append(text, '\n'), err)
}

// write prints a line, unless there is or was an error.
func (l *lines) write(line []byte, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	if err == nil {
		_, err = l.w.Write(line)
	}
	if err != nil {
		l.err = fmt.Errorf("standard output: %w", err)
		l.stop(l.err)
	}
}

// end prints the last line: what the turn ended with. ctx is nil for a turn that did not begin.
func (l *lines) end(ctx *turns.TurnContext, result *turns.Result) error {
	l.write(appendEnd(nil, ctx, result), nil)
	return l.err
}

// appendEnd appends the last line of an event log.
func appendEnd(dst []byte, ctx *turns.TurnContext, result *turns.Result) []byte {
	dst = append(dst, `{"event":"end","status":`...)
	dst = appendString(dst, result.Status.String())
	dst = strconv.AppendInt(append(dst, `,"iterations":`...), int64(result.Iterations), 10)
	var messages []*record.Message
	var thoughts []*record.Thought
	var calls []*record.ToolCall
	if ctx != nil {
		messages, thoughts, calls = ctx.TurnMessages().Slice(), ctx.TurnThoughts().Slice(), ctx.TurnToolCalls().Slice()
	}
	dst = append(dst, `,"messages":`...)
	dst = appendList(dst, messages, func(dst []byte, m *record.Message) []byte {
		dst = appendString(append(dst, `{"role":`...), string(m.Role))
		return append(appendString(append(dst, `,"content":`...), m.Content), '}')
	})
	dst = append(dst, `,"thoughts":`...)
	dst = appendList(dst, thoughts, func(dst []byte, t *record.Thought) []byte { return appendString(dst, t.Content) })
	dst = append(dst, `,"toolCalls":`...)
	dst = appendList(dst, calls, func(dst []byte, c *record.ToolCall) []byte {
		dst = appendString(append(dst, `{"tool":`...), c.Tool)
		dst = appendCompact(append(dst, `,"args":`...), c.Args)
		dst = strconv.AppendBool(append(dst, `,"isError":`...), c.IsError)
		text, _ := c.Results.(string) // a chat executor stores texts
		return append(appendString(append(dst, `,"results":`...), text), '}')
	})
	dst = append(dst, `,"error":`...)
	if result.Err == nil {
		dst = append(dst, "null"...)
	} else {
		code, message := describe(result.Err)
		dst = appendString(append(dst, `{"code":`...), code)
		dst = append(appendString(append(dst, `,"message":`...), message), '}')
	}
	return append(dst, "}\n"...)
}

// describe returns an error's code, or what comes closest, and its message, as events have them.
func describe(err error) (code, message string) {
	e, ok := err.(*host.Error)
	if !ok {
		return "Error", err.Error()
	}
	switch {
	case e.Code != "":
		code = string(e.Code)
	case e.Name != "":
		code = e.Name
	default:
		code = "Error"
	}
	return code, e.Message
}

func appendList[T any](dst []byte, list []T, element func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(dst, v)
	}
	return append(dst, ']')
}

// appendCompact appends JSON text without white space, null for none.
func appendCompact(dst []byte, text json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return append(dst, "null"...)
	}
	return append(dst, b.Bytes()...)
}

// appendString appends a string as JSON, escaped as JavaScript does: no more than what must be. Anything that is not
// UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	return value.AppendJSONString(dst, value.UTF8(s))
}

package chat

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/framing"
)

const (
	maxErrorBody  = 64 << 10 // bytes of the body of an error response that are read
	doneTimeout   = 1_000    // ms that a stream may stay open after it said that it ends
	finishTimeout = 5_000    // ms that what follows the finish reason, such as token counts, is waited for
)

// receive reads a response to its end. It returns the error to nack with, nil for an answer that can be used; a.err and
// a.failure are not its business.
func (a *Answer) receive(stream runtime.Stream) error {
	chunk, more, err := a.next(stream, a.options.requestTimeout)
	switch {
	case err == errLate:
		return a.late(stream)
	case errors.Is(err, runtime.ErrIdle):
		stream.Cancel()
		return fault.New(fault.ChatRequestTimeout, "no response for "+strconv.FormatUint(a.options.requestTimeout, 10)+" ms")
	case err != nil:
		return err
	case !more:
		a.cut = true
		return fault.New(fault.ChatStreamError, "the exchange ended without a response")
	}
	a.begun, a.retryAfter = true, retryAfter(chunk.Headers, a.d.Now())
	if chunk.Status < 200 || chunk.Status > 299 {
		return a.refused(stream, chunk)
	}
	mediaType := contentType(chunk.Headers)
	body := framing.Sniffer{Limit: maxAnswer, Choose: func(first byte) framing.Format { return a.format(mediaType, first) }}
	event := a.event // made once, since it is a function on the heap
	heard := a.d.Elapsed()
	for more {
		if len(chunk.Data) > 0 {
			if err = body.Write(chunk.Data, event); body.Heard() {
				heard = a.d.Elapsed()
			}
		}
		if err == nil {
			idle := a.options.idleTimeout
			if a.done {
				idle = doneTimeout
			} else if a.finish != "" && (idle == 0 || idle > finishTimeout) {
				idle = finishTimeout
			}
			// Comments keep connections open, but nobody waits for them.
			if quiet := a.d.Elapsed() - heard; idle > 0 && quiet >= idle {
				return a.cutOff(stream, runtime.ErrIdle)
			} else if idle > 0 {
				idle -= quiet
			}
			if chunk, more, err = a.next(stream, idle); err != nil {
				return a.cutOff(stream, err)
			}
			continue
		}
		stream.Cancel()
		return a.unusable(err)
	}
	if err := body.Flush(a.last); err != nil {
		return a.unusable(err)
	}
	return a.unusable(a.end(&body, mediaType))
}

// cutOff tells what an answer is worth whose stream failed. One that has its finish reason is whole.
func (a *Answer) cutOff(stream runtime.Stream, err error) error {
	a.cut = true
	if err == errLate {
		err = a.late(stream)
	} else if errors.Is(err, runtime.ErrIdle) {
		stream.Cancel()
		err = fault.New(fault.ChatStreamStalled, "no event for "+strconv.FormatUint(a.options.idleTimeout, 10)+" ms")
	} else {
		err = fault.Wrap(fault.ChatStreamError, err)
	}
	if a.done || a.finish != "" {
		return nil
	}
	return err
}

// errLate is how next says that the time of the whole call is over.
var errLate = errors.New("chat: the time of the call is over")

// next waits for the next chunk: for idle ms, 0 for as long as it takes, and not beyond the deadline of the call.
func (a *Answer) next(stream runtime.Stream, idle uint64) (chunk runtime.Chunk, more bool, err error) {
	if a.deadline > 0 {
		now := a.d.Elapsed()
		if now >= a.deadline {
			return chunk, false, errLate
		}
		if left := a.deadline - now; idle == 0 || left < idle {
			idle = left
		}
	}
	stream.Idle(idle)
	chunk, more, err = stream.Next()
	if a.deadline > 0 && errors.Is(err, runtime.ErrIdle) && a.d.Elapsed() >= a.deadline {
		err = errLate
	}
	return chunk, more, err
}

// late gives up a response whose call has taken too long.
func (a *Answer) late(stream runtime.Stream) error {
	stream.Cancel()
	return fault.New(fault.ChatTotalTimeout, "the answer took longer than "+strconv.FormatUint(a.options.totalTimeout, 10)+" ms")
}

// unusable returns the error to nack with after reading stopped with err.
func (a *Answer) unusable(err error) error {
	switch {
	case a.broken != nil:
		return a.broken
	case err == nil || err == errStop || err == a.err:
		return nil
	}
	return fault.Wrap(fault.ChatStreamError, err)
}

// refused reads the body of an error response.
func (a *Answer) refused(stream runtime.Stream, head runtime.Chunk) error {
	text := append([]byte(nil), head.Data...)
	for len(text) < maxErrorBody {
		chunk, more, err := a.next(stream, a.options.idleTimeout)
		if err != nil || !more {
			break // what has come is all there is to say
		}
		text = append(text, chunk.Data...)
	}
	stream.Cancel()
	text = bytes.TrimSpace(text[:min(len(text), maxErrorBody)])
	var e *providerError
	if e = parseProviderError(outOfList(text)); e.generation != nil || e.unusable {
		a.failure = e // as in a stream
		return nil
	}
	a.status, a.refusal = head.Status, e
	return e.fault(fault.ChatHTTPError, "status "+strconv.Itoa(head.Status))
}

// outOfList is the JSON of an error without the list that Gemini wraps it into.
func outOfList(text []byte) []byte {
	if len(text) > 0 && text[0] == '[' {
		return bytes.TrimSuffix(bytes.TrimSpace(text[1:]), []byte{']'})
	}
	return text
}

// strayError takes JSON between the events of a stream: an error, or nothing of any use.
func (a *Answer) strayError(text []byte) error {
	text = bytes.TrimSpace(outOfList(text))
	s := value.NewScanner(text)
	for key := range s.Members() {
		if string(key) == "error" && s.Kind() != value.KindNil {
			a.failure = parseProviderError(text)
			return errStop
		}
	}
	return nil
}

func contentType(headers [][2]string) string {
	for _, h := range headers {
		if h[0] == "content-type" {
			mime, _, _ := strings.Cut(h[1], ";")
			return strings.ToLower(strings.TrimSpace(mime))
		}
	}
	return ""
}

// format is how a response is made of events. It shows in its first byte, since the type that the head gives is wrong too
// often. What begins like JSON is one object, or one in each line: the latter where the protocol's streams are such and
// a stream was asked for, or where the head says so.
func (a *Answer) format(mediaType string, first byte) framing.Format {
	switch {
	case first != '{':
		return framing.EventStream
	case mediaType == framing.JSONLines.MediaType():
		return framing.JSONLines
	case a.options.stream && a.options.protocol.Format == framing.JSONLines:
		return framing.JSONLines
	}
	return framing.Single
}

// end looks at what has come when the body has ended.
func (a *Answer) end(body *framing.Sniffer, mediaType string) error {
	if a.failure != nil {
		return nil
	}
	if f, begun := body.Format(); begun && f == framing.EventStream && a.empty() && mediaType != f.MediaType() {
		return errors.New("the response is neither an event stream nor JSON, but " + strconv.Quote(mediaType))
	}
	if !a.done && a.finish == "" && !a.empty() {
		a.cut = true
		return errors.New("the stream ended before the answer did")
	}
	return nil
}

// last takes an event that the end of the body ended. It may be a part of one.
func (a *Answer) last(e framing.Event) error {
	s := value.NewScanner(e.Data)
	s.Skip()
	if e.Type != nil && s.End() != nil && string(bytes.TrimSpace(e.Data)) != "[DONE]" {
		return nil
	}
	return a.event(e)
}

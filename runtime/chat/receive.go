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
	maxErrorBody  = 64 << 10 // bytes of an error response to read
	doneTimeout   = 1_000    // ms that a stream may stay open after announcing its end
	finishTimeout = 5_000    // ms to wait after the finish reason for the rest, such as token counts
)

// receive reads a response to its end. It returns the error to nack with, nil for a usable answer; it ignores a.err and
// a.failure.
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
	event := a.event // made once, since closures escape to the heap
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
			// Comments keep connections open, but do not count as progress.
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

// cutOff decides the fate of an answer whose stream failed. It is complete if it has a finish reason.
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

// errLate says that the whole call took too long.
var errLate = errors.New("chat: the time of the call is over")

// next waits for the next chunk for idle ms (0 for no limit), and not beyond the deadline of the call.
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

// late cancels a response whose call took too long.
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
			break // the rest of the error is lost
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

// outOfList unwraps an error that Gemini puts into a list.
func outOfList(text []byte) []byte {
	if len(text) > 0 && text[0] == '[' {
		return bytes.TrimSuffix(bytes.TrimSpace(text[1:]), []byte{']'})
	}
	return text
}

// strayError checks JSON between the events of a stream for an error, and ignores anything else.
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

// format detects the format of a response from its first byte, since the declared type is too often wrong. A body that
// begins like JSON is one object, or JSON lines if the protocol's streams are and a stream was requested, or if the
// head says so.
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

// end checks the response after the body has ended.
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

// last handles an event that the end of the body completed. It may be cut off.
func (a *Answer) last(e framing.Event) error {
	s := value.NewScanner(e.Data)
	s.Skip()
	if e.Type != nil && s.End() != nil && string(bytes.TrimSpace(e.Data)) != "[DONE]" {
		return nil
	}
	return a.event(e)
}

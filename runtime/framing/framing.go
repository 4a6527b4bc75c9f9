// Package framing cuts the body of a response, which comes in chunks of any size, into the events that it is made of:
// server-sent events, lines of JSON, or one event that is the whole body.
//
// Line ends are LF, CR and CR LF, in any mixture. A byte order mark at the start of a body is skipped. What is held of
// an event that is not complete has a limit, and nothing is searched twice, however a body is cut.
package framing

import (
	"bytes"
	"strconv"
)

// DefaultLimit is the limit of a parser that sets none.
const DefaultLimit = 8 << 20

// Event is one event of a body. Its slices are valid until the function it was given to returns. They hold the bytes
// of the body; whether they are UTF-8 is not checked.
type Event struct {
	Type []byte // of a server-sent event "message" unless the stream says otherwise, of a line "message", of a whole body nil
	Data []byte // of a server-sent event its data lines joined by LF, of a line all but its end
	ID   []byte // the last id of the server-sent events so far
	// Stray says that Data are lines of a stream of server-sent events that are no fields of any, and begin like JSON:
	// gateways write errors so.
	Stray bool
}

// LimitError says that an event, or a line outside of one, is longer than the parser may hold.
type LimitError struct {
	Limit int // bytes
}

func (e *LimitError) Error() string {
	return "framing: an event or line is longer than " + strconv.Itoa(e.Limit) + " bytes"
}

// Parser turns the bytes of a body into events. A parser that has returned an error, or has been flushed, is spent.
type Parser interface {
	// Write takes the next bytes of the body and calls emit for each event that they complete. It keeps nothing of
	// chunk. It stops at an error of emit and returns it; its own is a [*LimitError].
	Write(chunk []byte, emit func(Event) error) error
	// Flush says that the body has ended: an event that the end cuts off is taken as it is.
	Flush(emit func(Event) error) error
	// Heard reports whether any part of an event has come since it was asked last. Comments, blank lines and what else
	// carries nothing are no part of one.
	Heard() bool
}

// Format is how a body is made of events.
type Format uint8

// Formats.
const (
	EventStream Format = iota // server-sent events
	JSONLines                 // JSON texts, each in a line of its own
	Single                    // one event
)

// MediaType is what a request names to get the format.
func (f Format) MediaType() string {
	return [...]string{EventStream: "text/event-stream", JSONLines: "application/x-ndjson", Single: "application/json"}[f]
}

// Parser returns a parser of the format that holds at most limit bytes; 0 is [DefaultLimit].
func (f Format) Parser(limit int) Parser {
	switch f {
	case JSONLines:
		return &Lines{Limit: limit}
	case Single:
		return &Whole{Limit: limit}
	}
	return &SSE{Limit: limit}
}

var message = []byte("message")

const (
	byteOrderMark = "\xef\xbb\xbf"
	markDone      = 3
)

// mark skips a byte order mark at the start of a body, which may come in parts.
type mark struct {
	seen uint8 // how many bytes of the mark the body has begun with; markDone when that is settled
}

// skip returns what of the body begins with chunk: held are bytes that came before and turned out to be none of a mark.
func (m *mark) skip(chunk []byte) (held string, rest []byte) {
	for len(chunk) > 0 && m.seen < markDone {
		if chunk[0] != byteOrderMark[m.seen] {
			return m.end(), chunk
		}
		chunk = chunk[1:]
		m.seen++
	}
	return "", chunk
}

// end settles what the body begins with, and returns the bytes that turned out to be none of a mark.
func (m *mark) end() (held string) {
	if m.seen < markDone {
		held = byteOrderMark[:m.seen]
	}
	m.seen = markDone
	return held
}

// splitter cuts bytes into lines.
type splitter struct {
	mark
	line    []byte // start of a line whose end has not come yet
	afterCR bool   // the last byte was a CR that ended a line: an LF now belongs to it
	told    int    // bytes of line that grown has told of
}

// grown reports whether the line whose end has not come has become longer since it was asked last.
func (s *splitter) grown() bool {
	grown := len(s.line) > s.told
	s.told = len(s.line)
	return grown
}

// write takes the next bytes. It calls fits before it holds part of a line, with the length that it would then hold,
// and end for each whole line, without its end.
func (s *splitter) write(chunk []byte, fits func(int) error, end func([]byte) error) error {
	if s.seen < markDone {
		var held string
		held, chunk = s.skip(chunk)
		s.line = append(s.line, held...)
	}
	if s.afterCR && len(chunk) > 0 {
		s.afterCR = false
		if chunk[0] == '\n' {
			chunk = chunk[1:]
		}
	}
	// The next LF and the next CR are each searched for once, however many of the other come before it.
	lf, cr := -1, -1
	for at := 0; ; {
		if lf < at {
			lf = next(chunk, at, '\n')
		}
		if cr < at {
			cr = next(chunk, at, '\r')
		}
		stop := min(lf, cr)
		if stop == len(chunk) {
			return s.hold(chunk[at:], fits)
		}
		line := chunk[at:stop]
		if len(s.line) > 0 {
			if err := s.hold(line, fits); err != nil {
				return err
			}
			line = s.line
		}
		err := end(line)
		s.line, s.told = s.line[:0], 0
		if err != nil {
			return err
		}
		at = stop + 1
		if stop == cr {
			if at == len(chunk) {
				s.afterCR = true
			} else if chunk[at] == '\n' {
				at++
			}
		}
	}
}

// flush ends a line that has no end.
func (s *splitter) flush(end func([]byte) error) error {
	s.line = append(s.line, s.end()...)
	if len(s.line) == 0 {
		return nil
	}
	line := s.line
	s.line = nil
	return end(line)
}

// next returns where c is in chunk from at on, its length when it is not.
func next(chunk []byte, at int, c byte) int {
	if i := bytes.IndexByte(chunk[at:], c); i >= 0 {
		return at + i
	}
	return len(chunk)
}

// hold keeps the part of a line.
func (s *splitter) hold(part []byte, fits func(int) error) error {
	if len(part) == 0 {
		return nil
	}
	if err := fits(len(s.line) + len(part)); err != nil {
		return err
	}
	s.line = append(s.line, part...)
	return nil
}

// within returns an error when n bytes are more than a limit allows.
func within(n, limit int) error {
	if limit == 0 {
		limit = DefaultLimit
	}
	if n > limit {
		return &LimitError{Limit: limit}
	}
	return nil
}

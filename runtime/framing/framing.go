// Package framing splits the body of a response, which arrives in chunks of any size, into events: server-sent events,
// JSON lines, or one event for the whole body.
//
// Line ends are LF, CR and CR LF, in any mixture. A byte order mark at the start of a body is skipped. An incomplete
// event may not exceed a limit, and nothing is searched twice, however the body is cut.
package framing

import (
	"bytes"
	"strconv"
)

// DefaultLimit is the default limit of a parser.
const DefaultLimit = 8 << 20

// Event is one event of a body. Its slices are valid until the function that receives it returns. They hold the bytes
// of the body, without any check that they are UTF-8.
type Event struct {
	Type []byte // server-sent event: its type, "message" by default; line: "message"; whole body: nil
	Data []byte // server-sent event: its data lines, joined by LF; line: all but its end
	ID   []byte // last id of the server-sent events so far
	// Stray marks data outside the fields of server-sent events that begins like JSON: some gateways send errors this
	// way.
	Stray bool
}

// LimitError says that an event, or a line outside of one, exceeds the parser's limit.
type LimitError struct {
	Limit int // bytes
}

func (e *LimitError) Error() string {
	return "framing: an event or line is longer than " + strconv.Itoa(e.Limit) + " bytes"
}

// Parser splits the bytes of a body into events. After an error or Flush it cannot be used again.
type Parser interface {
	// Write processes the next bytes of the body and calls emit for each event that they complete. It does not keep
	// chunk. It stops at an error of emit and returns it; its own error is a [*LimitError].
	Write(chunk []byte, emit func(Event) error) error
	// Flush ends the body: it emits an event that the end cuts off as it is.
	Flush(emit func(Event) error) error
	// Heard reports whether any part of an event has arrived since the last call. Comments, blank lines and other data
	// without content do not count.
	Heard() bool
}

// Format is a way to split a body into events.
type Format uint8

// Formats.
const (
	EventStream Format = iota // server-sent events
	JSONLines                 // a JSON text per line
	Single                    // one event
)

// MediaType is the media type with which a request asks for the format.
func (f Format) MediaType() string {
	return [...]string{EventStream: "text/event-stream", JSONLines: "application/x-ndjson", Single: "application/json"}[f]
}

// Parser returns a parser that holds at most limit bytes; 0 is [DefaultLimit].
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

// mark skips a byte order mark at the start of a body, which may arrive in parts.
type mark struct {
	seen uint8 // length of the mark's prefix at the start of the body; markDone once decided
}

// skip returns the start of the body: held are earlier bytes that were not a mark after all, rest is what chunk adds.
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

// end decides the start of the body, and returns earlier bytes that were not a mark after all.
func (m *mark) end() (held string) {
	if m.seen < markDone {
		held = byteOrderMark[:m.seen]
	}
	m.seen = markDone
	return held
}

// splitter splits bytes into lines.
type splitter struct {
	mark
	line    []byte // start of an incomplete line
	afterCR bool   // the last byte was a CR that ended a line; a following LF belongs to it
	told    int    // length of line at the last call of grown
}

// grown reports whether the incomplete line has grown since the last call.
func (s *splitter) grown() bool {
	grown := len(s.line) > s.told
	s.told = len(s.line)
	return grown
}

// write processes the next bytes. It calls fits with the new length before it holds part of a line, and end for each
// complete line, without its end.
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
	// Search the next LF and the next CR only once each, however often the other occurs before it.
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

// flush ends a line without a line end.
func (s *splitter) flush(end func([]byte) error) error {
	s.line = append(s.line, s.end()...)
	if len(s.line) == 0 {
		return nil
	}
	line := s.line
	s.line = nil
	return end(line)
}

// next returns the position of c in chunk from at on, or the length of chunk.
func next(chunk []byte, at int, c byte) int {
	if i := bytes.IndexByte(chunk[at:], c); i >= 0 {
		return at + i
	}
	return len(chunk)
}

// hold keeps part of a line.
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

// within returns an error if n exceeds a limit.
func within(n, limit int) error {
	if limit == 0 {
		limit = DefaultLimit
	}
	if n > limit {
		return &LimitError{Limit: limit}
	}
	return nil
}

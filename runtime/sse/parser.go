// Package sse parses server-sent events, as the WHATWG HTML standard defines the format, from chunks of any size.
//
// One thing is added to the standard: an event that the end of the stream cuts off before its blank line is delivered by
// [Parser.Flush], because providers of models end their streams so.
package sse

import (
	"bytes"
	"strconv"
)

// DefaultLimit is the limit of a [Parser] that sets none.
const DefaultLimit = 8 << 20

// Event is one event of a stream. Its slices are valid until the function it was given to returns. They hold the bytes
// of the stream; whether they are UTF-8 is not checked.
type Event struct {
	Type []byte // "message" unless the stream says otherwise
	Data []byte // lines joined by LF
	ID   []byte // the last event id of the stream so far
}

// LimitError says that an event, or a line outside of one, is longer than the parser may hold.
type LimitError struct {
	Limit int // bytes
}

func (e *LimitError) Error() string {
	return "sse: an event or line is longer than " + strconv.Itoa(e.Limit) + " bytes"
}

// Parser turns the bytes of a stream into events. The zero Parser is ready for use, with [DefaultLimit]. A Parser that
// has returned an error, or has been flushed, is spent.
type Parser struct {
	// Limit bounds what is held of an event that is not complete, in bytes; 0 is DefaultLimit.
	Limit int

	line     []byte // start of a line whose end has not come yet
	data     []byte // data lines of the event, each with an LF at its end
	typ      []byte
	id       []byte
	retry    int64
	hasRetry bool
	mark     uint8 // how many bytes of a byte order mark the stream has begun with; markDone when that is settled
	afterCR  bool  // the last byte was a CR that ended a line: an LF now belongs to it
}

const (
	byteOrderMark = "\xef\xbb\xbf"
	markDone      = 3
)

var message = []byte("message")

// Retry is the reconnection time that the stream asked for last, in ms; ok is false if it never did.
func (p *Parser) Retry() (ms int64, ok bool) { return p.retry, p.hasRetry }

// Write takes the next bytes of the stream and calls emit for each event that they complete. It keeps nothing of chunk.
// It stops at an error of emit and returns it; its own is a [*LimitError].
func (p *Parser) Write(chunk []byte, emit func(Event) error) error {
	if p.mark < markDone {
		chunk = p.skipMark(chunk)
	}
	if p.afterCR && len(chunk) > 0 {
		p.afterCR = false
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
		end := min(lf, cr)
		if end == len(chunk) {
			return p.hold(chunk[at:])
		}
		line := chunk[at:end]
		if len(p.line) > 0 {
			if err := p.hold(line); err != nil {
				return err
			}
			line = p.line
		}
		err := p.endLine(line, emit)
		p.line = p.line[:0]
		if err != nil {
			return err
		}
		at = end + 1
		if end == cr {
			if at == len(chunk) {
				p.afterCR = true
			} else if chunk[at] == '\n' {
				at++
			}
		}
	}
}

// Flush says that the stream has ended: a last line without its end, and a last event without its blank line, are taken
// as they are.
func (p *Parser) Flush(emit func(Event) error) error {
	if p.mark < markDone { // the stream is a part of a byte order mark
		p.line = append(p.line, byteOrderMark[:p.mark]...)
		p.mark = markDone
	}
	if len(p.line) > 0 {
		line := p.line
		p.line = nil
		if err := p.endLine(line, emit); err != nil {
			return err
		}
	}
	return p.dispatch(emit)
}

// next returns where c is in chunk from at on, its length when it is not.
func next(chunk []byte, at int, c byte) int {
	if i := bytes.IndexByte(chunk[at:], c); i >= 0 {
		return at + i
	}
	return len(chunk)
}

// skipMark consumes a byte order mark at the start of the stream, which may come in parts.
func (p *Parser) skipMark(chunk []byte) []byte {
	for len(chunk) > 0 && p.mark < markDone {
		if chunk[0] != byteOrderMark[p.mark] {
			p.line = append(p.line, byteOrderMark[:p.mark]...)
			p.mark = markDone
			return chunk
		}
		chunk = chunk[1:]
		p.mark++
	}
	return chunk
}

// hold keeps the part of a line.
func (p *Parser) hold(part []byte) error {
	if len(part) == 0 {
		return nil
	}
	if err := p.fits(len(p.line) + len(part)); err != nil {
		return err
	}
	p.line = append(p.line, part...)
	return nil
}

func (p *Parser) fits(n int) error {
	limit := p.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	if len(p.data)+n > limit {
		return &LimitError{Limit: limit}
	}
	return nil
}

// endLine processes a whole line, without its end.
func (p *Parser) endLine(line []byte, emit func(Event) error) error {
	if len(line) == 0 {
		return p.dispatch(emit)
	}
	name, val := line, []byte(nil)
	if colon := bytes.IndexByte(line, ':'); colon >= 0 {
		name, val = line[:colon], line[colon+1:]
		if len(val) > 0 && val[0] == ' ' {
			val = val[1:]
		}
	}
	switch string(name) {
	case "data":
		if err := p.fits(len(val) + 1); err != nil {
			return err
		}
		p.data = append(append(p.data, val...), '\n')
	case "event":
		if err := p.fits(len(val)); err != nil {
			return err
		}
		p.typ = append(p.typ[:0], val...)
	case "id":
		if err := p.fits(len(val)); err != nil {
			return err
		}
		if bytes.IndexByte(val, 0) < 0 {
			p.id = append(p.id[:0], val...)
		}
	case "retry":
		if ms, ok := digits(val); ok {
			p.retry, p.hasRetry = ms, true
		}
	}
	return nil // a comment, whose name is empty, or a field that nobody knows
}

// dispatch ends an event. One without data is dropped.
func (p *Parser) dispatch(emit func(Event) error) error {
	var err error
	if n := len(p.data); n > 0 {
		e := Event{Type: p.typ, Data: p.data[:n-1], ID: p.id}
		if len(e.Type) == 0 {
			e.Type = message
		}
		err = emit(e)
	}
	p.data, p.typ = p.data[:0], p.typ[:0]
	return err
}

// digits reads a number of nothing but ASCII digits; one that int64 cannot hold is not taken.
func digits(b []byte) (int64, bool) {
	n := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' || n > (1<<63-10)/10 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(b) > 0
}

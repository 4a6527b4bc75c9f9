package framing

import "bytes"

// SSE parses server-sent events, as the WHATWG HTML standard defines the format. The zero SSE is ready for use, with
// [DefaultLimit].
//
// Model APIs need two additions to the standard: [SSE.Flush] delivers an event that the end of the stream cuts off
// before its blank line, and data after an event that begins like JSON is an event, too, marked as stray.
type SSE struct {
	// Limit bounds an incomplete event, in bytes; 0 is DefaultLimit.
	Limit int

	split splitter
	emit  func(Event) error // of the running call
	data  []byte            // data lines of the event, each with a final LF
	stray []byte            // lines that are not fields and begin like JSON, each with a final LF
	typ   []byte
	id    []byte
	begun bool // a data line has arrived
	heard bool // a field of an event has arrived since the last call of Heard
}

// Heard implements [Parser].
func (p *SSE) Heard() bool {
	heard := p.split.grown() && p.split.line[0] != ':' || p.heard
	p.heard = false
	return heard
}

// Write implements [Parser].
func (p *SSE) Write(chunk []byte, emit func(Event) error) error {
	p.emit = emit
	return p.split.write(chunk, p.fits, p.endLine)
}

// Flush implements [Parser]. It accepts a last line without its end, and a last event without its blank line.
func (p *SSE) Flush(emit func(Event) error) error {
	p.emit = emit
	if err := p.split.flush(p.endLine); err != nil {
		return err
	}
	return p.dispatch()
}

func (p *SSE) fits(n int) error { return within(len(p.data)+len(p.stray)+n, p.Limit) }

// endLine processes a whole line, without its end.
func (p *SSE) endLine(line []byte) error {
	if len(line) == 0 {
		return p.dispatch()
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
		p.begun, p.heard = true, true
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
	case "retry": // the parser never reconnects
	default: // a comment, whose name is empty, or an unknown field
		if len(p.stray) > 0 || p.begun && len(p.data) == 0 && (line[0] == '{' || line[0] == '[') {
			if err := p.fits(len(line) + 1); err != nil {
				return err
			}
			p.stray = append(append(p.stray, line...), '\n')
			p.heard = true
		}
	}
	return nil
}

// dispatch ends an event. One without data is dropped.
func (p *SSE) dispatch() error {
	var err error
	if n := len(p.data); n > 0 {
		e := Event{Type: p.typ, Data: p.data[:n-1], ID: p.id}
		if len(e.Type) == 0 {
			e.Type = message
		}
		err = p.emit(e)
	}
	if n := len(p.stray); n > 0 && err == nil {
		err = p.emit(Event{Type: message, Data: p.stray[:n-1], ID: p.id, Stray: true})
	}
	p.data, p.typ, p.stray = p.data[:0], p.typ[:0], p.stray[:0]
	return err
}

package framing

import "bytes"

// Lines parses newline-delimited JSON: each non-blank line is an event. The last line needs no line end. The zero Lines
// is ready for use, with [DefaultLimit].
type Lines struct {
	// Limit bounds an incomplete line, in bytes; 0 is DefaultLimit.
	Limit int

	split splitter
	emit  func(Event) error // of the running call
	heard bool              // an event has arrived since the last call of Heard
}

// Heard implements [Parser].
func (p *Lines) Heard() bool {
	heard := p.split.grown() || p.heard
	p.heard = false
	return heard
}

// Write implements [Parser].
func (p *Lines) Write(chunk []byte, emit func(Event) error) error {
	p.emit = emit
	return p.split.write(chunk, p.fits, p.endLine)
}

// Flush implements [Parser].
func (p *Lines) Flush(emit func(Event) error) error {
	p.emit = emit
	return p.split.flush(p.endLine)
}

func (p *Lines) fits(n int) error { return within(n, p.Limit) }

func (p *Lines) endLine(line []byte) error {
	if line = bytes.Trim(line, " \t"); len(line) == 0 {
		return nil
	}
	p.heard = true
	return p.emit(Event{Type: message, Data: line})
}

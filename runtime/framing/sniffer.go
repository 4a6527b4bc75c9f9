package framing

import "bytes"

// Sniffer parses a body whose first byte, after any byte order mark and white space, shows its format.
type Sniffer struct {
	// Choose returns the format of a body from its first byte.
	Choose func(first byte) Format
	// Limit is the limit of the format's parser.
	Limit int

	mark   mark
	format Format
	parser Parser // nil until the first byte has arrived
}

// Format returns the format of the body; ok is false before the first byte.
func (p *Sniffer) Format() (f Format, ok bool) { return p.format, p.parser != nil }

// Write implements [Parser].
func (p *Sniffer) Write(chunk []byte, emit func(Event) error) error {
	if p.parser == nil {
		var held string
		held, chunk = p.mark.skip(chunk)
		if held == "" {
			chunk = bytes.TrimLeft(chunk, " \t\r\n")
		}
		if err := p.begin(held, chunk, emit); err != nil || p.parser == nil {
			return err
		}
	}
	return p.parser.Write(chunk, emit)
}

// begin chooses the parser if the first byte has arrived, and passes it any start of the body before the current chunk.
func (p *Sniffer) begin(held string, chunk []byte, emit func(Event) error) error {
	var first byte
	switch {
	case held != "":
		first = held[0]
	case len(chunk) > 0:
		first = chunk[0]
	default:
		return nil
	}
	p.format = p.Choose(first)
	p.parser = p.format.Parser(p.Limit)
	return p.parser.Write([]byte(held), emit)
}

// Heard implements [Parser].
func (p *Sniffer) Heard() bool { return p.parser != nil && p.parser.Heard() }

// Flush implements [Parser].
func (p *Sniffer) Flush(emit func(Event) error) error {
	if p.parser == nil {
		if err := p.begin(p.mark.end(), nil, emit); err != nil || p.parser == nil {
			return err
		}
	}
	return p.parser.Flush(emit)
}

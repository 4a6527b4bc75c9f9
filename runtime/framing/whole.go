package framing

// Whole returns a body as one event without a type. An empty body has no event. The zero Whole is ready for use, with
// [DefaultLimit].
type Whole struct {
	// Limit bounds the body, in bytes; 0 is DefaultLimit.
	Limit int

	mark mark
	body []byte
	told int // length of the body at the last call of Heard
}

// Heard implements [Parser].
func (p *Whole) Heard() bool {
	grown := len(p.body) > p.told
	p.told = len(p.body)
	return grown
}

// Write implements [Parser].
func (p *Whole) Write(chunk []byte, _ func(Event) error) error {
	held, chunk := p.mark.skip(chunk)
	if err := within(len(p.body)+len(held)+len(chunk), p.Limit); err != nil {
		return err
	}
	p.body = append(append(p.body, held...), chunk...)
	return nil
}

// Flush implements [Parser].
func (p *Whole) Flush(emit func(Event) error) error {
	if p.body = append(p.body, p.mark.end()...); len(p.body) == 0 {
		return nil
	}
	return emit(Event{Data: p.body})
}

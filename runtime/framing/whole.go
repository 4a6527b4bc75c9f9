package framing

// Whole takes a body as one event, which has no type. An empty body has none. The zero Whole is ready for use, with
// [DefaultLimit].
type Whole struct {
	// Limit bounds the body, in bytes; 0 is DefaultLimit.
	Limit int

	mark mark
	body []byte
	told int // bytes of the body that Heard has told of
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

package chat

// Measure visits the pieces of text that Execute would send, in order, each with the handles of its records; prompt and
// tools have none. A piece that is inside is part of the previous one, where JSON escapes may lengthen it. Text and
// handles are valid until the executor is used again. Execute would nack with the same error.
func (e *Executor) Measure(d Dispatch, visit func(text []byte, handles []int64, inside bool)) error {
	st := stateOf(d)
	e, err := e.overridden(d, st)
	if err != nil {
		return err
	}
	p := &st.projection
	if _, err := p.request(e, d); err != nil {
		return err
	}
	visit(p.body[:p.head], nil, false)
	for _, s := range p.spans {
		visit(p.system[s.start:s.end], []int64{s.handle}, true)
	}
	for i, u := range p.units {
		end, last := len(p.body), len(p.line)
		if i+1 < len(p.units) {
			end, last = p.units[i+1].start, p.units[i+1].first
		}
		visit(p.body[u.start:end], p.done[u.first:last], false)
	}
	visit([]byte(e.options.protocol.Close), nil, false)
	return nil
}

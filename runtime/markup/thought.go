package markup

// Reasoning: a block begins with a marker, or with the prompt, and ends with a marker, or with the text.

// openThought begins a block of reasoning.
func (r *Reader) openThought(f Formats) {
	r.think, r.bare = f, true
	r.thought.reopen()
}

// closeThought ends a block of reasoning, if the text is inside of one. What follows is prose.
func (r *Reader) closeThought() {
	r.think, r.last = 0, 0
	r.prose.cut = true
	r.fresh, r.spoke, r.former = 0, r.prose.begun, len(r.calls)
}

// recall acts on a closing marker whose opening one never came: what came since reasoning was closed last was reasoning,
// and calls in it were none.
func (r *Reader) recall() {
	if r.fresh > 0 {
		r.emit(Piece{Kind: Recall, N: r.fresh})
		r.thought.begun = true
	}
	r.calls, r.excess = r.calls[:r.former], 0
	r.prose.begun = r.spoke
	r.prose.space, r.prose.after = r.prose.space[:0], r.prose.after[:0]
	r.closeThought()
}

// runThought takes reasoning up to its end.
func (r *Reader) runThought(t []byte) (n int, wait bool) {
	for i, c := range t {
		r.work++
		if c == '<' || c == '[' {
			n, v := thoughtEnd(t[i:], r.think)
			if v == yes {
				r.addThought(t[:i])
				r.closeThought()
				return i + n, false
			}
			if v == no && r.bare { // opened by the prompt, and once more by the model
				var m *mark
				if m, n, v = r.mark(t[i:], true); v == yes && m.format&r.think != 0 {
					return i + n, false
				}
			}
			if v == more && !r.final {
				r.addThought(t[:i])
				return i, true
			}
		}
		r.bare = r.bare && space(c)
	}
	n = len(t)
	if !r.final {
		n -= partialRune(t)
	}
	r.addThought(t[:n])
	return n, true
}

func (r *Reader) addThought(t []byte) {
	if len(t) > 0 {
		r.thought.add(r, t)
	}
}

// thoughtEnd tells whether t begins with a marker that ends reasoning of a format, and how much of it belongs to that
// marker.
func thoughtEnd(t []byte, f Formats) (n int, v verdict) {
	for i := range marks {
		m := &marks[i]
		if m.format&f == 0 || m.kind == opensThought {
			continue
		}
		if v = begins(t, m.text); v != no {
			if m.kind != breaksThought {
				n = len(m.text)
			}
			return n, v
		}
	}
	return 0, no
}

// heldThought is reasoning that is text if its closing marker does not come.
var heldThought = form{body: heldBody, calls: heldEnd, loose: true}

func heldBody(_ *Reader, c *candidate, t []byte) verdict {
	for ; c.pos < len(t); c.pos++ {
		if b := t[c.pos]; b == '<' || b == '[' {
			n, v := thoughtEnd(t[c.pos:], c.thought)
			if v == yes {
				c.to = c.pos
				c.pos += n
			}
			if v != no {
				return v
			}
		}
	}
	return more
}

func heldEnd(r *Reader, c *candidate, t []byte) bool {
	r.openThought(c.thought)
	r.addThought(t[c.from:c.to])
	r.closeThought()
	return true
}

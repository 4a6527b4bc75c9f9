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

// recall acts on a closing marker whose opening one never came: what came since reasoning was closed last was
// reasoning, and calls in it were none.
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
	for i := range t {
		r.work++
		n = thoughtEnd(t[i:], r.think)
		if n >= 0 {
			r.addThought(t[:i])
			r.closeThought()
			return i + n, false
		}
		if n == no && r.bare { // opened by the prompt, and once more by the model
			var m *marker
			if m, n = r.mark(t[i:], true); n > 0 && m.format&r.think != 0 {
				return i + n, false
			}
		}
		if n == more && !r.final {
			r.addThought(t[:i])
			return i, true
		}
		r.bare = r.bare && space(t[i])
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
func thoughtEnd(t []byte, f Formats) int {
	if t[0] != '<' && t[0] != '[' {
		return no
	}
	for i := range marks {
		m := &marks[i]
		if m.format&f == 0 || m.kind == opensThought {
			continue
		}
		if n := begins(t, m.text); n != no {
			if n > 0 && m.kind == breaksThought {
				n = 0
			}
			return n
		}
	}
	return no
}

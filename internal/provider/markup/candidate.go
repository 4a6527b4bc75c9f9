package markup

import "bytes"

// span is a part of a text, from one place to another.
type span struct{ from, to int }

func (s span) of(t []byte) []byte { return t[s.from:s.to] }

// candidate is text that is read as a form. Places are counted from the start of the form; of a call that is longer
// than the limit, what has been read is not kept, and no place before it is of use.
type candidate struct {
	scan
	form    *form
	state   uint8
	tail    bool  // it is read to its end, and what follows is looked at
	step    *step // the step whose action is not complete
	fenced  bool
	defect  Defect
	thought Formats // the reasoning that it opens

	name, key span
	from      int    // where the action has begun
	to        int    // where what an action has read ends
	limit     int    // the length that it may have
	object    int    // where the object begins
	args      buffer // the arguments so far
	calls     int    // the calls before it
	excess    int
}

// scan is a place in a text, and the brackets and the string that it is inside of.
type scan struct {
	pos     int
	depth   int
	quote   uint8 // the string's quotes, 1 for the first
	escaped bool  // behind a backslash
	prev    byte  // last byte outside of strings that is not white space
}

// beginCandidate makes a match of n bytes the start of a form.
func (r *Reader) beginCandidate(f *form, n int) {
	c := &r.c
	c.form, c.pos, c.object, c.limit = f, n, n, n+r.options.Limit
	c.calls, c.excess = len(r.calls), r.excess
	if c.name.to == 0 {
		c.name = c.key
	}
}

// runCandidate goes on reading the text as what it may be.
func (r *Reader) runCandidate(t []byte) (n int, wait bool) {
	c := &r.c
	view := t
	if !r.over && len(t) > c.limit {
		view = t[:c.limit]
	}
	seen := c.pos
	v := r.walk(c, view)
	r.work += max(c.pos-seen, 0)
	isLoose := c.form.flags&loose != 0
	if v == more && (r.final || len(view) < len(t)) {
		switch {
		case isLoose:
			v, c.pos = no, len(view)
		case len(view) < len(t):
			r.over = true
			r.head.set(t[:min(maxHead, len(view))])
			return r.drop(), false
		default:
			v, c.pos, c.defect = 0, len(t), CutOff
		}
	}
	if v == more {
		if r.over {
			n = r.drop()
		}
		return n, true
	}
	if c.defect != None && isLoose {
		v = no
	}
	t = t[:c.pos]
	if v == no || r.over || c.defect != None {
		r.calls, r.excess = r.calls[:c.calls], c.excess
	}
	switch {
	case v == no:
		r.add(t)
	case r.over:
		r.addCall(c, nil, nil, r.head, TooLong)
	case c.defect != None:
		r.addCall(c, c.name.of(t), nil, t, c.defect)
	}
	if v != no {
		r.prose.cut = true
	}
	c.form, r.over = nil, false
	return len(t), false
}

// drop forgets what has been read of a call that is too long, except for what a state may go back to.
func (r *Reader) drop() int {
	c := &r.c
	n := c.pos
	if c.step == nil {
		n = min(n, c.to)
	}
	c.pos -= n
	c.to = max(c.to-n, 0)
	return n
}

// walk takes steps up to the end of the form, to which c.pos then leads, or to the end of the text.
func (r *Reader) walk(c *candidate, t []byte) int {
	for {
		if c.state == done {
			if c.form.flags&start == 0 || c.tail {
				return 0
			}
			c.tail, c.state = true, 0
		}
		if c.step == nil {
			if v := r.choose(c, t); v < 0 {
				return v
			}
		}
		if v := r.act(c, t); v < 0 {
			return v
		}
		c.state, c.step = c.step.next, nil
	}
}

// choose finds the next step.
func (r *Reader) choose(c *candidate, t []byte) int {
	steps := c.form.steps
	if c.tail {
		steps = tail
	}
	for i := range steps {
		s := &steps[i]
		if s.in != c.state {
			continue
		}
		r.work++
		n := r.match(c, s.on, t, c.pos)
		if n >= 0 {
			c.pos, c.from, c.step = n, n, s
			return 0
		}
		if n == more && (!r.final || s.on[0] != ws[0]) {
			return more
		}
	}
	if c.form.lost == 0 {
		return no
	}
	c.state, c.defect = c.form.lost, BadArguments
	return r.choose(c, t)
}

// action is what is done in a step.
type action uint8

const (
	none         action = iota
	begin               // an object begins with the last byte
	skipJSON            // read JSON
	takeJSON            // read JSON, which is calls, or the arguments of the one whose name has come
	takeObject          // the object that ends here is a call
	takeLiteral         // read an object of literals, which is the arguments
	takeArgument        // read a literal, which is the argument for the key
	find                // read up to the end of a text
	takeNamed           // what was read up to that text is the arguments
	takeText            // the same, for the argument for the key
	takeLine            // read a line, which is the argument for the key
	takeCall            // the arguments are complete
	takeThought         // read reasoning
	unclosed            // the call ends without its closing marker
)

// act does what the step asks for.
func (r *Reader) act(c *candidate, t []byte) int {
	switch c.step.do {
	case begin:
		c.object = c.pos - 1
	case skipJSON, takeJSON:
		if v := c.nest(t); v < 0 {
			return v
		}
		c.to = c.pos
		if c.step.do == takeJSON && !r.over {
			if c.name.to > 0 {
				r.named(c, t, c.from, c.pos)
			} else {
				r.objects(c, t[c.from:c.pos])
			}
		}
	case takeObject:
		name, args, defect := callObject(t[c.object:c.pos])
		if args == nil {
			defect = BadArguments
		}
		r.addCall(c, name, args, nil, defect)
	case takeLiteral:
		if c.looseNest(r, t, false) == more {
			if !r.final || c.quote != 0 || c.prev != '"' && c.prev != '}' && c.prev != ']' {
				return more
			}
			c.pos = len(t)
		}
		if !r.over {
			l := literals{t: t[c.from:c.pos], flags: bareWords | closedLate}
			l.entries(l.t[0]+1+l.t[0]>>6, true, 0) // the closing bracket, as ASCII has it
			r.addCall(c, c.name.of(t), unwrapped(l.out), nil, l.defect)
		}
	case takeArgument:
		if c.from == c.pos {
			c.prev = '='
		}
		if c.looseNest(r, t, true) == more {
			return more
		}
		if !r.over {
			c.argument(t, t[c.from:c.pos])
		}
	case find, takeText:
		for {
			i := bytes.IndexByte(t[c.pos:], c.step.with[0])
			if i < 0 {
				c.pos = len(t)
				return more
			}
			c.pos += i
			if n := begins(t[c.pos:], c.step.with); n == more {
				return more
			} else if n >= 0 {
				c.to = c.pos
				c.pos += n
				break
			}
			c.pos++
		}
		if c.step.do == takeText && !r.over {
			c.openArgument(t)
			c.args.json(trimLineEnds(t[c.from:c.to]))
		}
	case takeNamed:
		if !r.over {
			r.named(c, t, c.object, c.to)
		}
	case takeLine:
		for ; c.pos < len(t) && t[c.pos] != '\n'; c.pos++ {
			if t[c.pos] == '<' {
				if _, n := r.mark(t[c.pos:], false); n == more {
					return more
				} else if n >= 0 {
					break
				}
			}
		}
		if c.pos == len(t) && !r.final {
			return more
		}
		c.line(t, bytes.TrimSpace(t[c.from:c.pos]))
	case takeCall:
		if !r.over {
			if c.args == nil {
				c.args.byte('{')
			}
			c.args.byte('}')
			r.addCall(c, c.name.of(t), c.args, nil, None)
		}
		c.args = nil
	case takeThought:
		for ; c.pos < len(t); c.pos++ {
			n := thoughtEnd(t[c.pos:], c.thought)
			if n == more {
				return more
			}
			if n >= 0 {
				r.openThought(c.thought)
				r.addThought(t[c.object:c.pos])
				r.closeThought()
				c.pos += n
				return 0
			}
		}
		return more
	case unclosed:
		c.pos, c.defect = c.to, Unclosed
	}
	return 0
}

// openArgument begins the argument for the key.
func (c *candidate) openArgument(t []byte) {
	if len(c.args) == 0 {
		c.args.byte('{')
	} else {
		c.args.byte(',')
	}
	c.args.json(c.key.of(t))
	c.args.byte(':')
}

// argument adds a literal.
func (c *candidate) argument(t, literal []byte) {
	c.openArgument(t)
	l := literals{t: literal, out: c.args}
	l.whole()
	c.args = l.out
	c.defect = max(c.defect, l.defect)
}

// line adds a literal, or what is none as a string.
func (c *candidate) line(t, text []byte) {
	c.openArgument(t)
	l := literals{t: text, out: c.args}
	if l.whole(); l.defect == None {
		c.args = l.out
	} else {
		c.args.json(text)
	}
}

// trimLineEnds cuts one line end off each side.
func trimLineEnds(t []byte) []byte {
	if n := begins(t, "\r\n"); n > 0 {
		t = t[n:]
	} else if n = begins(t, "\n"); n > 0 {
		t = t[n:]
	}
	if n := len(t); n > 0 && t[n-1] == '\n' {
		if t = t[:n-1]; n > 1 && t[n-2] == '\r' {
			t = t[:n-2]
		}
	}
	return t
}

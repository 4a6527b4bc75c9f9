package markup

// Pythonic: [f(a=1), g(b="x")], as a whole text or between the tags of Llama 4 and LFM 2. Bare pythonic: f(a=1) at the
// end of a line, with the name of an offered tool; several on a line have a comma or a semicolon between them. Both may
// stand in a code fence, then with nothing else in it. Arguments have keys, and their values are those of literals.

const (
	pythonicArgument = iota // before a key, or the bracket that closes the call
	pythonicValue
	pythonicNext // behind a call
	pythonicName
	pythonicTail // behind the list
	pythonicLost // in what is no list of calls
)

var pythonicClosers = [...]string{"<|python_end|>", "<|tool_call_end|>"}

func pythonicWrapped(_ *Reader, c *candidate, t []byte) (n int, v verdict) {
	for _, tag := range [...]string{"<|python_start|>", "<|tool_call_start|>"} {
		if v = begins(t, tag); v == yes {
			c.wrapped, c.state = true, pythonicName
			c.from, v = behind(t, len(tag), "[")
			return c.from + 1, v
		} else if v == more {
			break
		}
	}
	return 0, v
}

func pythonicOpen(_ *Reader, c *candidate, t []byte) (n int, v verdict) {
	if t[0] == '`' {
		if n, v = fence(t); v != yes {
			return n, v
		}
		c.fenced = true
	}
	if n, v = behind(t, n, "["); v != yes {
		return n, v
	}
	c.from = n
	if n = spaceEnd(t[:min(len(t), n+maxSpace)], n+1); n == len(t) {
		return n, more
	}
	if n, v = nameEnd(t, n); v != yes {
		return n, v
	}
	return argument(t, n)
}

// argument tells whether a bracket is at t[n:] and, behind it, a key or the closing bracket. It returns what is behind
// the bracket.
func argument(t []byte, n int) (int, verdict) {
	if v := begins(t[n:], "("); v != yes {
		return n, v
	}
	n++
	i, v := behind(t, n, ")")
	if v == no {
		if i, v = nameEnd(t, i); v == yes {
			_, v = behind(t, i, "=")
		}
	}
	return n, v
}

func bareOpen(r *Reader, c *candidate, t []byte) (n int, v verdict) {
	if t[0] == '`' {
		if n, v = fence(t); v != yes {
			return n, v
		}
		c.fenced = true
		if n = spaceEnd(t[:min(len(t), n+maxSpace)], n); n == len(t) {
			return n, more
		}
	}
	c.from = n
	if n, v = r.toolName(t, n); v != yes {
		return n, v
	}
	return argument(t, n)
}

func bareBody(r *Reader, c *candidate, t []byte) verdict {
	for c.pos < len(t) {
		v := yes
		switch c.state {
		case pythonicNext:
			v = c.bareNext(r, t)
			if v == yes && c.state == pythonicNext {
				return yes
			}
		case pythonicName:
			n := 0
			if n, v = r.toolName(t, c.pos); v == yes {
				if n, v = argument(t, n); v == yes {
					c.pos, c.state = n, pythonicArgument
				}
			}
		default:
			v = c.arguments(r, t)
		}
		if v != yes {
			return v
		}
	}
	if r.final && c.state == pythonicNext && !c.fenced {
		return yes
	}
	return more
}

// bareNext looks behind a call: for another one, which makes pythonicName the state, or for the end.
func (c *candidate) bareNext(r *Reader, t []byte) verdict {
	for ; c.pos < len(t); c.pos++ {
		switch b := t[c.pos]; {
		case b == '`' && c.fenced:
			v := begins(t[c.pos:], "```")
			if v == yes {
				c.pos += 3
			}
			return v
		case b == '\n' && !c.fenced:
			return yes
		case b == '<' && !c.fenced:
			return r.ends(t[c.pos:])
		case nameByte(b):
			c.state = pythonicName
			return yes
		case !space(b) && b != ',' && b != ';':
			return no
		}
	}
	return more
}

// arguments reads on up to the end of a call, which makes pythonicNext the state.
func (c *candidate) arguments(r *Reader, t []byte) verdict {
	for {
		if c.state == pythonicArgument {
			c.pos = spaceEnd(t, c.pos)
			switch v := begins(t[c.pos:], ")"); {
			case v == more:
				return more
			case v == yes:
				c.pos++
				c.state = pythonicNext
				return yes
			}
			i, v := nameEnd(t, c.pos)
			if v == yes {
				i, v = behind(t, i, "=")
			}
			if v != yes {
				return v
			}
			c.pos, c.state, c.prev, c.depth = i+1, pythonicValue, '=', 0
		}
		if v := c.looseNest(r, t, true); v != yes {
			return v
		}
		if c.state = pythonicArgument; t[c.pos] == ',' {
			c.pos++
		}
	}
}

func pythonicBody(r *Reader, c *candidate, t []byte) verdict {
	if c.state != pythonicLost {
		v := c.list(r, t)
		if v != no || !c.wrapped {
			return v
		}
		c.state, c.defect = pythonicLost, BadArguments
	}
	for {
		if v := c.find(t, "<|"); v != yes {
			return v
		}
		c.pos -= len("<|")
		at := c.pos
		if v := c.closer(r, t, pythonicClosers[:]...); v == more || c.pos > at {
			return v
		}
		c.pos++
	}
}

// list reads a list of calls.
func (c *candidate) list(r *Reader, t []byte) verdict {
	for {
		v := yes
		switch c.state {
		case pythonicNext, pythonicName:
			if c.pos = spaceEnd(t, c.pos); c.pos == len(t) {
				return more
			}
			switch b := t[c.pos]; {
			case c.state == pythonicName:
				n := 0
				if n, v = nameEnd(t, c.pos); v == yes {
					if n, v = argument(t, n); v == yes {
						c.pos, c.state = n, pythonicArgument
					}
				}
			case b == ',':
				c.pos++
				c.state = pythonicName
			case b == ']':
				c.pos++
				c.state = pythonicTail
			default:
				return no
			}
		case pythonicTail:
			if c.wrapped {
				return c.closer(r, t, pythonicClosers[:]...)
			}
			return c.tail(r, t)
		default:
			v = c.arguments(r, t)
		}
		if v != yes {
			return v
		}
	}
}

// tail tells whether a form that is a whole text has ended.
func (c *candidate) tail(r *Reader, t []byte) verdict {
	if c.fenced {
		c.pos = spaceEnd(t, c.pos)
		if v := begins(t[c.pos:], "```"); v != yes {
			return v
		}
		c.pos += 3
		c.fenced = false
	}
	return c.whole(r, t)
}

func pythonicCalls(r *Reader, c *candidate, t []byte) bool {
	calls, excess := len(r.calls), r.excess
	l := literals{t: t, pos: c.from}
	for !l.bad {
		switch b := l.next(); {
		case b == '[' || b == ',' || b == ';':
			l.pos++
		case nameByte(b):
			from := l.pos
			l.pos, _ = nameEnd(t, l.pos)
			name := t[from:l.pos]
			args := l.entries(nil, ')', true, 0)
			r.addCall(c.form.format, name, args, t, None)
		default:
			return true
		}
	}
	r.calls, r.excess = r.calls[:calls], excess
	if c.wrapped {
		defect := BadArguments
		if l.deep {
			defect = TooDeep
		}
		r.addCall(c.form.format, nil, nil, t, defect)
	}
	return c.wrapped
}

package markup

// Hermes: <tool_call>{"name": "f", "arguments": {}}</tool_call>. Several objects may stand between the tags, or an array
// of them.

func hermesOpen(_ *Reader, c *candidate, t []byte) (int, verdict) {
	if v := begins(t, "<tool_call>"); v != yes {
		return 0, v
	}
	return opensObject(c, t, len("<tool_call>"))
}

// opensObject tells whether JSON comes at t[n:], behind white space.
func opensObject(c *candidate, t []byte, n int) (int, verdict) {
	n, v := behind(t, n, "{[")
	c.from = n
	return n, v
}

const (
	hermesValue = iota
	hermesBehind
)

func hermesBody(_ *Reader, c *candidate, t []byte) verdict {
	for {
		if c.state == hermesValue {
			if v := c.nest(t); v != yes {
				return v
			}
			c.state = hermesBehind
		}
		// Some models close one brace too many.
		for c.pos < len(t) && (space(t[c.pos]) || t[c.pos] == '}') {
			c.pos++
		}
		if c.pos == len(t) {
			return more
		}
		if t[c.pos] == '{' {
			c.state = hermesValue
			continue
		}
		c.to = c.pos
		switch begins(t[c.pos:], "</tool_call>") {
		case more:
			return more
		case no:
			c.defect = Unclosed
		case yes:
			c.pos += len("</tool_call>")
		}
		return yes
	}
}

// objectCalls takes up the objects between the markers.
func objectCalls(r *Reader, c *candidate, t []byte) bool {
	r.objects(c.form.format, t[c.from:])
	return true
}

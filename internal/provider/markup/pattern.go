package markup

// A pattern is a text to compare with, in which these stand for more than themselves. An operand follows ops that take
// one, and ends with stop.
const (
	ws      = "\x01" // white space, or none
	name    = "\x02" // a name, which is that of the call
	tool    = "\x03" // the same, of an offered tool
	key     = "\x04" // a name, which is a key
	word    = "\x05" // any name
	tag     = "\x06" // the rest of a tag up to >, which is a key
	opt     = "\x07" // the operand, or nothing
	set     = "\x08" // one byte of the operand
	look    = "\x0e" // one byte of the operand, which is not a part of the match
	cut     = "\x0f" // what follows is not a part of the match
	fence   = "\x10" // the line that opens a code fence, or nothing
	unfence = "\x11" // the line that closes it, if it was opened
	anyMark = "\x12" // a marker that stands for itself, which is not a part of the match
	eot     = "\x13" // the end of the text
	head    = "\x14" // the header of a message of Harmony, with its kind as the operand
	stop    = "\x00"

	blanks = " \t\r\n"
)

// What a look at a text that is still coming tells, where it is not how far a match goes.
const (
	no   = -1
	more = -2 // text is needed to tell
)

const (
	maxSpace  = 64  // bytes of white space in a pattern
	maxHeader = 512 // bytes of a header of Harmony
)

// match compares t[i:] with a pattern and returns the end of the match.
func (r *Reader) match(c *candidate, p string, t []byte, i int) int {
	end := no
	for len(p) > 0 {
		op, operand := p[0], ""
		p = p[1:]
		switch op {
		case opt[0], set[0], look[0], head[0]:
			n := 0
			for p[n] != stop[0] {
				n++
			}
			operand, p = p[:n], p[n+1:]
		}
		n := i
		switch op {
		case ws[0]:
			n = spaceEnd(t[:min(len(t), i+maxSpace)], i)
		case name[0], tool[0]:
			n = nameEnd(t, i)
			if op == tool[0] {
				n = r.toolEnd(t, i, n)
			}
			if n >= 0 {
				c.name = span{i, n}
			}
		case key[0], word[0]:
			n = nameEnd(t, i)
			if n >= 0 && op == key[0] {
				c.key = span{i, n}
			}
		case tag[0]:
			n = tagEnd(t, i)
			if n >= 0 {
				c.key = span{i, n - 1}
			}
		case opt[0]:
			if n = begins(t[i:], operand); n == no {
				n = i
			} else if n >= 0 {
				n += i
			}
		case set[0], look[0]:
			n = inSet(t, i, operand)
			if n >= 0 && op == look[0] {
				n = i
			}
		case cut[0]:
			end = i
		case fence[0]:
			n = fenceEnd(t, i)
			c.fenced = n != i
		case unfence[0]:
			if c.fenced {
				n = r.match(c, ws+"```", t, i)
			}
		case anyMark[0]:
			if _, n = r.mark(t[i:], false); n >= 0 {
				n = i
			}
		case eot[0]:
			if i < len(t) {
				n = no
			} else if !r.final {
				n = more
			}
		case head[0]:
			n = c.header(t, operand[0])
		default:
			if i == len(t) {
				return more
			}
			if n++; t[i] != op {
				return no
			}
		}
		if n < 0 {
			return n
		}
		i = n
	}
	if end >= 0 {
		return end
	}
	return i
}

// begins returns the length of s if t begins with it.
//
//go:noinline
func begins(t []byte, s string) int {
	n := min(len(t), len(s))
	switch {
	case string(t[:n]) != s[:n]:
		return no
	case n < len(s):
		return more
	}
	return n
}

// inSet returns what is behind t[i] if that is a byte of set.
func inSet(t []byte, i int, set string) int {
	if i == len(t) {
		return more
	}
	for j := range len(set) {
		if t[i] == set[j] {
			return i + 1
		}
	}
	return no
}

// nameEnd returns the end of the name at t[i:].
func nameEnd(t []byte, i int) int {
	from := i
	for i < len(t) && nameByte(t[i]) {
		if i++; i-from > maxName {
			return no
		}
	}
	switch i {
	case len(t):
		return more
	case from:
		return no
	}
	return i
}

// toolEnd returns the end of the name at t[i:] if it is that of an offered tool; n is what nameEnd says about it.
func (r *Reader) toolEnd(t []byte, i, n int) int {
	if n == no {
		return no
	}
	name := t[i:]
	if n >= 0 {
		name = t[i:n]
	}
	lo, hi := 0, len(r.tools)
	for lo < hi {
		if mid := (lo + hi) / 2; r.tools[mid] < string(name) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	// If a tool's name begins with what there is of this one, this is the first such.
	if lo == len(r.tools) || begins([]byte(r.tools[lo]), string(name)) < 0 || n >= 0 && len(name) < len(r.tools[lo]) {
		return no
	}
	return n
}

// tagEnd returns what is behind the > that ends the tag whose value begins at t[i].
func tagEnd(t []byte, i int) int {
	for n := i; n < len(t); n++ {
		switch {
		case t[n] == '>' && n > i:
			return n + 1
		case t[n] == '<' || t[n] == '>' || t[n] == '\n' || n-i == maxName:
			return no
		}
	}
	return more
}

// fenceEnd returns the end of the line at t[i:] if it opens a code fence.
func fenceEnd(t []byte, i int) int {
	if n := begins(t[i:], "```"); n < 0 {
		if n == no {
			return i
		}
		return more
	}
	for n := i + 3; n < len(t); n++ {
		switch {
		case t[n] == '\n':
			return n + 1
		case n-i == maxSpace || !nameByte(t[n]) && !space(t[n]):
			return no
		}
	}
	return more
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// spaceEnd returns the end of the white space at t[i:].
//
//go:noinline
func spaceEnd(t []byte, i int) int {
	for i < len(t) && space(t[i]) {
		i++
	}
	return i
}

// nameByte tells whether c can be a part of a name in a form that is recognised by it.
func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

package markup

import (
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
)

// buffer is text that is put together. Its methods are not inlined: what they would be inlined as is most of the code
// that calls them.
type buffer []byte

//go:noinline
func (b *buffer) byte(c byte) { *b = append(*b, c) }

//go:noinline
func (b *buffer) text(t []byte) { *b = append(*b, t...) }

// set makes t all of the buffer.
//
//go:noinline
func (b *buffer) set(t []byte) { *b = append((*b)[:0], t...) }

// json adds a string of JSON.
//
//go:noinline
func (b *buffer) json(t []byte) { *b = value.AppendJSONText(*b, t) }

// quotes are the ways in which strings are quoted where it is not JSON that is written.
var quotes = [...]struct {
	open, end, other string // other ends the string too
	escapes          bool   // a backslash does what it does in JSON
}{
	{`"""`, `"""`, "", true},
	{`'''`, `'''`, "", true},
	{`<|"|>`, `<|"|>`, "", false},
	{`<escape>`, `<escape>`, "", false},
	{`"`, `"`, "", true},
	{`'`, `'`, "", true},
	{"“", "”", `"`, true},
	{"‘", "’", `'`, true},
}

// openString enters the string that t[c.pos:] begins with, if it does. It returns no if it does not.
func (c *scan) openString(t []byte, final bool) int {
	for q := range quotes {
		n := begins(t[c.pos:], quotes[q].open)
		if n == more && !final {
			return more
		}
		if n >= 0 {
			c.pos += n
			c.quote = uint8(q + 1)
			return 0
		}
	}
	return no
}

// inString leaves the string that c.pos is in, and returns how long what ends it is.
func (c *scan) inString(t []byte) int {
	q := &quotes[c.quote-1]
	for ; c.pos < len(t); c.pos++ {
		if c.escaped {
			c.escaped = false
			continue
		}
		b := t[c.pos]
		if b == '\\' && q.escapes {
			c.escaped = true
			continue
		}
		n := no
		if b == q.end[0] {
			n = begins(t[c.pos:], q.end)
		}
		if n == no && q.other != "" && b == q.other[0] {
			n = 1
		}
		if n == more {
			return more
		}
		if n > 0 {
			c.pos += n
			c.quote = 0
			return n
		}
	}
	return more
}

// looseNest goes on in a value whose strings are in any of the quotes, and tells where it ends: behind the bracket that
// closes the one it begins with, or before a closing tag; as an argument, before the comma or bracket that follows it.
func (c *scan) looseNest(r *Reader, t []byte, argument bool) int {
	for c.pos < len(t) {
		if c.quote != 0 {
			if c.inString(t) < 0 {
				return more
			}
			continue
		}
		b := t[c.pos]
		switch c.prev {
		case 0, '{', '[', '(', ',', ':', '=':
			v := c.openString(t, r.final)
			if v == more {
				return more
			}
			if v != no {
				c.prev = '"'
				continue
			}
		}
		switch b {
		case '{', '[', '(':
			c.depth++
		case '}', ']', ')', ',':
			if argument && c.depth == 0 {
				return 0
			}
			if b == ',' {
				break
			}
			if c.depth--; c.depth == 0 && !argument {
				c.pos++
				return 0
			}
		case '<':
			if argument {
				break
			}
			for i := range gemma {
				n := no
				if s := gemma[i].on; s != "" {
					n = begins(t[c.pos:], s[len(ws):])
				}
				if n >= 0 {
					return 0
				}
				if n == more && !r.final {
					return more
				}
			}
		}
		if !space(b) {
			c.prev = b
		}
		c.pos++
	}
	return more
}

const (
	bareWords  = 1 << iota // words are a string
	closedLate             // brackets that are open at the end of the text are closed there
)

// literals turns values as programs and models write them into JSON: strings in any of the quotes, True, False and None
// as well as true, false and null, keys with and without quotes, a colon or an equals sign behind them, lists in square
// and round brackets.
type literals struct {
	t      []byte
	pos    int
	flags  uint8
	out    buffer
	defect Defect
}

// whole writes the text, which must be one value.
func (l *literals) whole() {
	l.value(0, 0)
	if l.next(); l.pos < len(l.t) {
		l.fail(BadArguments)
	}
}

// next skips white space and returns what is there, 0 at the end.
func (l *literals) next() byte {
	if l.pos = spaceEnd(l.t, l.pos); l.pos < len(l.t) {
		return l.t[l.pos]
	}
	return 0
}

// fail leaves l at the end of the text.
func (l *literals) fail(d Defect) {
	l.defect, l.pos = max(l.defect, d), len(l.t)
}

// value writes the value that is next, in a container that closing closes.
func (l *literals) value(closing byte, depth int) {
	switch c := l.next(); {
	case c == '{':
		l.entries('}', true, depth)
	case c == '[':
		l.entries(']', false, depth)
	case c == '(':
		l.entries(')', false, depth)
	case !l.string():
		l.word(closing)
	}
}

// entries writes the object or the list whose opening bracket is next.
func (l *literals) entries(closing byte, object bool, depth int) {
	if depth == value.MaxDepth {
		l.fail(TooDeep)
		return
	}
	end := byte(']')
	if object {
		end = '}'
	}
	l.out.byte(end - 2) // the opening one, as ASCII has it
	l.pos++
	for n := 0; ; n++ {
		c := l.next()
		if l.pos == len(l.t) {
			if l.flags&closedLate == 0 {
				l.fail(BadArguments)
			}
			break
		}
		if c == closing {
			l.pos++
			break
		}
		if n > 0 {
			l.out.byte(',')
		}
		if object {
			l.key()
		}
		l.value(closing, depth+1)
		if c = l.next(); c == ',' {
			l.pos++
		} else if c != closing && l.pos < len(l.t) {
			l.fail(BadArguments)
		}
	}
	l.out.byte(end)
}

// key writes the key that is next, and takes what separates it from its value.
func (l *literals) key() {
	if !l.string() {
		from := l.pos
		for l.pos < len(l.t) && (nameByte(l.t[l.pos]) || l.t[l.pos] >= utf8.RuneSelf || l.t[l.pos] == '$') {
			l.pos++
		}
		l.out.json(l.t[from:l.pos])
		if from == l.pos {
			l.fail(BadArguments)
		}
	}
	if c := l.next(); c != ':' && c != '=' {
		l.fail(BadArguments)
		return
	}
	l.out.byte(':')
	l.pos++
}

// word writes a number, a constant, or, with bareWords, any other words as a string.
func (l *literals) word(closing byte) {
	from := l.pos
	for l.pos < len(l.t) {
		c := l.t[l.pos]
		if c == ',' || c == '}' || c == ']' || c == closing || c == ')' && l.flags&bareWords == 0 {
			break
		}
		l.pos++
	}
	end := l.pos
	for end > from && space(l.t[end-1]) {
		end--
	}
	word := l.t[from:end]
	s := value.NewScanner(word)
	if s.End() == nil { // no object, list or string
		l.out.text(word)
		return
	}
	switch {
	case string(word) == "True", string(word) == "False":
		l.out.byte(word[0] + 'a' - 'A')
		l.out.text(word[1:])
	case string(word) == "None":
		l.out.text([]byte("null"))
	case len(word) > 0 && l.flags&bareWords != 0:
		l.out.json(word)
	default:
		l.fail(BadArguments)
	}
}

// string writes the string that is next, if it is one.
func (l *literals) string() bool {
	c := scan{pos: l.pos}
	if c.openString(l.t, true) < 0 {
		return false
	}
	from, escapes := c.pos, quotes[c.quote-1].escapes
	n := c.inString(l.t)
	if n < 0 {
		l.fail(BadArguments)
		return true
	}
	l.pos = c.pos
	t := l.t[from : c.pos-n]
	if !escapes {
		l.out.json(t)
		return true
	}
	l.out.byte('"')
	for i := 0; i < len(t); i++ {
		b := t[i]
		if b == '\\' && i+1 < len(t) {
			i += l.escape(t[i+1:])
			continue
		}
		if b == '"' || b == '\\' {
			l.out.byte('\\')
		} else if b < ' ' {
			l.out.byte('\\')
			if b < '\b' || b > '\r' || b == '\v' {
				l.out.text([]byte{'u', '0', '0', '0' + b>>4})
				b = "0123456789abcdef"[b&15]
			} else {
				b = "btn?fr"[b-'\b']
			}
		}
		l.out.byte(b)
	}
	l.out.byte('"')
	return true
}

// escape writes the escape that a backslash before t is, and returns how much of t belongs to it. A backslash before a
// line end stands for nothing, and one before anything that JSON has no escape for stands for itself.
func (l *literals) escape(t []byte) int {
	n := 1
	switch t[0] {
	case '\'':
		l.out.byte('\'')
		return 1
	case '\n':
		return 1
	case 'u':
		n = 5
	}
	escape := buffer(`"\`)
	escape.text(t[:min(n, len(t))])
	escape.byte('"')
	s := value.NewScanner(escape)
	if s.End() != nil {
		l.out.text([]byte(`\\`))
		return 0
	}
	l.out.text(escape[1 : n+2])
	return n
}

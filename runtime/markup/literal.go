package markup

import (
	"unicode/utf8"

	"github.com/turncore/turncore/runtime/value"
)

// quotes are the ways in which strings are quoted where it is not JSON that is written.
var quotes = [...]struct {
	open, close, other string // other closes the string too
	escapes            bool   // a backslash does what it does in JSON
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

// openQuote returns which of the quotes t begins with.
func openQuote(t []byte, final bool) (q int, v verdict) {
	for q = range quotes {
		if v = begins(t, quotes[q].open); v == yes || v == more && !final {
			return q, v
		}
	}
	return 0, no
}

// inString moves behind the end of the string that c.pos is in.
func (c *candidate) inString(t []byte) verdict {
	q := &quotes[c.quote-1]
	for c.pos < len(t) {
		switch {
		case c.escaped:
			c.escaped = false
		case q.escapes && t[c.pos] == '\\':
			c.escaped = true
		default:
			for _, s := range [...]string{q.close, q.other} {
				if s == "" || t[c.pos] != s[0] {
					continue
				}
				switch begins(t[c.pos:], s) {
				case yes:
					c.pos += len(s)
					c.quote = 0
					return yes
				case more:
					return more
				}
			}
		}
		c.pos++
	}
	return more
}

// looseNest goes on in a value whose strings are quoted in any of the quotes, and tells where it ends: behind the bracket
// that closes the one it begins with, or, as an argument, before the comma or bracket that follows it. A text of closers
// outside of a string ends it too.
func (c *candidate) looseNest(r *Reader, t []byte, argument bool, closers ...string) verdict {
	for c.pos < len(t) {
		if c.quote != 0 {
			if v := c.inString(t); v != yes {
				return v
			}
			continue
		}
		b := t[c.pos]
		switch c.prev {
		case 0, '{', '[', '(', ',', ':', '=':
			q, v := openQuote(t[c.pos:], r.final)
			if v == more {
				return more
			}
			if v == yes {
				c.pos += len(quotes[q].open)
				c.quote, c.prev = uint8(q+1), '"'
				continue
			}
		}
		switch b {
		case '{', '[', '(':
			c.depth++
		case '}', ']', ')':
			if argument && c.depth == 0 {
				if b == ')' {
					return yes
				}
				return no
			}
			if c.depth--; c.depth == 0 && !argument {
				c.pos++
				return yes
			}
		case ',':
			if argument && c.depth == 0 {
				return yes
			}
		case '<':
			for _, s := range closers {
				switch begins(t[c.pos:], s) {
				case yes:
					return yes
				case more:
					if !r.final {
						return more
					}
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
	bareWords  = 1 << iota // a word is a string
	closedLate             // brackets that are open at the end of the text are closed there
)

// literals turns values as programs and models write them into JSON: strings in any of the quotes, True, False and None
// as well as true, false and null, keys with and without quotes, a colon or an equals sign behind them, lists in square
// and round brackets.
type literals struct {
	t     []byte
	pos   int
	flags int
	bad   bool // no value
	deep  bool // nested too deeply
}

// literal returns the JSON of a text that is one value.
func literal(t []byte, flags int) (json []byte, ok bool) {
	l := literals{t: t, flags: flags}
	json = l.value(nil, 0, 0)
	return json, !l.bad && spaceEnd(t, l.pos) == len(t)
}

// next skips white space and returns what is there, 0 at the end.
func (l *literals) next() byte {
	if l.pos = spaceEnd(l.t, l.pos); l.pos < len(l.t) {
		return l.t[l.pos]
	}
	return 0
}

// fail leaves l at the end of the text.
func (l *literals) fail() {
	l.bad, l.pos = true, len(l.t)
}

// value appends the value that is next, in a container that closing closes.
func (l *literals) value(dst []byte, closing byte, depth int) []byte {
	switch c := l.next(); c {
	case '{':
		return l.entries(dst, '}', true, depth)
	case '[':
		return l.entries(dst, ']', false, depth)
	case '(':
		return l.entries(dst, ')', false, depth)
	}
	if q, v := openQuote(l.t[l.pos:], true); v == yes {
		return l.string(dst, q)
	}
	return l.word(dst, closing)
}

// entries appends the object or the list whose opening bracket is next.
func (l *literals) entries(dst []byte, closing byte, object bool, depth int) []byte {
	if depth == value.MaxDepth {
		l.deep = true
		l.fail()
		return dst
	}
	end := byte(']')
	if object {
		end = '}'
	}
	dst = append(dst, end-2) // as ASCII has it
	l.pos++
	for n := 0; ; n++ {
		c := l.next()
		if c == 0 && l.pos == len(l.t) {
			if l.flags&closedLate == 0 {
				l.fail()
			}
			return append(dst, end)
		}
		if c == closing {
			l.pos++
			return append(dst, end)
		}
		if n > 0 {
			dst = append(dst, ',')
		}
		if object {
			dst = append(l.key(dst), ':')
		}
		dst = l.value(dst, closing, depth+1)
		if c = l.next(); c == ',' {
			l.pos++
		} else if c != closing && l.pos < len(l.t) {
			l.fail()
		}
	}
}

// key appends the key that is next, and takes what separates it from its value.
func (l *literals) key(dst []byte) []byte {
	if q, v := openQuote(l.t[l.pos:], true); v == yes {
		dst = l.string(dst, q)
	} else {
		from := l.pos
		for l.pos < len(l.t) && (nameByte(l.t[l.pos]) || l.t[l.pos] >= utf8.RuneSelf || l.t[l.pos] == '$') {
			l.pos++
		}
		if from == l.pos {
			l.fail()
		}
		dst = value.AppendJSONString(dst, l.t[from:l.pos])
	}
	if c := l.next(); c != ':' && c != '=' {
		l.fail()
		return dst
	}
	l.pos++
	return dst
}

// word appends a number, a constant, or, with bareWords, any other words as a string.
func (l *literals) word(dst []byte, closing byte) []byte {
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
	switch string(word) {
	case "true", "True":
		return append(dst, "true"...)
	case "false", "False":
		return append(dst, "false"...)
	case "null", "None":
		return append(dst, "null"...)
	}
	s := value.NewScanner(word)
	switch {
	case s.Kind() == value.KindFloat && s.End() == nil:
		return append(dst, word...)
	case len(word) > 0 && l.flags&bareWords != 0:
		return value.AppendJSONString(dst, word)
	}
	l.fail()
	return dst
}

// string appends the string that is next, which is in the quotes q.
func (l *literals) string(dst []byte, q int) []byte {
	from := l.pos + len(quotes[q].open)
	c := candidate{pos: from, quote: uint8(q + 1)}
	if c.inString(l.t) != yes {
		l.fail()
		return dst
	}
	l.pos = c.pos
	end := c.pos - len(quotes[q].close)
	if other := quotes[q].other; other != "" && l.t[c.pos-1] == other[0] {
		end = c.pos - len(other)
	}
	t := l.t[from:end]
	if quotes[q].escapes {
		t = unescaped(t)
	}
	return value.AppendJSONString(dst, t)
}

// unescaped returns the text of a string with the escapes of JSON and \'. A backslash before anything else stands for
// itself, one before a line end for nothing.
func unescaped(t []byte) []byte {
	var out []byte
	kept := 0 // t is in out up to here
	for i := 0; i+1 < len(t); i++ {
		if t[i] != '\\' {
			continue
		}
		out = append(out, t[kept:i]...)
		size := 2
		switch c := t[i+1]; c {
		case '\'', '\n':
			if c == '\'' {
				out = append(out, c)
			}
		default:
			if c == 'u' {
				size = 6
				if i+7 < len(t) && t[i+2]|0x20 == 'd' && t[i+6] == '\\' && t[i+7] == 'u' { // half of a pair
					size = 12
				}
			}
			var ok bool
			if i+size <= len(t) {
				s := value.NewScanner(append(append([]byte{'"'}, t[i:i+size]...), '"'))
				out, ok = s.AppendText(out)
			}
			if !ok {
				out = append(out, '\\')
				size = 1
			}
		}
		i += size - 1
		kept = i + 1
	}
	if out == nil {
		return t
	}
	return append(out, t[kept:]...)
}

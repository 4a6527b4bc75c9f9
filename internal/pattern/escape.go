package pattern

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	ecmaSpaces = []rune{
		'\t', '\r', ' ', ' ', 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
	}
	re2Spaces = []rune{'\t', '\n', '\f', '\r', ' ', ' '}
)

// escape reads what follows a backslash: a character, or a set that it adds to c, and is then -1.
func (q *parser) escape(c *class, inClass bool) rune {
	if q.pos >= len(q.src) {
		q.fail(`\ at the end`)
		return -1
	}
	at := q.pos - 1
	r := q.next()
	if r == 'p' || r == 'P' {
		q.property(c, r == 'P')
		return -1
	}
	if q.dialect == iregexp {
		if i := strings.IndexRune(`()*+-.?[\]^{|}$nrt`, r); i >= 0 {
			return rune("()*+-.?[\\]^{|}$\n\r\t"[i])
		}
		return q.unknown(at, r)
	}
	if i := strings.IndexRune("tnvfr", r); i >= 0 {
		return rune("\t\n\v\f\r"[i])
	}
	spaces := ecmaSpaces
	if q.dialect == re2 {
		spaces = re2Spaces
	}
	switch {
	case r|0x20 == 'd':
		c.add(digitRanges, r == 'D')
	case r|0x20 == 'w':
		c.add(wordRanges, r == 'W')
	case r|0x20 == 's':
		c.add(spaces, r == 'S')
	case r < utf8.RuneSelf && !isDigit(byte(r)) && !isAlpha(byte(r)):
		return r
	case q.dialect == re2:
		return q.re2Escape(at, r)
	default:
		return q.ecmaEscape(at, r, inClass)
	}
	return -1
}

// unknown fails at an escape.
func (q *parser) unknown(at int, r rune) rune {
	q.pos = at
	q.fail(`unknown escape \` + string(r))
	return -1
}

func (q *parser) ecmaEscape(at int, r rune, inClass bool) rune {
	switch r {
	case 'b':
		if inClass { // outside it is an assertion
			return '\b'
		}
	case 'c':
		if isAlpha(q.peek()) {
			return q.next() & 31
		}
		q.fail(`invalid \c`)
	case 'x':
		return q.hex(2)
	case 'u':
		return q.unicodeEscape()
	case '0':
		if isDigit(q.peek()) {
			q.fail("octal escape")
		}
		return 0
	case 'k', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		q.pos = at
		q.unsupported("a back reference")
	}
	if q.err != nil {
		return -1
	}
	return q.unknown(at, r)
}

// unicodeEscape reads what follows \u: four digits, two such escapes that are one character, or digits in braces.
func (q *parser) unicodeEscape() rune {
	if q.eat("{") {
		return q.braced(`\u{`, 6)
	}
	high := q.hex(4)
	if high>>10 == 0xd800>>10 {
		start := q.pos
		if q.eat(`\u`) && len(q.src)-q.pos >= 4 {
			if low := q.hex(4); low>>10 == 0xdc00>>10 {
				return (high-0xd800)<<10 + low - 0xdc00 + 0x10000
			}
		}
		if q.err == nil {
			q.pos = start
		}
	}
	return high
}

// braced reads hexadecimal digits, at most as many as most, and the brace behind them.
func (q *parser) braced(escape string, most int) rune {
	end := strings.IndexByte(q.src[q.pos:], '}')
	if end < 1 || end > most {
		q.fail("invalid " + escape)
		return -1
	}
	r := q.hex(end)
	if q.eat("}"); r > unicode.MaxRune {
		q.fail("no such character")
	}
	return r
}

// hex reads n hexadecimal digits.
func (q *parser) hex(n int) rune {
	if len(q.src)-q.pos < n {
		q.fail("escape cut short")
		return -1
	}
	r := rune(0)
	for _, c := range []byte(q.src[q.pos : q.pos+n]) {
		digit := hexDigit(c)
		if digit < 0 {
			q.fail("not a hexadecimal digit")
			return -1
		}
		if r = r<<4 | digit; r > unicode.MaxRune {
			r = unicode.MaxRune + 1
		}
	}
	q.pos += n
	return r
}

func (q *parser) re2Escape(at int, r rune) rune {
	switch {
	case r == 'a':
		return '\a'
	case r == 'x':
		if q.eat("{") {
			return q.braced(`\x{`, len(q.src))
		}
		return q.hex(2)
	case r == '0' || r >= '1' && r <= '7' && q.peek() >= '0' && q.peek() <= '7':
		r -= '0'
		for i := 0; i < 2 && q.peek() >= '0' && q.peek() <= '7'; i++ {
			r = r<<3 | (q.next() - '0')
		}
		return r
	case r >= '1' && r <= '9':
		q.pos = at
		q.unsupported("a back reference")
		return -1
	}
	return q.unknown(at, r)
}

// property reads what follows \p and adds the property to a class.
func (q *parser) property(c *class, negate bool) {
	at := q.pos
	name := ""
	if q.eat("{") {
		end := strings.IndexByte(q.src[q.pos:], '}')
		if end < 0 {
			q.fail(`invalid \p`)
			return
		}
		name = q.src[q.pos : q.pos+end]
		q.pos += end + 1
	} else if q.dialect == re2 && q.pos < len(q.src) {
		q.next()
		name = q.src[at:q.pos]
	} else {
		q.fail(`invalid \p`)
		return
	}
	plain := name
	switch q.dialect {
	case re2:
		if strings.HasPrefix(name, "^") {
			plain, negate = name[1:], !negate
		}
	case ecma:
		for _, prefix := range [...]string{"General_Category=", "gc=", "Script=", "sc="} {
			plain = strings.TrimPrefix(plain, prefix)
		}
	}
	ranges, ok := q.tables[plain]
	if !ok {
		if ranges = unicodeProperty(plain, q.dialect == iregexp); ranges == nil {
			q.pos = at
			q.unsupported("the Unicode property " + name)
			return
		}
		if q.tables == nil {
			q.tables = map[string][]rune{}
		}
		q.tables[plain] = ranges
		q.tableRunes += len(ranges)
		q.work += len(categoryClasses)
	}
	c.add(ranges, negate)
}

package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// set compiles a class in brackets.
func (q *patternParser) set() {
	c := class{negate: q.eat("^")}
	for !q.eat("]") {
		if q.pos >= len(q.src) {
			q.fail("missing ]")
			return
		}
		low := q.member(&c)
		if rest := q.src[q.pos:]; low >= 0 && len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			q.pos++
			high := q.member(&c)
			if high < 0 { // a class escape ends no range: the three stand side by side
				c.ranges = append(c.ranges, low, low, '-', '-')
				continue
			}
			if high < low {
				q.fail("range out of order in a class")
				return
			}
			c.ranges = append(c.ranges, low, high)
		} else if low >= 0 {
			c.ranges = append(c.ranges, low, low)
		}
	}
	q.class(c)
}

// member reads one character of a class. It is -1 when an escape stood for a set, which c then has.
func (q *patternParser) member(c *class) rune {
	if q.eat(`\`) {
		return q.escape(c, true)
	}
	return q.next()
}

var (
	digitRanges = []rune{'0', '9'}
	wordRanges  = []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	spaceRanges = []rune{'\t', '\r', ' ', ' ', 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff}
)

// escape reads what follows a backslash: a character, or a set that it adds to c, and is then -1.
func (q *patternParser) escape(c *class, inClass bool) rune {
	if q.pos >= len(q.src) {
		q.fail(`\ at the end`)
		return -1
	}
	switch r := q.next(); r {
	case 't':
		return '\t'
	case 'n':
		return '\n'
	case 'v':
		return '\v'
	case 'f':
		return '\f'
	case 'r':
		return '\r'
	case 'b':
		return '\b' // in a class; outside it is an assertion
	case 'd', 'D':
		c.add(digitRanges, r == 'D')
	case 'w', 'W':
		c.add(wordRanges, r == 'W')
	case 's', 'S':
		c.add(spaceRanges, r == 'S')
	case 'p', 'P':
		q.property(c, r == 'P')
	case 'c':
		if q.pos < len(q.src) && isAlpha(q.src[q.pos]) {
			return q.next() & 31
		}
		q.fail(`invalid \c`)
	case 'x':
		return q.hex(2)
	case 'u':
		if q.eat("{") {
			end := strings.IndexByte(q.src[q.pos:], '}')
			if end < 1 || end > 6 {
				q.fail(`invalid \u{`)
				return -1
			}
			r := q.hex(end)
			if q.eat("}"); r > unicode.MaxRune {
				q.fail("no such character")
			}
			return r
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
	case '0':
		if q.pos < len(q.src) && isDigit(q.src[q.pos]) {
			q.fail("octal escape")
		}
		return 0
	case 'k':
		q.unsupported("a back reference")
	default:
		if r >= '1' && r <= '9' {
			q.unsupported("a back reference")
		} else if r < utf8.RuneSelf && !isAlpha(byte(r)) {
			return r
		} else {
			q.fail(`unknown escape \` + string(r))
		}
	}
	return -1
}

// add puts ranges, or all that is in none of them, into a class.
func (c *class) add(ranges []rune, complement bool) {
	if !complement {
		c.ranges = append(c.ranges, ranges...)
		return
	}
	from := rune(0)
	for i := 0; i < len(ranges); i += 2 {
		if from < ranges[i] {
			c.ranges = append(c.ranges, from, ranges[i]-1)
		}
		from = ranges[i+1] + 1
	}
	c.ranges = append(c.ranges, from, unicode.MaxRune)
}

// hex reads n hexadecimal digits.
func (q *patternParser) hex(n int) rune {
	if len(q.src)-q.pos < n {
		q.fail("escape cut short")
		return -1
	}
	r := rune(0)
	for _, c := range []byte(q.src[q.pos : q.pos+n]) {
		if !isHex(c) {
			q.fail("not a hexadecimal digit")
			return -1
		}
		r = r<<4 | rune(hexDigit(c))
	}
	q.pos += n
	return r
}

// property reads the braces of \p and adds the property to a class.
func (q *patternParser) property(c *class, negate bool) {
	end := strings.IndexByte(q.src[q.pos:], '}')
	if !q.eat("{") || end < 0 {
		q.fail(`invalid \p`)
		return
	}
	name := q.src[q.pos : q.pos+end-1]
	q.pos += end
	for _, prefix := range [...]string{"General_Category=", "gc=", "Script=", "sc="} {
		name = strings.TrimPrefix(name, prefix)
	}
	t := unicodeProperty(name)
	if t == nil {
		switch name {
		case "Any":
			c.add(nil, !negate)
		case "ASCII":
			c.add([]rune{0, 0x7f}, negate)
		default:
			q.unsupported("the Unicode property " + name)
		}
		return
	}
	c.tables = append(c.tables, table{t, negate})
}

// unicodeProperty returns a property by name, nil when it is not among those that are supported. Every table is bytes
// in the module, so these are the ones that schemas use.
func unicodeProperty(name string) *unicode.RangeTable {
	switch name {
	case "L", "Letter":
		return unicode.Letter
	case "Lu", "Uppercase_Letter":
		return unicode.Upper
	case "Ll", "Lowercase_Letter":
		return unicode.Lower
	case "M", "Mark":
		return unicode.Mark
	case "N", "Number":
		return unicode.Number
	case "Nd", "Decimal_Number", "digit":
		return unicode.Digit
	case "P", "Punctuation", "punct":
		return unicode.Punct
	case "S", "Symbol":
		return unicode.Symbol
	case "Z", "Separator":
		return unicode.Space
	case "Zs", "Space_Separator":
		return unicode.Zs
	case "Latin":
		return unicode.Latin
	case "Greek":
		return unicode.Greek
	case "Cyrillic":
		return unicode.Cyrillic
	case "Han":
		return unicode.Han
	case "Hiragana":
		return unicode.Hiragana
	case "Katakana":
		return unicode.Katakana
	case "Hangul":
		return unicode.Hangul
	case "Arabic":
		return unicode.Arabic
	case "Hebrew":
		return unicode.Hebrew
	}
	return nil
}

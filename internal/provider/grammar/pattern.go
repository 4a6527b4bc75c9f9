package grammar

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// pattern returns an expression for the JSON strings, without their quotes, that match a regular expression. ok is
// false if it has parts that are not read here: look-around, back references, word boundaries, properties of Unicode,
// anchors in the middle, large counts.
func (g *generator) pattern(source string) (expression string, ok bool) {
	p := &patternReader{src: source, g: g}
	expression = p.whole()
	return expression, !p.failed && p.pos == len(p.src)
}

// patternReader reads a regular expression of ECMA-262.
type patternReader struct {
	src    string
	pos    int
	depth  int
	failed bool
	g      *generator
}

// maxGroups is how deep groups may nest.
const maxGroups = 20

func (p *patternReader) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *patternReader) take(s string) bool {
	if strings.HasPrefix(p.src[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *patternReader) fail() string {
	p.failed = true
	return `""`
}

// whole reads the whole expression. It matches anywhere in a text unless anchors say where.
func (p *patternReader) whole() string {
	var alternatives []string
	for {
		before, behind := p.g.use("char")+"*", p.g.use("char")+"*"
		if p.take("^") {
			before = ""
		}
		body := p.sequence()
		if p.take("$") {
			behind = ""
		}
		alternatives = append(alternatives, trimmed(join(join(before, body), behind)))
		if p.failed || !p.take("|") {
			break
		}
	}
	for i, a := range alternatives {
		if a == "" {
			alternatives[i] = `""`
		}
	}
	return "(" + either(alternatives) + ")"
}

// alternatives reads what is inside of a group.
func (p *patternReader) alternatives() string {
	var list []string
	for {
		body := p.sequence()
		if body == "" {
			body = `""`
		}
		list = append(list, body)
		if p.failed || !p.take("|") {
			return "(" + either(list) + ")"
		}
	}
}

func (p *patternReader) sequence() string {
	var b strings.Builder
	for !p.failed && p.pos < len(p.src) {
		switch p.peek() {
		case '|', ')':
			return b.String()
		case '$':
			if p.pos+1 == len(p.src) || p.depth == 0 && p.src[p.pos+1] == '|' {
				return b.String()
			}
			return p.fail()
		case '^':
			return p.fail()
		}
		term := p.quantified(p.atom())
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(term)
	}
	return b.String()
}

// quantified reads what says how often an atom occurs.
func (p *patternReader) quantified(atom string) string {
	low, high := 1, 1
	switch {
	case p.take("*"):
		low, high = 0, -1
	case p.take("+"):
		low, high = 1, -1
	case p.take("?"):
		low, high = 0, 1
	case p.peek() == '{':
		end := strings.IndexByte(p.src[p.pos:], '}')
		if end < 0 {
			return p.fail()
		}
		counts := p.src[p.pos+1 : p.pos+end]
		p.pos += end + 1
		first, second, comma := strings.Cut(counts, ",")
		var err, err2 error
		low, err = strconv.Atoi(first)
		switch {
		case !comma:
			high = low
		case second == "":
			high = -1
		default:
			high, err2 = strconv.Atoi(second)
		}
		if err != nil || err2 != nil || low > maxRepeat || high > maxRepeat || high >= 0 && low > high {
			return p.fail()
		}
	default:
		return atom
	}
	p.take("?") // lazy or not, the same texts match
	if atom == "" {
		return p.fail()
	}
	if high == 0 {
		return `""`
	}
	return repeat(atom, low, high)
}

func (p *patternReader) atom() string {
	switch c := p.peek(); c {
	case '(':
		return p.group()
	case '[':
		return p.class()
	case '.':
		p.pos++
		return `[^"\\\x00-\x1F\u2028\u2029]`
	case '\\':
		return p.escaped()
	case '*', '+', '?', '{', '}', ']':
		return p.fail()
	default:
		r, size := utf8.DecodeRuneInString(p.src[p.pos:])
		p.pos += size
		return charLiteral(r)
	}
}

func (p *patternReader) group() string {
	p.pos++
	switch {
	case p.take("?:"):
	case p.take("?<"):
		end := strings.IndexByte(p.src[p.pos:], '>')
		if end < 0 || p.peek() == '=' || p.peek() == '!' {
			return p.fail()
		}
		p.pos += end + 1
	case p.peek() == '?':
		return p.fail()
	}
	if p.depth++; p.depth > maxGroups {
		return p.fail()
	}
	body := p.alternatives()
	p.depth--
	if !p.take(")") {
		return p.fail()
	}
	return body
}

// charLiteral is a character as it is written in a JSON string.
func charLiteral(r rune) string {
	text := jsonString([]byte(string(r)))
	return literal(text[1 : len(text)-1])
}

// The classes of escapes. Of white space a grammar makes only the space: JSON escapes the others, or they look like it.
var (
	digitSpans = []span{{'0', '9'}}
	wordSpans  = []span{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	spaceSpans = []span{
		{' ', ' '},
		{0xa0, 0xa0},
		{0x1680, 0x1680},
		{0x2000, 0x200a},
		{0x2028, 0x2029},
		{0x202f, 0x202f},
		{0x205f, 0x205f},
		{0x3000, 0x3000},
		{0xfeff, 0xfeff},
	}
)

// escaped reads a backslash and what it makes of the next character, outside of a class.
func (p *patternReader) escaped() string {
	if spans, negate, ok := p.classEscape(); ok {
		return p.jsonClass(spans, negate)
	}
	r, ok := p.charEscape()
	if !ok {
		return p.fail()
	}
	return charLiteral(r)
}

// classEscape reads \d and its like.
func (p *patternReader) classEscape() (spans []span, negate, ok bool) {
	if p.pos+1 >= len(p.src) {
		return nil, false, false
	}
	switch p.src[p.pos+1] {
	case 'd', 'D':
		spans = digitSpans
	case 'w', 'W':
		spans = wordSpans
	case 's', 'S':
		spans = spaceSpans
	default:
		return nil, false, false
	}
	negate = p.src[p.pos+1] < 'a'
	p.pos += 2
	return spans, negate, true
}

// charEscape reads an escape that stands for one character.
func (p *patternReader) charEscape() (rune, bool) {
	if p.pos+1 >= len(p.src) {
		return 0, false
	}
	c := p.src[p.pos+1]
	p.pos += 2
	switch c {
	case 't':
		return '\t', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 'f':
		return '\f', true
	case 'v':
		return '\v', true
	case 'x':
		return p.hexadecimal(2)
	case 'u':
		return p.hexadecimal(4)
	}
	if strings.IndexByte(`^$\.*+?()[]{}|/-`, c) >= 0 {
		return rune(c), true
	}
	return 0, false
}

func (p *patternReader) hexadecimal(digits int) (rune, bool) {
	if p.pos+digits > len(p.src) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.src[p.pos:p.pos+digits], 16, 32)
	p.pos += digits
	return rune(n), err == nil && !(n >= 0xd800 && n < 0xe000)
}

// class reads a class in brackets.
func (p *patternReader) class() string {
	p.pos++
	negate := p.take("^")
	var spans []span
	for {
		if p.pos >= len(p.src) {
			return p.fail()
		}
		if p.take("]") {
			break
		}
		if more, not, ok := p.classEscape(); ok {
			if not || p.peek() == '-' && p.pos+1 < len(p.src) && p.src[p.pos+1] != ']' {
				return p.fail()
			}
			spans = append(spans, more...)
			continue
		}
		first, ok := p.classChar()
		if !ok {
			return p.fail()
		}
		last := first
		if p.peek() == '-' && p.pos+1 < len(p.src) && p.src[p.pos+1] != ']' {
			p.pos++
			if last, ok = p.classChar(); !ok || last < first {
				return p.fail()
			}
		}
		spans = append(spans, span{first, last})
	}
	if len(spans) == 0 {
		return p.fail() // nothing, or anything
	}
	return p.jsonClass(spans, negate)
}

func (p *patternReader) classChar() (rune, bool) {
	if p.peek() == '\\' {
		if p.pos+1 < len(p.src) && p.src[p.pos+1] == 'b' {
			return 0, false
		}
		return p.charEscape()
	}
	r, size := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += size
	return r, true
}

// jsonClass writes a class of characters as they are written in JSON strings. Of those that are escaped there, only the
// quote, the backslash and control characters that are listed by themselves are a part of it.
func (p *patternReader) jsonClass(spans []span, negate bool) string {
	if negate {
		return classOf(append([]span{{'"', '"'}, {'\\', '\\'}, {0, 0x1f}}, spans...), true)
	}
	var alternatives []string
	var plain []span
	for _, s := range spans {
		if s.first == s.last && (s.first == '"' || s.first == '\\' || s.first < ' ') {
			alternatives = append(alternatives, charLiteral(s.first))
			continue
		}
		plain = append(plain, without(s)...)
	}
	if len(plain) > 0 {
		alternatives = append([]string{classOf(plain, false)}, alternatives...)
	}
	switch len(alternatives) {
	case 0:
		return p.fail() // control characters only
	case 1:
		return alternatives[0]
	}
	return "(" + either(alternatives) + ")"
}

// without takes out of a range what is escaped in JSON.
func without(s span) (list []span) {
	s.first = max(s.first, ' ')
	for _, c := range [...]rune{'"', '\\'} {
		if s.first <= c && c <= s.last {
			if s.first < c {
				list = append(list, span{s.first, c - 1})
			}
			s.first = c + 1
		}
	}
	if s.first <= s.last {
		list = append(list, s)
	}
	return list
}

package jsonpath

import (
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/pattern"
)

// Parse reads a query. The error is an [*Error]: the text is not well-formed, or not well-typed.
func Parse(text string) (*Query, error) {
	p := parser{text: text}
	if !utf8.ValidString(text) {
		return nil, &Error{Reason: "text that is not UTF-8"}
	}
	if !p.eat('$') {
		p.fail("a query starts with $")
	}
	q := Query{path{segments: p.segments()}}
	if p.err == nil && p.pos < len(text) {
		p.fail("unexpected character")
	}
	if p.err != nil {
		return nil, p.err
	}
	return &q, nil
}

// parser reads a query from front to back. An error moves it to the end of the text.
type parser struct {
	text  string
	pos   int
	depth int
	err   *Error
}

//go:noinline
func (p *parser) fail(reason string) {
	if p.err == nil {
		p.err = &Error{Offset: p.pos, Reason: reason}
	}
	p.pos = len(p.text)
}

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// eat consumes c if it comes next.
//
//go:noinline
func (p *parser) eat(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// space skips white space and returns the next byte.
func (p *parser) space() byte {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; c {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return c
		}
	}
	return 0
}

// need skips white space and consumes c.
func (p *parser) need(c byte) {
	if p.space(); !p.eat(c) {
		p.fail("expected " + string(rune(c)))
	}
}

// enter descends a level; false if that is too deep.
func (p *parser) enter() bool {
	if p.depth++; p.depth > MaxNesting {
		p.fail("nested too deeply")
	}
	return p.err == nil
}

func (p *parser) segments() []segment {
	var all []segment
	for p.err == nil {
		before := p.pos
		switch c := p.space(); {
		case c == '[':
			p.pos++
			all = append(all, segment{selectors: p.selectors()})
		case c == '.':
			p.pos++
			s := segment{descends: p.eat('.')}
			switch {
			case s.descends && p.eat('['):
				s.selectors = p.selectors()
			case p.eat('*'):
				s.selectors = []selector{{kind: selectAll}}
			default:
				s.selectors = []selector{{name: p.shorthand()}}
			}
			all = append(all, s)
		default:
			p.pos = before
			return all
		}
	}
	return all
}

// shorthand reads the name of a member after a dot.
func (p *parser) shorthand() string {
	start := p.pos
	for p.pos < len(p.text) && (nameFirst(p.text[p.pos]) || p.pos > start && isDigit(p.text[p.pos])) {
		p.pos++
	}
	if p.pos == start {
		p.fail("expected a name")
		return ""
	}
	return p.text[start:p.pos]
}

func nameFirst(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// selectors reads the contents of brackets after the opening one.
func (p *parser) selectors() []selector {
	if !p.enter() {
		return nil
	}
	var all []selector
	for p.err == nil {
		p.space()
		all = append(all, p.selector())
		if p.space() != ',' {
			break
		}
		p.pos++
	}
	p.need(']')
	p.depth--
	return all
}

func (p *parser) selector() selector {
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		return selector{name: p.quoted()}
	case c == '*':
		p.pos++
		return selector{kind: selectAll}
	case c == '?':
		p.pos++
		filter := p.or()
		return selector{kind: selectFilter, filter: &filter}
	}
	s := selector{kind: selectIndex, step: 1}
	if s.start, s.hasStart = p.integer(); s.hasStart && p.space() != ':' {
		return s
	}
	if p.space(); !p.eat(':') {
		p.fail("expected a selector")
	}
	s.kind = selectSlice
	p.space()
	s.end, s.hasEnd = p.integer()
	if p.space() == ':' {
		p.pos++
		p.space()
		if step, ok := p.integer(); ok {
			s.step = step
		}
	}
	return s
}

// integer reads an integer if one comes next.
func (p *parser) integer() (n int, ok bool) {
	start := p.pos
	negative := p.eat('-')
	first := p.pos
	for isDigit(p.peek()) {
		if n = n*10 + int(p.peek()-'0'); n > value.MaxInt {
			p.pos = start
			p.fail("integer beyond 2^53-1")
			return 0, false
		}
		p.pos++
	}
	if p.pos == first {
		if negative {
			p.fail("expected a digit")
		}
		return 0, false
	}
	if p.text[first] == '0' && (p.pos > first+1 || negative) {
		p.pos = start
		p.fail("leading zero")
	}
	if negative {
		n = -n
	}
	return n, true
}

// quoted reads a string in single or double quotes.
func (p *parser) quoted() string {
	quote := p.text[p.pos]
	p.pos++
	start := p.pos
	var out []byte // set once there is an escape
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case c == quote:
			s := p.text[start:p.pos]
			p.pos++
			return string(append(out, s...))
		case c < ' ':
			p.fail("control character in a string")
			return ""
		case c == '\\':
			out = append(out, p.text[start:p.pos]...)
			p.pos++
			r := p.escape(quote)
			out = utf8.AppendRune(out, r)
			start = p.pos
		default:
			p.pos++
		}
	}
	p.fail("unclosed string")
	return ""
}

// escape reads the rest of an escape after the backslash.
func (p *parser) escape(quote byte) rune {
	c := p.peek()
	p.pos++
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case '/', '\\', quote:
		return rune(c)
	case 'u':
		r := p.hex4()
		if r>>10 == 0xd800>>10 && p.eat('\\') && p.eat('u') {
			if low := p.hex4(); low>>10 == 0xdc00>>10 {
				return (r-0xd800)<<10 + low - 0xdc00 + 0x10000
			}
		}
		if r>>11 != 0xd800>>11 {
			return r
		}
		p.fail("lone surrogate")
	}
	p.pos = min(p.pos-1, len(p.text))
	p.fail("invalid escape")
	return 0
}

func (p *parser) hex4() rune {
	r := rune(0)
	for range 4 {
		c := p.peek()
		switch {
		case isDigit(c):
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			p.fail("invalid escape")
			return 0
		}
		r = r<<4 | rune(c)
		p.pos++
	}
	return r
}

// or reads a logical expression.
func (p *parser) or() expression { return p.chain(opOr, '|', (*parser).and) }

func (p *parser) and() expression { return p.chain(opAnd, '&', (*parser).basic) }

// chain reads parts separated by an operator of two equal characters.
func (p *parser) chain(op operator, c byte, part func(*parser) expression) expression {
	first := part(p)
	if p.space() != c {
		return first
	}
	all := []expression{first}
	for p.err == nil && p.space() == c {
		p.pos++
		if !p.eat(c) {
			p.fail("expected " + string(rune(c)))
		}
		all = append(all, part(p))
	}
	return expression{op: op, args: all}
}

// basic reads an expression in parentheses, a comparison or a test.
func (p *parser) basic() expression {
	negated := p.space() == '!'
	if negated {
		p.pos++
		p.space()
	}
	start := p.pos
	var e expression
	if p.eat('(') {
		if p.enter() {
			e = p.or()
			p.need(')')
			p.depth--
		}
	} else {
		e = p.operand()
		comparison, ok := opOr, false
		if p.space(); !negated {
			comparison, ok = p.comparison()
		}
		switch {
		case ok:
			p.comparable(start, &e)
			p.space()
			at := p.pos
			right := p.operand()
			p.comparable(at, &right)
			e = expression{op: comparison, args: []expression{e, right}}
		case e.op == opLiteral || e.op >= opLength && e.op <= opValue:
			p.misuse(start, "a value is not a test")
		}
	}
	if negated {
		e = expression{op: opNot, args: []expression{e}}
	}
	return e
}

// comparison reads a comparison operator if one comes next.
func (p *parser) comparison() (operator, bool) {
	c, next := p.peek(), byte(0)
	if p.pos+1 < len(p.text) {
		next = p.text[p.pos+1]
	}
	op := opEqual
	switch {
	case c == '=' && next == '=':
	case c == '!' && next == '=':
		op = opUnequal
	case c == '<' || c == '>':
		op = opLess
		if c == '>' {
			op = opGreater
		}
		if next == '=' {
			op++
		} else {
			p.pos--
		}
	default:
		return 0, false
	}
	p.pos += 2
	return op, true
}

// misuse fails at the start of an operand.
func (p *parser) misuse(at int, reason string) {
	if p.err == nil {
		p.pos = at
		p.fail(reason)
	}
}

// comparable checks that an operand has one value, or none.
func (p *parser) comparable(at int, e *expression) {
	if e.op == opPath && !e.path.singular() {
		p.misuse(at, "a query that may select several nodes has no value")
	} else if e.op >= opMatch {
		p.misuse(at, "a test has no value")
	}
}

// operand reads a literal, a query or a function with its arguments.
func (p *parser) operand() expression {
	c := p.peek()
	switch {
	case c == '$' || c == '@':
		p.pos++
		return expression{op: opPath, path: path{relative: c == '@', segments: p.segments()}}
	case c == '\'' || c == '"':
		return expression{op: opLiteral, literal: value.AppendString(nil, p.quoted())}
	}
	start := p.pos
	for c = p.peek(); c == '-' || c == '+' || c == '.' || c == '_' || isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z'; c = p.peek() {
		p.pos++
	}
	word := p.text[start:p.pos]
	if c == '(' {
		return p.call(start, word)
	}
	// What is left are the words of JSON.
	literal, err := value.FromJSON(nil, []byte(word))
	if err != nil {
		p.misuse(start, "expected a query, a literal or a function")
	}
	return expression{op: opLiteral, literal: literal}
}

// call reads the arguments of a function.
func (p *parser) call(start int, name string) expression {
	e := expression{}
	nodes, count := false, 1
	switch name {
	case "length":
		e.op = opLength
	case "count":
		e.op, nodes = opCount, true
	case "value":
		e.op, nodes = opValue, true
	case "match":
		e.op, count = opMatch, 2
	case "search":
		e.op, count = opSearch, 2
	default:
		p.misuse(start, "unknown function")
		return e
	}
	p.pos++
	if !p.enter() {
		return e
	}
	for i := range count {
		if i > 0 {
			p.need(',')
		}
		p.space()
		at := p.pos
		arg := p.operand()
		if !nodes {
			p.comparable(at, &arg)
		} else if arg.op != opPath {
			p.misuse(at, "the function needs a query")
		}
		e.args = append(e.args, arg)
	}
	p.need(')')
	p.depth--
	if p.err == nil && e.op >= opMatch && e.args[1].op == opLiteral {
		if source, ok := value.String(e.args[1].literal); ok {
			budget := 0
			e.pattern, _ = pattern.IRegexp(string(source), e.op == opMatch, &budget)
		}
	}
	return e
}

// Package yaml reads the YAML of front matter and configuration as values (package value).
//
// It reads block and flow mappings and sequences ([a, b], {a: b}), plain scalars, also over several lines, quoted
// scalars on one line, block scalars (| and >, with + and -), and comments. Plain scalars follow the core schema of
// YAML 1.2: null, booleans, numbers, and otherwise text, so dates are text; .inf and .nan become null. Anchors,
// aliases, tags, directives, several documents, keys that are not scalars, and tabs as indentation fail with an error
// that names them.
//
// Text may be hostile: collections nest at most [MaxDepth] levels.
package yaml

import (
	"bytes"
	"strconv"

	"github.com/turncore/turncore/abi/value"
)

// MaxDepth is how deep collections may nest.
const MaxDepth = 100

// Error says why a text cannot be read.
type Error struct {
	Line   int // from 1
	Reason string
}

// Error names the reason and the line.
func (e *Error) Error() string { return "yaml: " + e.Reason + " on line " + strconv.Itoa(e.Line) }

// line is a line with content, or an empty one that may belong to a block scalar.
type line struct {
	indent int
	text   []byte // after the indentation
	number int
}

func (l *line) blank() bool { return len(l.text) == 0 }

type parser struct {
	lines []line
	pos   int
	depth int
	err   *Error
}

// Parse returns the value of a text, null for an empty one. The error is an [*Error].
func Parse(text []byte) ([]byte, error) {
	var p parser
	for n := 1; len(text) > 0; n++ {
		var raw []byte
		raw, text, _ = bytes.Cut(text, []byte("\n"))
		raw = bytes.TrimRight(raw, " \t\r")
		indent := 0
		for indent < len(raw) && raw[indent] == ' ' {
			indent++
		}
		p.lines = append(p.lines, line{indent, raw[indent:], n})
	}
	var out []byte
	if l := p.next(); l == nil {
		out = value.AppendNil(nil)
	} else if out = p.node(nil, -1); p.err == nil {
		if l = p.next(); l != nil {
			p.fail("unexpected text")
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return out, nil
}

//go:noinline
func (p *parser) fail(reason string) {
	if p.err == nil {
		n := 1
		if len(p.lines) > 0 {
			n = p.lines[min(p.pos, len(p.lines)-1)].number
		}
		p.err = &Error{n, reason}
	}
}

// next skips empty lines and comments and returns the current line, nil at the end.
func (p *parser) next() *line {
	for ; p.pos < len(p.lines) && p.err == nil; p.pos++ {
		if l := &p.lines[p.pos]; !l.blank() && l.text[0] != '#' {
			return l
		}
	}
	return nil
}

// node reads the node at the current line, inside a collection with the parent's indentation.
func (p *parser) node(dst []byte, parent int) []byte {
	if p.depth++; p.depth > MaxDepth {
		p.fail("collections nested too deeply")
		return dst
	}
	l := p.next()
	switch c := l.text[0]; {
	case c == '\t':
		p.fail("tab used as indentation")
	case isItem(l.text):
		dst = p.sequence(dst, l.indent)
	case c == '?' && (len(l.text) == 1 || l.text[1] == ' '):
		p.fail("unsupported key that is not a scalar")
	default:
		if _, _, ok := p.key(l.text); ok {
			dst = p.mapping(dst, l.indent)
		} else if p.err == nil {
			text := l.text
			p.pos++
			dst = p.scalar(dst, text, parent)
		}
	}
	p.depth--
	return dst
}

func isItem(text []byte) bool { return text[0] == '-' && (len(text) == 1 || text[1] == ' ') }

func (p *parser) sequence(dst []byte, indent int) []byte {
	n := 0
	var body []byte
	for l := p.next(); l != nil && l.indent == indent && isItem(l.text); l = p.next() {
		n++
		rest := bytes.TrimLeft(l.text[1:], " ")
		if len(rest) == 0 || rest[0] == '#' {
			p.pos++
			body = p.below(body, indent, false)
			continue
		}
		// Treat the rest as a line of its own, indented up to its first character.
		l.indent += len(l.text) - len(rest)
		l.text = rest
		body = p.node(body, indent)
	}
	return append(value.AppendListHeader(dst, n), body...)
}

// below reads the node in the lines below a key or an item, null if there is none.
func (p *parser) below(dst []byte, indent int, key bool) []byte {
	l := p.next()
	if l != nil && (l.indent > indent || key && l.indent == indent && isItem(l.text)) {
		return p.node(dst, indent)
	}
	return value.AppendNil(dst)
}

func (p *parser) mapping(dst []byte, indent int) []byte {
	n := 0
	var body []byte
	seen := map[string]struct{}{}
	for l := p.next(); l != nil && l.indent == indent; l = p.next() {
		key, rest, ok := p.key(l.text)
		if !ok {
			p.fail("expected a key")
			break
		}
		if _, again := seen[string(key)]; again {
			p.fail("duplicate key " + string(key))
			break
		}
		seen[string(key)] = struct{}{}
		n++
		body = value.AppendText(body, key)
		rest = bytes.TrimLeft(rest, " \t")
		p.pos++
		if len(rest) == 0 || rest[0] == '#' {
			body = p.below(body, indent, true)
		} else {
			body = p.scalar(body, rest, indent)
		}
	}
	if l := p.next(); l != nil && l.indent > indent && p.err == nil {
		p.fail("more indentation than expected")
	}
	start := len(dst)
	return value.OrderMap(append(value.AppendMapHeader(dst, n), body...), start)
}

// key reads the key that a line starts with, up to its colon.
func (p *parser) key(text []byte) (key, rest []byte, ok bool) {
	end := 0
	switch c := text[0]; c {
	case '"', '\'':
		var out []byte
		if out, end = quoted(text); end == 0 {
			return nil, nil, false
		}
		key = out
		end += len(text[end:]) - len(bytes.TrimLeft(text[end:], " "))
		if end >= len(text) || text[end] != ':' {
			return nil, nil, false
		}
	case '[', '{', '|', '>', '&', '*', '!', '%', '@', '`':
		return nil, nil, false
	default:
		for end < len(text) && !(text[end] == ':' && (end+1 == len(text) || text[end+1] == ' ' || text[end+1] == '\t')) {
			if text[end] == '#' && end > 0 && text[end-1] == ' ' {
				return nil, nil, false
			}
			end++
		}
		if end == len(text) {
			return nil, nil, false
		}
		key = bytes.TrimRight(text[:end], " \t")
	}
	if rest = text[end+1:]; len(rest) > 0 && rest[0] != ' ' && rest[0] != '\t' {
		return nil, nil, false
	}
	return key, rest, true
}

// scalar reads a scalar or a flow collection. text is the rest of its first line, already consumed; further lines are
// indented more than the parent.
func (p *parser) scalar(dst, text []byte, parent int) []byte {
	switch c := text[0]; c {
	case '|', '>':
		return p.blockScalar(dst, text, parent)
	case '"', '\'':
		out, end := quoted(text)
		if end == 0 {
			p.pos--
			p.fail("quoted text that is not closed on its line")
		} else if rest := bytes.TrimLeft(text[end:], " \t"); len(rest) > 0 && (rest[0] != '#' || len(rest) == len(text[end:])) {
			p.pos--
			p.fail("text after the closing quote")
		}
		return value.AppendText(dst, out)
	case '[', '{':
		return p.flowLines(dst, text, parent)
	case '&', '*', '!', '%', '@', '`':
		p.pos--
		p.fail("unsupported scalar that starts with " + string(rune(c)))
		return dst
	}
	plain := uncomment(text)
	var joined []byte
	blanks := 0
	for len(plain) == len(text) && p.pos < len(p.lines) {
		l := &p.lines[p.pos]
		if l.blank() {
			blanks++
			p.pos++
			continue
		}
		if l.indent <= parent || l.text[0] == '#' {
			break
		}
		if _, _, ok := p.key(l.text); ok {
			p.fail("more indentation than expected")
			return dst
		}
		if joined == nil {
			joined = append(joined, plain...)
		}
		if blanks == 0 {
			joined = append(joined, ' ')
		}
		for ; blanks > 0; blanks-- {
			joined = append(joined, '\n')
		}
		part := uncomment(l.text)
		joined = append(joined, part...)
		p.pos++
		if len(part) < len(l.text) {
			break
		}
	}
	if joined != nil {
		return value.AppendText(dst, joined)
	}
	if bytes.Equal(plain, []byte("---")) || bytes.Equal(plain, []byte("...")) {
		p.pos--
		p.fail("unsupported second document")
	}
	return resolve(dst, plain)
}

// uncomment strips the comment from a line.
func uncomment(text []byte) []byte {
	for i := 1; i < len(text); i++ {
		if text[i] == '#' && (text[i-1] == ' ' || text[i-1] == '\t') {
			return bytes.TrimRight(text[:i], " \t")
		}
	}
	return text
}

// blockScalar reads the lines of text below its header.
func (p *parser) blockScalar(dst, header []byte, parent int) []byte {
	folds := header[0] == '>'
	indent, chomp := -1, byte(0)
	for _, c := range uncomment(header)[1:] {
		switch {
		case c == '+' || c == '-':
			chomp = c
		case c >= '1' && c <= '9':
			indent = max(parent, 0) + int(c-'0')
		default:
			p.pos--
			p.fail("unknown header of a block scalar")
			return dst
		}
	}
	var out []byte
	blanks, deeper := 0, true // lines indented more than the first one are not folded
	for ; p.pos < len(p.lines); p.pos++ {
		l := &p.lines[p.pos]
		if l.blank() {
			blanks++
			continue
		}
		if indent < 0 {
			indent = max(l.indent, parent+1)
		}
		if l.indent < indent {
			break
		}
		more := l.indent > indent || l.text[0] == '\t'
		switch {
		case out == nil:
			out = []byte{}
		case folds && !more && !deeper && blanks == 0:
			out = append(out, ' ')
		case folds && !more && !deeper:
		default:
			out = append(out, '\n')
		}
		for ; blanks > 0; blanks-- {
			out = append(out, '\n')
		}
		deeper = more
		for range l.indent - indent {
			out = append(out, ' ')
		}
		out = append(out, l.text...)
	}
	if out != nil && chomp != '-' {
		out = append(out, '\n')
	}
	for ; chomp == '+' && blanks > 0; blanks-- {
		out = append(out, '\n')
	}
	return value.AppendText(dst, out)
}

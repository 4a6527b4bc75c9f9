package markdown

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// maxLabel is the maximum length of a reference label.
const maxLabel = 999

// definitions removes link definitions from the start of the open paragraph, and reports whether anything is left.
func (p *blockParser) definitions(b *block) bool {
	parent := p.open[len(p.open)-1]
	for len(b.text) > 0 && b.text[0] == '[' {
		line, rest, _ := bytes.Cut(b.text, []byte("\n"))
		t := define(line)
		if t == nil {
			return true
		}
		last := len(parent.children) - 1
		parent.children = parent.children[:last]
		d := p.push(definition)
		d.start, d.end, d.target = b.start, b.start, t
		if key := normalize(t.label); p.targets[key] == nil {
			p.targets[key] = t
		}
		if b.text = trimLeft(rest); len(b.text) == 0 {
			return false
		}
		b.start++
		p.leaf = b
		parent.children = append(parent.children, b)
	}
	return true
}

// define reads the line of a definition; nil if it is not one.
func define(b []byte) *target {
	n := labelSize(b)
	if n == 0 || n == len(b) || b[n] != ':' || b[1] == '^' {
		return nil
	}
	t := &target{label: b[1 : n-1]}
	rest := trimLeft(b[n+1:])
	var size int
	if t.url, size = destination(rest); size == 0 {
		return nil
	}
	after := rest[size:]
	if rest = trimLeft(after); isBlank(rest) {
		return t
	}
	if len(rest) == len(after) {
		return nil
	}
	t.title, size = linkTitle(rest)
	t.titled = size > 0
	if size == 0 || !isBlank(rest[size:]) {
		return nil
	}
	return t
}

// labelSize returns the length of the bracketed label at the start of b, or 0.
//
//go:noinline
func labelSize(b []byte) int {
	if len(b) == 0 || b[0] != '[' {
		return 0
	}
	for i := 1; i < len(b) && i <= maxLabel+1; i++ {
		switch b[i] {
		case '\\':
			i++
		case '[':
			return 0
		case ']':
			if isBlank(b[1:i]) {
				return 0
			}
			return i + 1
		}
	}
	return 0
}

// normalize maps labels that differ only in case and white space to one text.
func normalize(label []byte) string {
	var out []byte
	for _, r := range string(trim(label)) {
		if r >= utf8.RuneSelf || !isSpace(byte(r)) {
			out = utf8.AppendRune(out, unicode.ToLower(r))
		} else if out[len(out)-1] != ' ' {
			out = append(out, ' ')
		}
	}
	return string(out)
}

// destination reads the destination of a link. size is 0 if there is none.
//
//go:noinline
func destination(b []byte) (url []byte, size int) {
	if len(b) == 0 {
		return nil, 0
	}
	if b[0] == '<' {
		for i := 1; i < len(b); i++ {
			switch b[i] {
			case '\\':
				i++
			case '\n', '<':
				return nil, 0
			case '>':
				return unescape(b[1:i]), i + 1
			}
		}
		return nil, 0
	}
	depth, i := 0, 0
	for ; i < len(b) && b[i] > ' ' && b[i] != 0x7f; i++ {
		switch {
		case b[i] == '\\' && i+1 < len(b) && isPunct(b[i+1]):
			i++
		case b[i] == '(':
			if depth++; depth > 32 {
				return nil, 0
			}
		case b[i] == ')':
			depth--
		}
		if depth < 0 {
			break
		}
	}
	if depth > 0 || i == 0 {
		return nil, 0
	}
	return unescape(b[:i]), i
}

// linkTitle reads the title of a link. size is 0 if there is none.
func linkTitle(b []byte) (title []byte, size int) {
	if len(b) == 0 {
		return nil, 0
	}
	closing := b[0]
	if closing == '(' {
		closing = ')'
	} else if closing != '"' && closing != '\'' {
		return nil, 0
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case closing:
			return unescape(b[1:i]), i + 1
		case '(':
			if closing == ')' {
				return nil, 0
			}
		}
	}
	return nil, 0
}

// resource reads the parentheses after a link's text.
func resource(b []byte) (t *target, size int) {
	if len(b) == 0 || b[0] != '(' {
		return nil, 0
	}
	i := 1 + spaces(b[1:])
	t = &target{}
	url, n := destination(b[i:])
	t.url = url
	i += n
	if gap := spaces(b[i:]); gap > 0 && n > 0 {
		i += gap
		t.title, n = linkTitle(b[i:])
		t.titled = n > 0
		i += n
		i += spaces(b[i:])
	}
	if i >= len(b) || b[i] != ')' {
		return nil, 0
	}
	return t, i + 1
}

//go:noinline
func spaces(b []byte) int {
	n := 0
	for n < len(b) && isSpace(b[n]) {
		n++
	}
	return n
}

// unescape resolves backslash escapes and character references.
//
//go:noinline
func unescape(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 && bytes.IndexByte(b, '&') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) && isPunct(b[i+1]) {
			i++
		} else if b[i] == '&' {
			if r, n := reference(b[i:]); n > 0 {
				out = utf8.AppendRune(out, r)
				i += n - 1
				continue
			}
		}
		out = append(out, b[i])
	}
	return out
}

// reference reads a character reference. size is 0 if there is none, or an unknown one.
func reference(b []byte) (r rune, size int) {
	end := bytes.IndexByte(b[:min(len(b), 12)], ';')
	if end < 3 {
		return 0, 0
	}
	name := string(b[1:end])
	if name[0] == '#' {
		base, digits := 10, name[1:]
		if digits[0]|0x20 == 'x' {
			base, digits = 16, digits[1:]
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil {
			return 0, 0
		}
		if n == 0 || n > utf8.MaxRune {
			n = utf8.RuneError
		}
		return rune(n), end + 1
	}
	if r = entities[name]; r == 0 {
		return 0, 0
	}
	return r, end + 1
}

// entities are the characters that have a name.
var entities = map[string]rune{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\'', "nbsp": 0xa0}

// bareLink reads a bare link in text. size is 0 if there is none.
func bareLink(b []byte) (url []byte, size int) {
	prefix := ""
	n := 0
	switch {
	case hasPrefixFold(b, "http://"):
		n = 7
	case hasPrefixFold(b, "https://"):
		n = 8
	case hasPrefixFold(b, "www."):
		n, prefix = 4, "http://"
	}
	if n == 0 || n >= len(b) || !isLetter(b[n]) && !isDigit(b[n]) && b[n] < utf8.RuneSelf {
		return nil, 0
	}
	end, open := n, 0
	for ; end < len(b) && !isSpace(b[end]) && b[end] != '<'; end++ {
		if b[end] == '(' {
			open++
		} else if b[end] == ')' {
			open--
		}
	}
	// Exclude punctuation at the end.
	for end > n {
		if c := b[end-1]; c == ')' && open < 0 {
			open++
		} else if c == ')' || !in(c, "?!.,:*_~'\"") {
			break
		}
		end--
	}
	return append([]byte(prefix), b[:end]...), end
}

//go:noinline
func hasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(lower(b[:len(prefix)])) == prefix
}

func containsAny(b []byte, some string) bool {
	for _, c := range b {
		if in(c, some) {
			return true
		}
	}
	return false
}

// autolink reads an address in angle brackets. size is 0 if there is none.
func autolink(b []byte) (url []byte, size int) {
	i := 1
	for i < len(b) && b[i] > ' ' && b[i] != '<' && b[i] != '>' {
		i++
	}
	if i >= len(b) || b[i] != '>' {
		return nil, 0
	}
	inner := b[1:i]
	scheme := 0
	for scheme < len(inner) && (isLetter(inner[scheme]) || scheme > 0 && (isDigit(inner[scheme]) || in(inner[scheme], "+.-"))) {
		scheme++
	}
	if scheme >= 2 && scheme <= 32 && scheme < len(inner) && inner[scheme] == ':' {
		return inner, i + 1
	}
	at := bytes.IndexByte(inner, '@')
	if at < 1 || at == len(inner)-1 || bytes.IndexByte(inner[at+1:], '@') >= 0 || containsAny(inner, "\\/:;,()[]\"") {
		return nil, 0
	}
	return append([]byte("mailto:"), inner...), i + 1
}

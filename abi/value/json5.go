package value

import (
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// FromJSON5 appends the value of a JSON5 text to dst: JSON with comments, trailing commas, unquoted keys, strings in
// single quotes or over several lines, and the numbers of ECMAScript. NaN and the infinities become null, as in
// ECMAScript. An unquoted key may hold any non-ASCII character except white space. The error is a [*SyntaxError]; dst
// is then returned unchanged.
func FromJSON5(dst, text []byte) ([]byte, error) {
	r := reader5{text: text}
	out := r.value(dst, MaxDepth)
	if r.next(); r.err == nil && r.pos < len(text) {
		r.fail("text after the value")
	}
	if r.err != nil {
		return dst, r.err
	}
	return out, nil
}

// reader5 reads a JSON5 text from front to back. An error moves it to the end.
type reader5 struct {
	text []byte
	pos  int
	err  *SyntaxError
}

//go:noinline
func (r *reader5) fail(reason string) {
	if r.err == nil {
		r.err = &SyntaxError{Offset: r.pos, Reason: reason}
	}
	r.pos = len(r.text)
}

func (r *reader5) failHere() {
	if r.pos < len(r.text) {
		r.fail("unexpected character")
	} else {
		r.fail("text ends early")
	}
}

func (r *reader5) peek() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

// next skips white space and comments and returns the next byte, 0 at the end.
func (r *reader5) next() byte {
	for r.pos < len(r.text) {
		if n := space5(r.text[r.pos:]); n > 0 {
			r.pos += n
			continue
		}
		rest := r.text[r.pos:]
		if len(rest) < 2 || rest[0] != '/' || rest[1] != '/' && rest[1] != '*' {
			return rest[0]
		}
		line := rest[1] == '/'
		n := 2
		for {
			if n >= len(rest) {
				if !line {
					r.fail("unclosed comment")
				}
				break
			}
			if line && newline5(rest[n:]) > 0 {
				break
			}
			if !line && rest[n] == '*' && n+1 < len(rest) && rest[n+1] == '/' {
				n += 2
				break
			}
			n++
		}
		if r.err == nil {
			r.pos += n
		}
	}
	return 0
}

// space5 returns the length of the white space character at the start of b, or 0.
func space5(b []byte) int {
	switch c := b[0]; {
	case c == ' ' || c >= '\t' && c <= '\r':
		return 1
	case c < utf8.RuneSelf:
		return 0
	}
	switch c, n := utf8.DecodeRune(b); {
	case c == 0xa0 || c == 0xfeff || c == 0x1680 || c >= 0x2000 && c <= 0x200a || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000:
		return n
	}
	return 0
}

// newline5 returns the length of the line end at the start of b, or 0.
func newline5(b []byte) int {
	switch {
	case b[0] == '\r' && len(b) > 1 && b[1] == '\n':
		return 2
	case b[0] == '\n' || b[0] == '\r':
		return 1
	case len(b) > 2 && b[0] == 0xe2 && b[1] == 0x80 && b[2]|1 == 0xa9:
		return 3
	}
	return 0
}

func (r *reader5) value(dst []byte, depth int) []byte {
	switch c := r.next(); {
	case c == '{' || c == '[':
		if depth--; depth < 0 {
			r.fail("nested too deeply")
			r.err.deep = true
			return dst
		}
		r.pos++
		if c == '{' {
			return r.object(dst, depth)
		}
		start, n := len(dst), 0
		dst = append(dst, 0x90)
		for r.next() != ']' && r.err == nil {
			dst = r.value(dst, depth)
			n++
			r.separate(']')
		}
		r.pos++
		return CloseContainer(dst, start, n)
	case c == '"' || c == '\'':
		return r.string(dst)
	}
	return r.word(dst)
}

// separate consumes a comma, or checks that the closing bracket comes next.
func (r *reader5) separate(closing byte) {
	if c := r.next(); c == ',' {
		r.pos++
	} else if c != closing {
		r.failHere()
	}
}

func (r *reader5) object(dst []byte, depth int) []byte {
	var few [16]span
	spans := few[:0]
	var order keyOrder
	start := len(dst)
	dst = append(dst, 0x80)
	for r.next() != '}' && r.err == nil {
		member := len(dst)
		if c := r.peek(); c == '"' || c == '\'' {
			dst = r.string(dst)
		} else {
			dst = r.identifier(dst)
		}
		if r.next() != ':' {
			r.failHere()
		}
		if r.err != nil {
			return dst
		}
		r.pos++
		_, size, _ := Head(dst, member)
		key, val := member+size, len(dst)
		order.add(dst[key:val])
		dst = r.value(dst, depth)
		spans = append(spans, span{uint32(len(spans)), uint32(key), uint32(val), uint32(member), uint32(len(dst))})
		r.separate('}')
	}
	r.pos++
	n := len(spans)
	if r.err == nil && (order.broken || hasDuplicate(dst, spans)) {
		dst, n = orderSpans(dst, spans)
	}
	return CloseContainer(dst, start, n)
}

// identifier reads an unquoted key.
func (r *reader5) identifier(dst []byte) []byte {
	start, first := len(dst), r.pos
	dst = append(dst, 0, 0, 0, 0, 0)
	for r.pos < len(r.text) {
		c := r.text[r.pos]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c == '$' || c == '_' || r.pos > first && c-'0' <= 9:
			dst = append(dst, c)
			r.pos++
			continue
		case c >= utf8.RuneSelf && space5(r.text[r.pos:]) == 0:
			_, n := utf8.DecodeRune(r.text[r.pos:])
			dst = append(dst, r.text[r.pos:r.pos+n]...)
			r.pos += n
			continue
		case c == '\\' && r.pos+1 < len(r.text) && r.text[r.pos+1] == 'u':
			r.pos++
			dst = r.escape(dst)
			continue
		}
		break
	}
	if r.pos == first {
		r.failHere()
	}
	return sealText(dst, start)
}

// sealText makes a string of the text after the five bytes at dst[start].
func sealText(dst []byte, start int) []byte {
	text := dst[start+5:]
	if !utf8.Valid(text) {
		text = appendUTF8(nil, text)
		dst = append(dst[:start+5], text...)
	}
	head := AppendStringHeader(dst[:start], len(text))
	return dst[:len(head)+copy(dst[len(head):], dst[start+5:])]
}

func (r *reader5) string(dst []byte) []byte {
	quote, start := r.text[r.pos], len(dst)
	r.pos++
	dst = append(dst, 0, 0, 0, 0, 0)
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; {
		case c == quote:
			r.pos++
			return sealText(dst, start)
		case c == '\\':
			r.pos++
			dst = r.escape(dst)
		case c == '\n' || c == '\r':
			r.fail("line end in a string")
		default:
			dst = append(dst, c)
			r.pos++
		}
	}
	r.failHere()
	return dst
}

// escape reads the rest of an escape after the backslash and appends its character.
func (r *reader5) escape(dst []byte) []byte {
	if r.pos >= len(r.text) {
		r.failHere()
		return dst
	}
	if n := newline5(r.text[r.pos:]); n > 0 {
		r.pos += n
		return dst
	}
	c := r.text[r.pos]
	r.pos++
	switch c {
	case 'v':
		c = '\v'
	case 'x':
		return utf8.AppendRune(dst, r.hex(2))
	case 'u':
		u := r.hex(4)
		u, more := joinSurrogates(u, r.text[r.pos:])
		r.pos += more
		return utf8.AppendRune(dst, u)
	default:
		if c-'0' <= 9 {
			if c != '0' || r.peek()-'0' <= 9 {
				r.pos--
				r.fail("invalid escape")
			}
			c = 0
		}
	}
	return append(dst, escaped(c))
}

func (r *reader5) hex(n int) rune {
	digits := [4]byte{'0', '0', '0', '0'}
	if copy(digits[4-n:], r.text[r.pos:]) < n || hex4(digits[:]) < 0 {
		r.fail("invalid escape")
		return 0
	}
	r.pos += n
	return hex4(digits[:])
}

// word reads a number or a literal.
func (r *reader5) word(dst []byte) []byte {
	start := r.pos
	for c := r.peek(); c == '+' || c == '-' || c == '.' || c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'z'; c = r.peek() {
		r.pos++
	}
	word := r.text[start:r.pos]
	switch string(word) {
	case "true", "false":
		return AppendBool(dst, word[0] == 't')
	case "null":
		return AppendNil(dst)
	}
	f, ok := number5(word)
	if !ok {
		r.pos = start
		r.failHere()
	}
	return AppendNumber(dst, f)
}

// number5 reads a number of JSON5.
func number5(word []byte) (f float64, ok bool) {
	digits := word
	if len(digits) > 0 && (digits[0] == '+' || digits[0] == '-') {
		digits = digits[1:]
	}
	switch string(digits) {
	case "Infinity", "NaN":
		return math.NaN(), true
	}
	text := string(word)
	switch {
	case len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x':
		for _, c := range digits[2:] {
			if !(c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f') {
				return 0, false
			}
		}
		text += "p0"
	default:
		i, n := 0, 0
		for ; i < len(digits) && digits[i]-'0' <= 9; i++ {
			n++
		}
		if n > 1 && digits[0] == '0' {
			return 0, false
		}
		if i < len(digits) && digits[i] == '.' {
			for i++; i < len(digits) && digits[i]-'0' <= 9; i++ {
				n++
			}
		}
		if n == 0 {
			return 0, false
		}
		if i < len(digits) && digits[i]|0x20 == 'e' {
			if i++; i < len(digits) && (digits[i] == '+' || digits[i] == '-') {
				i++
			}
			n = i
			for ; i < len(digits) && digits[i]-'0' <= 9; i++ {
			}
			if i == n {
				return 0, false
			}
		}
		if i < len(digits) {
			return 0, false
		}
		text = unsafe.String(&word[0], len(word))
	}
	// The error can only be that the number is out of range.
	f, _ = strconv.ParseFloat(text, 64)
	return f, true
}

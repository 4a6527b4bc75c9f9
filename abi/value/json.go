package value

import (
	"errors"
	"unicode/utf8"
	"unsafe"
)

// FromJSON appends the value of a JSON text to dst. It checks the text strictly against RFC 8259 and reads numbers as
// ECMAScript does; one too large for a float64 becomes null, as it would in ECMAScript. The error is a [*SyntaxError];
// dst is then returned unchanged.
func FromJSON(dst, text []byte) ([]byte, error) {
	s := NewScanner(text)
	out, _ := s.AppendValue(dst)
	if err := s.End(); err != nil {
		return dst, err
	}
	return out, nil
}

// AppendValue consumes the value and appends it to dst, encoded. ok is false if there is none or it is malformed; dst
// is then returned unchanged.
func (s *Scanner) AppendValue(dst []byte) (out []byte, ok bool) {
	ready := s.ready
	out = s.appendValue(dst)
	if !ready || s.err != nil {
		return dst, false
	}
	return out, true
}

func (s *Scanner) appendValue(dst []byte) []byte {
	switch c := s.next(); c {
	case '{':
		return s.appendObject(dst)
	case '[':
		start, n := len(dst), 0
		dst = append(dst, 0x90)
		for ok := s.enter(']'); ok; ok = s.more(']') {
			s.ready = true
			dst = s.appendValue(dst)
			n++
		}
		return CloseContainer(dst, start, n)
	case '"':
		raw, plain, _ := s.scanString()
		return appendToken(dst, raw, plain)
	case 't', 'f':
		dst = AppendBool(dst, c == 't')
	case 'n':
		dst = AppendNil(dst)
	default:
		if c == '-' || c-'0' <= 9 {
			f, n, exact, _ := s.scanNumber(true)
			if exact {
				return AppendInt(dst, n)
			}
			return AppendNumber(dst, f)
		}
	}
	s.Skip()
	return dst
}

// appendToken appends the string with the text raw between its quotes.
func appendToken(dst, raw []byte, plain bool) []byte {
	if plain {
		return append(AppendStringHeader(dst, len(raw)), raw...)
	}
	// Leave room for the largest head, then close the gap.
	start := len(dst)
	dst = appendUnescaped(append(dst, 0, 0, 0, 0, 0), raw)
	text := dst[start+5:]
	head := AppendStringHeader(dst[:start], len(text))
	return dst[:len(head)+copy(dst[len(head):], text)]
}

func (s *Scanner) appendObject(dst []byte) []byte {
	var few [16]span
	spans := few[:0]
	var order keyOrder
	start := len(dst)
	dst = append(dst, 0x80)
	for ok := s.enter('}'); ok; ok = s.more('}') {
		raw, plain, ok := s.key()
		if !ok {
			return dst
		}
		member := len(dst)
		dst = appendToken(dst, raw, plain)
		_, size, _ := Head(dst, member)
		key, val := member+size, len(dst)
		order.add(dst[key:val])
		dst = s.appendValue(dst)
		spans = append(spans, span{uint32(len(spans)), uint32(key), uint32(val), uint32(member), uint32(len(dst))})
	}
	n := len(spans)
	if s.err == nil && (order.broken || hasDuplicate(dst, spans)) {
		dst, n = orderSpans(dst, spans)
	}
	return CloseContainer(dst, start, n)
}

// AppendJSON appends v as compact JSON text: members in their order, numbers as ECMAScript writes them, only the
// escapes that JSON requires, and bytes as a base64 string. The error is one of this package's; dst is then returned
// unchanged.
func AppendJSON(dst, v []byte) ([]byte, error) { return appendJSON(dst, v, false) }

// AppendCanonical appends v as canonical JSON text (RFC 8785): like [AppendJSON], with the members of every map sorted
// by the UTF-16 code units of their keys.
func AppendCanonical(dst, v []byte) ([]byte, error) { return appendJSON(dst, v, true) }

// AppendIndented is [AppendJSON] with a line for each member and element, indented by two spaces per level, as
// ECMAScript does. It stops once it has appended more than limit bytes; cut then reports that the text is incomplete.
func AppendIndented(dst, v []byte, limit int) (out []byte, cut bool, err error) {
	w := writer{v: v, indent: true, limit: len(dst) + limit}
	if out, err = w.finish(dst); err == errFull {
		return out, true, nil
	}
	return out, false, err
}

var errFull = errors.New("value: beyond the limit")

func appendJSON(dst, v []byte, canonical bool) ([]byte, error) {
	w := writer{v: v, canonical: canonical}
	return w.finish(dst)
}

func (w *writer) finish(dst []byte) ([]byte, error) {
	out := w.value(dst, MaxDepth)
	if w.err == nil && w.i != len(w.v) {
		w.err = ErrMalformed
	}
	if w.err != nil && w.err != errFull {
		return dst, w.err
	}
	return out, w.err
}

// line starts a line at the depth of the open containers, if the text is indented.
func (w *writer) line(dst []byte, depth int) []byte {
	if !w.indent || w.err != nil {
		return dst
	}
	if len(dst) > w.limit {
		w.err = errFull
		return dst
	}
	dst = append(dst, '\n')
	for range MaxDepth - depth {
		dst = append(dst, "  "...)
	}
	return dst
}

// writer writes v[i:] as text, from front to back.
type writer struct {
	v         []byte
	i         int
	canonical bool
	indent    bool
	limit     int // of indented text
	err       error
}

func (w *writer) value(dst []byte, depth int) []byte {
	kind, size, n := Head(w.v, w.i)
	if size == 0 {
		w.err = headError(w.v, w.i)
		return dst
	}
	switch w.i += size; kind {
	case KindNil:
		return append(dst, "null"...)
	case KindBool:
		if n == 1 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case KindInt:
		return appendDecimal(dst, int64(n))
	case KindFloat:
		return AppendJSONNumber(dst, number(kind, n))
	case KindString, KindBytes:
		if n > uint64(len(w.v)-w.i) {
			w.err = ErrTruncated
			return dst
		}
		body := w.v[w.i : w.i+int(n)]
		w.i += int(n)
		if kind == KindBytes {
			return append(appendBase64(append(dst, '"'), body), '"')
		}
		return AppendJSONText(dst, body)
	}
	if depth <= 0 {
		w.err = ErrTooDeep
		return dst
	}
	if kind == KindMap {
		return w.members(dst, depth, n)
	}
	dst = append(dst, '[')
	for i := uint64(0); i < n && w.err == nil; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.value(w.line(dst, depth-1), depth-1)
	}
	if n > 0 {
		dst = w.line(dst, depth)
	}
	return append(dst, ']')
}

func (w *writer) members(dst []byte, depth int, n uint64) []byte {
	var few [16]span
	spans := few[:0]
	sorted := true
	dst = append(dst, '{')
	body := len(dst)
	for i := uint64(0); i < n; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		key, val, err := KeyAt(w.v, w.i)
		if err != nil {
			w.err = err
			return dst
		}
		dst = w.line(dst, depth-1)
		start := len(dst)
		dst = append(AppendJSONText(dst, key), ':')
		if w.indent {
			dst = append(dst, ' ')
		}
		w.i = val
		if dst = w.value(dst, depth-1); w.err != nil {
			return dst
		}
		if w.canonical {
			spans = append(spans, span{0, uint32(val - len(key)), uint32(val), uint32(start), uint32(len(dst))})
			sorted = sorted && (i == 0 || lessUTF16(spans[i-1].keyIn(w.v), key))
		}
	}
	if !sorted {
		v := w.v
		sortSpans(spans, func(a, b span) bool { return lessUTF16(a.keyIn(v), b.keyIn(v)) })
		dst = permute(dst, body, spans, ',')
	}
	if n > 0 {
		dst = w.line(dst, depth)
	}
	return append(dst, '}')
}

// lessUTF16 compares UTF-8 texts by their UTF-16 code units. That is the order of the bytes, except that characters
// beyond the Basic Multilingual Plane (first byte 0xf0 and up), being surrogates, precede U+E000 to U+FFFF (0xee,
// 0xef).
func lessUTF16(a, b []byte) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if x, y := a[i], b[i]; x != y {
			if x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0) {
				return x > y
			}
			return x < y
		}
	}
	return len(a) < len(b)
}

const hexDigits = "0123456789abcdef"

// AppendJSONString appends text as [AppendJSONText] does.
func AppendJSONString(dst []byte, s string) []byte {
	return AppendJSONText(dst, unsafe.Slice(unsafe.StringData(s), len(s)))
}

// AppendJSONText appends text as a JSON string, with only the escapes that JSON requires. Invalid UTF-8 becomes U+FFFD.
func AppendJSONText(dst, text []byte) []byte {
	start, ascii := len(dst), true
	dst = append(dst, '"')
	for i := 0; ; {
		end, plain := runEnd(text, i)
		ascii = ascii && plain
		dst = append(dst, text[i:end]...)
		if end == len(text) {
			break
		}
		i = end + 1
		c := text[end]
		switch c {
		case '\b':
			c = 'b'
		case '\t':
			c = 't'
		case '\n':
			c = 'n'
		case '\f':
			c = 'f'
		case '\r':
			c = 'r'
		case '"', '\\':
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			continue
		}
		dst = append(dst, '\\', c)
	}
	if !ascii && !utf8.Valid(text) {
		return AppendJSONText(dst[:start], appendUTF8(nil, text))
	}
	return append(dst, '"')
}

// appendBase64 appends b in padded standard base64. encoding/base64 would link reflection into the module.
func appendBase64(dst, b []byte) []byte {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for ; len(b) > 0; b = b[min(3, len(b)):] {
		var in [3]byte
		n := copy(in[:], b)
		out := [4]byte{digits[in[0]>>2], digits[in[0]&3<<4|in[1]>>4], '=', '='}
		if n > 1 {
			out[2] = digits[in[1]&15<<2|in[2]>>6]
		}
		if n > 2 {
			out[3] = digits[in[2]&63]
		}
		dst = append(dst, out[:]...)
	}
	return dst
}

package journal

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/turncore/turncore/host/internal/value"
)

// AppendJSON appends the frames of a batch as a JSON array. Each is an object: "frame" has its name, and the fields
// have the names of the ABI's tuples, numbers of kinds and collections their names. Byte strings in UTF-8 are
// strings, others are {"hex": "…"}. Malformed bytes come last, as {"malformed": …}.
//
// The npm package writes the same bytes.
func AppendJSON(dst, batch []byte) []byte {
	dst = append(dst, '[')
	for first := true; len(batch) > 0; first = false {
		if !first {
			dst = append(dst, ',')
		}
		var frame []byte
		frame, batch = next(batch)
		dst = appendFrame(dst, frame)
	}
	return append(dst, ']')
}

// next splits the first frame off a batch: all of it when it is malformed.
func next(batch []byte) (frame, rest []byte) {
	w := &writer{b: batch}
	if !w.value("raw", nil, 0) {
		return batch, nil
	}
	return batch[:len(batch)-len(w.b)], w.b
}

// appendFrame appends one frame.
func appendFrame(dst, frame []byte) []byte {
	w := &writer{text: dst, b: frame}
	at := *w
	if _, n, ok := at.head(); ok && n > 0 {
		if _, op, ok := at.head(); ok {
			if name := groups["Op"][op]; name != "" && w.tuple(name, 0) && len(w.b) == 0 {
				return w.text
			}
		}
	}
	return append(appendHex(append(dst, `{"malformed":`...), frame), '}')
}

// writer turns encoded values into JSON.
type writer struct {
	text []byte
	b    []byte // to be read
}

// maxNesting is the depth limit of values, including those encoded in byte strings.
const maxNesting = 128

// Kinds of value.
const (
	nilValue = iota
	boolValue
	intValue
	floatValue
	textValue
	bytesValue
	arrayValue
	mapValue
)

// head reads the head of a value: its kind, and its number, its length or its bits.
func (w *writer) head() (what int, n int64, ok bool) {
	if len(w.b) == 0 {
		return 0, 0, false
	}
	c := w.b[0]
	w.b = w.b[1:]
	switch {
	case c < 0x80 || c >= 0xe0:
		return intValue, int64(int8(c)), true
	case c < 0x90:
		return mapValue, int64(c & 15), true
	case c < 0xa0:
		return arrayValue, int64(c & 15), true
	case c < 0xc0:
		return textValue, int64(c & 31), true
	}
	size := 0
	switch c {
	case 0xc0:
		return nilValue, 0, true
	case 0xc2, 0xc3:
		return boolValue, int64(c & 1), true
	case 0xc4, 0xc5, 0xc6:
		what, size = bytesValue, 1<<(c-0xc4)
	case 0xcb:
		what, size = floatValue, 8
	case 0xcc, 0xcd, 0xce, 0xcf:
		what, size = intValue, 1<<(c-0xcc)
	case 0xd0, 0xd1, 0xd2, 0xd3:
		what, size = intValue, 1<<(c-0xd0)
	case 0xd9, 0xda, 0xdb:
		what, size = textValue, 1<<(c-0xd9)
	case 0xdc, 0xdd:
		what, size = arrayValue, 2<<(c-0xdc)
	case 0xde, 0xdf:
		what, size = mapValue, 2<<(c-0xde)
	default:
		return 0, 0, false
	}
	if size > len(w.b) {
		return 0, 0, false
	}
	var full [8]byte
	copy(full[8-size:], w.b)
	w.b = w.b[size:]
	n = int64(binary.BigEndian.Uint64(full[:]))
	if c >= 0xd0 && c <= 0xd3 { // signed
		n = n << (64 - 8*size) >> (64 - 8*size)
	}
	return what, n, true
}

// take reads n bytes.
func (w *writer) take(n int64) (b []byte, ok bool) {
	if n < 0 || n > int64(len(w.b)) {
		return nil, false
	}
	b, w.b = w.b[:n], w.b[n:]
	return b, true
}

// tuple writes an array whose elements have names.
func (w *writer) tuple(name string, depth int) bool {
	fields := strings.Fields(tuples[name])
	before := *w
	what, n, ok := w.head()
	if !ok || what != arrayValue || n != int64(len(fields)) {
		*w = before
		return w.value("raw", nil, depth)
	}
	numbers := map[string]int64{} // of groups
	w.text = append(w.text, '{')
	for i, field := range fields {
		field, kind, _ := strings.Cut(field, ":")
		if i > 0 {
			w.text = append(w.text, ',')
		}
		if field == "op" {
			if _, _, ok := w.head(); !ok {
				return false
			}
			w.text = append(append(append(w.text, `"frame":"`...), name...), '"')
			continue
		}
		w.text = append(value.AppendJSONString(w.text, field), ':')
		if !w.value(kind, numbers, depth+1) {
			return false
		}
	}
	w.text = append(w.text, '}')
	return true
}

// value writes a value of a kind, which may depend on earlier numbers.
func (w *writer) value(kind string, numbers map[string]int64, depth int) bool {
	if depth > maxNesting || len(w.b) == 0 {
		return false
	}
	if group, ok := strings.CutPrefix(kind, "@"); ok {
		kind = payloads[group][numbers[group]]
	}
	kind = strings.TrimSuffix(kind, "?")
	if tuples[kind] != "" && w.b[0] != 0xc0 {
		return w.tuple(kind, depth)
	}
	element, _ := strings.CutSuffix(kind, "[]")
	what, n, ok := w.head()
	if !ok {
		return false
	}
	switch what {
	case nilValue:
		w.text = append(w.text, "null"...)
	case boolValue:
		w.text = append(w.text, [2]string{"false", "true"}[n]...)
	case floatValue:
		w.text = value.AppendJSONNumber(w.text, math.Float64frombits(uint64(n)))
	case intValue:
		if name := groups[kind][n]; name != "" {
			numbers[kind] = n
			w.text = value.AppendJSONString(w.text, name)
		} else {
			w.text = value.AppendJSONNumber(w.text, float64(n))
		}
	case textValue, bytesValue:
		b, ok := w.take(n)
		if !ok {
			return false
		}
		w.bytes(b, kind, numbers, depth)
	case arrayValue:
		w.text = append(w.text, '[')
		for i := range n {
			if i > 0 {
				w.text = append(w.text, ',')
			}
			if !w.value(element, numbers, depth+1) {
				return false
			}
		}
		w.text = append(w.text, ']')
	case mapValue:
		w.text = append(w.text, '{')
		for i := range n {
			if i > 0 {
				w.text = append(w.text, ',')
			}
			what, size, ok := w.head()
			key, enough := w.take(size)
			if !ok || !enough || what != textValue || !utf8.Valid(key) {
				return false
			}
			w.text = append(value.AppendJSONString(w.text, key), ':')
			if !w.value("raw", nil, depth+1) {
				return false
			}
		}
		w.text = append(w.text, '}')
	}
	return true
}

// bytes writes a string, or a byte string.
func (w *writer) bytes(b []byte, kind string, numbers map[string]int64, depth int) {
	if kind == "values" {
		inner := &writer{text: append(w.text, '['), b: b}
		record := payloads["Collection"][numbers["Collection"]]
		ok := true
		for len(inner.b) > 0 && ok {
			if len(inner.b) < len(b) {
				inner.text = append(inner.text, ',')
			}
			if inner.b[0] >= 0x90 && inner.b[0] < 0xa0 && record != "" {
				ok = inner.tuple(record, depth+1)
			} else {
				ok = inner.value("raw", nil, depth+1)
			}
		}
		if ok {
			w.text = append(inner.text, ']')
			return
		}
	}
	if kind == "bin" || !utf8.Valid(b) {
		w.text = appendHex(w.text, b)
		return
	}
	w.text = value.AppendJSONString(w.text, b)
}

func appendHex(dst, b []byte) []byte {
	return append(hex.AppendEncode(append(dst, `{"hex":"`...), b), `"}`...)
}

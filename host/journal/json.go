package journal

import (
	"encoding/hex"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
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

// head reads the head of a value: its kind, and its number, its length or its bits.
func (w *writer) head() (kind value.Kind, n int64, ok bool) {
	kind, size, bits := value.Head(w.b, 0)
	w.b = w.b[size:]
	return kind, int64(bits), size > 0
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
	if !ok || what != value.KindList || n != int64(len(fields)) {
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
	case value.KindNil:
		w.text = append(w.text, "null"...)
	case value.KindBool:
		w.text = append(w.text, [2]string{"false", "true"}[n]...)
	case value.KindFloat:
		w.text = value.AppendJSONNumber(w.text, math.Float64frombits(uint64(n)))
	case value.KindInt:
		if name := groups[kind][n]; name != "" {
			numbers[kind] = n
			w.text = value.AppendJSONString(w.text, name)
		} else {
			w.text = value.AppendJSONNumber(w.text, float64(n))
		}
	case value.KindString, value.KindBytes:
		b, ok := w.take(n)
		if !ok {
			return false
		}
		w.bytes(b, kind, numbers, depth)
	case value.KindList:
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
	case value.KindMap:
		w.text = append(w.text, '{')
		for i := range n {
			if i > 0 {
				w.text = append(w.text, ',')
			}
			what, size, ok := w.head()
			key, enough := w.take(size)
			if !ok || !enough || what != value.KindString || !utf8.Valid(key) {
				return false
			}
			w.text = append(value.AppendJSONText(w.text, key), ':')
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
	w.text = value.AppendJSONText(w.text, b)
}

func appendHex(dst, b []byte) []byte {
	return append(hex.AppendEncode(append(dst, `{"hex":"`...), b), `"}`...)
}

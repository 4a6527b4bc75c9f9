package value

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/turncore/turncore/abi"
)

// Read decodes exactly one value: nil, bool, int64, float64, string, []byte, []any or [Map]. Nothing in the
// result shares memory with b. It accepts integers that are not in their shortest form and keys in any order; an error
// is a [*abi.FrameError].
func Read(b []byte) (any, error) {
	r := valueReader{b: b}
	v, err := r.value(0)
	if err == nil && r.i != len(b) {
		err = malformed(r.i, "bytes after the value")
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

type valueReader struct {
	b []byte
	i int
}

func (r *valueReader) value(depth int) (any, *abi.FrameError) {
	c, n, err := r.head()
	if err != nil {
		return nil, err
	}
	start := r.i
	switch {
	case c < 0x80 || c >= 0xe0:
		return int64(int8(c)), nil
	case c < 0x90 || c > 0xdd:
		return r.members(n, depth)
	case c < 0xa0 || c > 0xdb:
		return r.list(n, depth)
	case c < 0xc0 || c > 0xd8:
		return r.text(n)
	}
	switch c {
	case 0xc2, 0xc3:
		return c == 0xc3, nil
	case 0xc4, 0xc5, 0xc6:
		if n > uint64(len(r.b)-r.i) {
			return nil, malformed(len(r.b), "truncated")
		}
		r.i += int(n)
		return bytes.Clone(r.b[start:r.i:r.i]), nil
	case 0xcb:
		return math.Float64frombits(n), nil
	case 0xcc, 0xcd, 0xce, 0xcf:
		return int64(n), nil
	case 0xd0:
		return int64(int8(n)), nil
	case 0xd1:
		return int64(int16(n)), nil
	case 0xd2:
		return int64(int32(n)), nil
	case 0xd3:
		return int64(n), nil
	}
	return nil, nil
}

// head reads the first byte of a value and what follows it: the number itself, or a length.
func (r *valueReader) head() (c byte, n uint64, err *abi.FrameError) {
	if r.i >= len(r.b) {
		return 0, 0, malformed(r.i, "truncated")
	}
	start := r.i
	c = r.b[r.i]
	r.i++
	switch {
	case c < 0x80 || c >= 0xe0:
		return c, 0, nil
	case c < 0xa0:
		return c, uint64(c & 15), nil
	case c < 0xc0:
		return c, uint64(c & 31), nil
	}
	w := int(widths[c-0xc0])
	if w == 0xff {
		return 0, 0, malformed(start, "no value starts with this byte")
	}
	if len(r.b)-r.i < w {
		return 0, 0, malformed(len(r.b), "truncated")
	}
	var wide [8]byte
	copy(wide[8-w:], r.b[r.i:r.i+w])
	r.i += w
	n = binary.BigEndian.Uint64(wide[:])
	if c == 0xcf && n > abi.MaxInt || c == 0xd3 && n+abi.MaxInt > 2*abi.MaxInt {
		return 0, 0, malformed(start, "an integer is beyond 2^53-1")
	}
	return c, n, nil
}

func (r *valueReader) text(n uint64) (string, *abi.FrameError) {
	if n > uint64(len(r.b)-r.i) {
		return "", malformed(len(r.b), "truncated")
	}
	s := string(r.b[r.i : r.i+int(n)])
	r.i += int(n)
	return abi.UTF8(s), nil
}

// open checks that n elements of at least size bytes can follow.
func (r *valueReader) open(n uint64, size, depth int) *abi.FrameError {
	switch {
	case depth >= abi.MaxDepth:
		return exceeded(r.i, "64 nested arrays and maps")
	case n > abi.MaxArray:
		return exceeded(r.i, "8192 elements an array or map")
	case n > uint64((len(r.b)-r.i)/size):
		return malformed(len(r.b), "truncated")
	}
	return nil
}

// first is the room that a container gets at once. It doubles as elements are read, for containers in containers could
// otherwise each claim room for all the bytes that follow.
const first = 256

// grow makes room for one more of n elements.
func grow[S ~[]E, E any](s S, n uint64) S {
	if len(s) < cap(s) {
		return s
	}
	return append(make(S, 0, min(int(n), 2*len(s))), s...)
}

func (r *valueReader) list(n uint64, depth int) (any, *abi.FrameError) {
	if err := r.open(n, 1, depth); err != nil {
		return nil, err
	}
	list := make([]any, 0, min(n, first))
	for range n {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(grow(list, n), v)
	}
	return list, nil
}

func (r *valueReader) members(n uint64, depth int) (any, *abi.FrameError) {
	if err := r.open(n, 2, depth); err != nil {
		return nil, err
	}
	m := make(Map, 0, min(n, first))
	for range n {
		start := r.i
		c, size, err := r.head()
		if err != nil {
			return nil, err
		}
		if (c < 0xa0 || c >= 0xc0) && (c < 0xd9 || c > 0xdb) {
			return nil, malformed(start, "a map's key is not a string")
		}
		key, err := r.text(size)
		if err != nil {
			return nil, err
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		m = append(grow(m, n), Member{key, v})
	}
	return m.ordered(), nil
}

// maxJSONDepth bounds the recursion over JSON text.
const maxJSONDepth = 512

// ParseJSON parses a JSON text. Objects become [Map], so that their members keep their order; numbers are read as
// ECMAScript reads them, as int64 where they are integral and at most [abi.MaxInt], as float64 otherwise.
func ParseJSON(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := parseNext(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the value")
	}
	return v, nil
}

func parseNext(dec *json.Decoder, depth int) (any, error) {
	if depth > maxJSONDepth {
		return nil, errors.New("nested too deeply")
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Number:
		f, err := t.Float64()
		if err != nil {
			return nil, err
		}
		if f >= -abi.MaxInt && f <= abi.MaxInt && f == math.Trunc(f) {
			return int64(f), nil
		}
		return f, nil
	case json.Delim:
		if t == '[' {
			list := []any{}
			for dec.More() {
				v, err := parseNext(dec, depth+1)
				if err != nil {
					return nil, err
				}
				list = append(list, v)
			}
			_, err := dec.Token()
			return list, err
		}
		m := Map{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := parseNext(dec, depth+1)
			if err != nil {
				return nil, err
			}
			m = append(m, Member{key.(string), v})
		}
		_, err := dec.Token()
		return m.ordered(), err
	}
	return token, nil
}

func malformed(offset int, reason string) *abi.FrameError {
	return &abi.FrameError{Code: abi.CodeABIMalformedFrame, Offset: offset, Reason: reason}
}

func exceeded(offset int, limit string) *abi.FrameError {
	return &abi.FrameError{Code: abi.CodeABILimitExceeded, Offset: offset, Reason: "limit of " + limit + " exceeded"}
}

// widths are the bytes that follow the first byte of a value, from 0xc0 to 0xdf: the number itself, or a length. 0xff
// stands for what frames do not hold: the unused byte, extensions and float32.
var widths = [32]uint8{
	0x00, 0xff, 0x00, 0x00, 0x01, 0x02, 0x04, 0xff, 0xff, 0xff, 0xff, 0x08, 0x01, 0x02, 0x04, 0x08,
	0x01, 0x02, 0x04, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x02, 0x04, 0x02, 0x04, 0x02, 0x04,
}

package value

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"

	"github.com/turncore/turncore/abi"
	general "github.com/turncore/turncore/abi/value"
)

var (
	errTrailing  = errors.New("bytes follow the value")
	errMalformed = errors.New("the value is malformed")
)

// IsNil tells an absent value.
func IsNil(v []byte) bool { return len(v) == 0 || v[0] == 0xc0 }

// IsMap tells a map, as far as its head goes.
func IsMap(v []byte) bool {
	kind, _, _, err := head(v)
	return err == nil && kind == mapKind
}

// Decode returns an encoded value as a Go value: nil, bool, int64 or float64, string, []byte, and lists and maps, whose
// order matters, as json.RawMessage.
func Decode(v []byte) (any, error) {
	if IsNil(v) {
		return nil, nil
	}
	if c := v[0]; c >= 0x80 && c < 0xa0 || c >= 0xdc && c < 0xe0 {
		return JSON(v)
	}
	return general.Read(v)
}

// JSON returns an encoded value as JSON text; nil for no value.
func JSON(v []byte) (json.RawMessage, error) {
	if len(v) == 0 {
		return nil, nil
	}
	return AppendJSON(nil, v)
}

// Member returns the value of a map's member, a part of m.
func Member(m []byte, name string) (v []byte, ok bool) {
	kind, n, rest, err := head(m)
	if err != nil || kind != mapKind {
		return nil, false
	}
	for range n {
		kind, size, body, err := head(rest)
		if err != nil || kind != textKind || size > uint64(len(body)) {
			return nil, false
		}
		key := body[:size]
		after, err := Skip(body[size:])
		if err != nil {
			return nil, false
		}
		if string(key) == name {
			return body[size : len(body)-len(after)], true
		}
		rest = after
	}
	return nil, false
}

// Skip returns what follows the value that v starts with.
func Skip(v []byte) ([]byte, error) { return skip(v, abi.MaxValueDepth+4) }

func skip(v []byte, depth int) (rest []byte, err error) {
	kind, n, rest, err := head(v)
	switch {
	case err != nil:
		return nil, err
	case kind == textKind || kind == bytesKind:
		if n > uint64(len(rest)) {
			return nil, errMalformed
		}
		return rest[n:], nil
	case kind == mapKind:
		n *= 2
	case kind != listKind:
		return rest, nil
	}
	if depth == 0 {
		return nil, errDepth
	}
	for ; n > 0 && err == nil; n-- {
		rest, err = skip(rest, depth-1)
	}
	return rest, err
}

type kind uint8

const (
	nilKind kind = iota
	boolKind
	intKind
	floatKind
	textKind
	bytesKind
	listKind
	mapKind
)

// head reads the first byte of a value and its operand: the bits of a number, or a length. rest is what follows it.
func head(v []byte) (k kind, n uint64, rest []byte, err error) {
	if len(v) == 0 {
		return 0, 0, nil, errMalformed
	}
	c := v[0]
	rest = v[1:]
	switch {
	case c < 0x80 || c >= 0xe0:
		return intKind, uint64(int64(int8(c))), rest, nil
	case c < 0x90:
		return mapKind, uint64(c & 15), rest, nil
	case c < 0xa0:
		return listKind, uint64(c & 15), rest, nil
	case c < 0xc0:
		return textKind, uint64(c & 31), rest, nil
	}
	form := forms[c-0xc0]
	if form.width == 0xff || len(rest) < int(form.width) {
		return 0, 0, nil, errMalformed
	}
	var wide [8]byte
	copy(wide[8-form.width:], rest[:form.width])
	n = binary.BigEndian.Uint64(wide[:])
	switch c {
	case 0xc3:
		n = 1
	case 0xd0:
		n = uint64(int64(int8(n)))
	case 0xd1:
		n = uint64(int64(int16(n)))
	case 0xd2:
		n = uint64(int64(int32(n)))
	}
	return form.kind, n, rest[form.width:], nil
}

// forms are the kinds of value that start with the bytes 0xc0 to 0xdf, and how many bytes of operand follow.
var forms = [32]struct {
	kind  kind
	width uint8
}{
	{nilKind, 0},
	{0, 0xff},
	{boolKind, 0},
	{boolKind, 0},
	{bytesKind, 1},
	{bytesKind, 2},
	{bytesKind, 4},
	{0, 0xff},
	{0, 0xff},
	{0, 0xff},
	{0, 0xff},
	{floatKind, 8},
	{intKind, 1},
	{intKind, 2},
	{intKind, 4},
	{intKind, 8},
	{intKind, 1},
	{intKind, 2},
	{intKind, 4},
	{intKind, 8},
	{0, 0xff},
	{0, 0xff},
	{0, 0xff},
	{0, 0xff},
	{0, 0xff},
	{textKind, 1},
	{textKind, 2},
	{textKind, 4},
	{listKind, 2},
	{listKind, 4},
	{mapKind, 2},
	{mapKind, 4},
}

// float is the number that a head of kind k says.
func float(k kind, n uint64) float64 {
	if k == floatKind {
		return math.Float64frombits(n)
	}
	return float64(int64(n))
}

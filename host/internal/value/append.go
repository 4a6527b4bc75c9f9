// Package value turns JSON text into the ABI's one encoding of values and back, without building Go values in between,
// and puts together the elements of tuples. Package abi/value has the general codec and says what the encoding is.
package value

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/turncore/turncore/abi"
	general "github.com/turncore/turncore/abi/value"
)

// maxLength is how many elements a list or map may have.
const maxLength = 8192

var (
	errDepth  = errors.New("the value is nested deeper than " + strconv.Itoa(abi.MaxValueDepth) + " levels")
	errLength = errors.New("a list or map has more than " + strconv.Itoa(maxLength) + " elements")
)

// Append appends v's encoding to dst: whatever the general codec takes, JSON text read faster. field names v in errors;
// dst is then returned as it was.
func Append(dst []byte, v any, field string) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return Nil(dst), nil
	case string:
		return String(dst, v), nil
	case json.RawMessage:
		out, err := FromJSON(dst, v)
		if err != nil {
			return dst, &general.Error{Field: field, Reason: err.Error()}
		}
		return out, nil
	}
	return general.Append(dst, v, field)
}

// Nil appends nil.
func Nil(dst []byte) []byte { return append(dst, 0xc0) }

// Bool appends a truth value.
func Bool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 0xc3)
	}
	return append(dst, 0xc2)
}

// String appends text; what is not UTF-8 becomes U+FFFD.
func String(dst []byte, s string) []byte {
	s = abi.UTF8(s)
	switch n := len(s); {
	case n < 32:
		dst = append(dst, 0xa0|byte(n))
	case n < 1<<8:
		dst = append(dst, 0xd9, byte(n))
	case n < 1<<16:
		dst = append(dst, 0xda, byte(n>>8), byte(n))
	default:
		dst = append(dst, 0xdb, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(dst, s...)
}

// Int appends an integer of at most 2^53-1 in magnitude.
func Int(dst []byte, n int64) []byte {
	switch {
	case n >= -32 && n < 1<<7:
		return append(dst, byte(n))
	case n >= 0 && n < 1<<8:
		return append(dst, 0xcc, byte(n))
	case n >= 0 && n < 1<<16:
		return append(dst, 0xcd, byte(n>>8), byte(n))
	case n >= 0 && n < 1<<32:
		return append(dst, 0xce, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	case n >= 0:
		return append64(append(dst, 0xcf), uint64(n))
	case n >= math.MinInt8:
		return append(dst, 0xd0, byte(n))
	case n >= math.MinInt16:
		return append(dst, 0xd1, byte(n>>8), byte(n))
	case n >= math.MinInt32:
		return append(dst, 0xd2, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append64(append(dst, 0xd3), uint64(n))
}

func append64(dst []byte, n uint64) []byte {
	return append(dst, byte(n>>56), byte(n>>48), byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

// Float appends a number as a float64, as the fields of records are that hold one.
func Float(dst []byte, f float64) []byte { return append64(append(dst, 0xcb), math.Float64bits(f)) }

// number appends a finite number as a value.
func number(dst []byte, f float64) []byte {
	if f >= -abi.MaxInt && f <= abi.MaxInt && f == math.Trunc(f) {
		return Int(dst, int64(f))
	}
	return Float(dst, f)
}

// Array appends the head of an array of n elements.
func Array(dst []byte, n int) []byte { return container(dst, 0x90, n) }

// Map appends the head of a map of n members.
func Map(dst []byte, n int) []byte { return container(dst, 0x80, n) }

// container appends the head of an array (small is 0x90) or a map (0x80).
func container(dst []byte, small byte, n int) []byte {
	wide := 0xdc + (0x90-small)>>3
	switch {
	case n < 16:
		return append(dst, small|byte(n))
	case n < 1<<16:
		return append(dst, wide, byte(n>>8), byte(n))
	}
	return append(dst, wide+1, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

// CompareKeys orders the keys of a map as far as the encoding does: array indexes first, in ascending order. All others are
// equal.
func CompareKeys(a, b string) int { return cmp.Compare(arrayIndex(a), arrayIndex(b)) }

// notIndex sorts behind every array index.
const notIndex = 1 << 32

// arrayIndex returns the array index that key spells ("0" to "4294967294"), notIndex if it spells none.
func arrayIndex(key string) int64 {
	if len(key) == 0 || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return notIndex
	}
	n := int64(0)
	for i := range len(key) {
		d := key[i] - '0'
		if d > 9 {
			return notIndex
		}
		n = n*10 + int64(d)
	}
	if n >= 1<<32-1 {
		return notIndex
	}
	return n
}

// Package value reads and writes values: JSON-like data held as the bytes of one MessagePack object.
//
// A value has exactly one encoding, so that any two hosts send the same bytes for it:
//
//   - an integral number with |n| <= 2^53-1 is the shortest MessagePack integer (the unsigned family when n >= 0,
//     the signed one otherwise; -0 is 0); every other number is a float64, never a float32;
//   - a time is a plain integer, in milliseconds since 1970;
//   - text is UTF-8 in the shortest string form; what is not UTF-8, a lone surrogate included, becomes U+FFFD;
//   - bytes are the bin family; extension types do not occur;
//   - the keys of a map are strings and unique. Keys that are array indexes ("0" to "4294967294") come first in
//     ascending order, the others follow in the order they were inserted, as ECMAScript orders properties.
//
// Both sides of the boundary use the package. It is compiled into the guest: it depends on nothing that would link
// reflection or formatting into the module, readers return parts of their input, and [MaxDepth] bounds all recursion.
//
// Readers accept what a decoder must accept: integers need not be in their shortest form and keys need not be in
// order. They never panic, whatever bytes they are given.
package value

import "errors"

// MaxDepth is how deep containers may nest in data that this package reads.
const MaxDepth = 512

// MaxInt is the largest magnitude of a number that is encoded as an integer: 2^53-1.
const MaxInt = 1<<53 - 1

// Errors of readers for malformed values. They are returned unwrapped and cost no allocation.
var (
	// ErrTruncated says that the bytes end inside a value.
	ErrTruncated = errors.New("value: truncated")
	// ErrMalformed says that the bytes are not a value, or that more bytes follow one.
	ErrMalformed = errors.New("value: malformed")
	// ErrTooDeep says that containers are nested deeper than allowed.
	ErrTooDeep = errors.New("value: nested too deeply")
	// ErrKind says that a value is not of the requested kind.
	ErrKind = errors.New("value: wrong kind")
)

// Kind is the kind of a value.
type Kind uint8

// The kinds. JSON does not distinguish KindInt and KindFloat; only the encoding does.
const (
	KindInvalid Kind = iota // no value, or a malformed one
	KindNil
	KindBool
	KindInt
	KindFloat
	KindString
	KindBytes
	KindList
	KindMap
)

// forms describes the bytes 0xc0 to 0xdf: the kind in the high four bits, the bytes of its operand in the low four.
// A zero byte is a form that values do not use.
const forms = "\x10\x00\x20\x20\x61\x62\x64\x00\x00\x00\x00\x48\x31\x32\x34\x38" +
	"\x31\x32\x34\x38\x00\x00\x00\x00\x00\x51\x52\x54\x72\x74\x82\x84"

// Form describes the bytes from 0xc0 to 0xdf: the kind, and the size of the number or length that follows. The kind is
// [KindInvalid] for a form that values do not use.
func Form(c byte) (kind Kind, width int) {
	form := forms[c&31]
	return Kind(form >> 4), int(form & 15)
}

// The kinds of values whose head is one byte, by the high four bits of it, and the bits of it that are n in [Head].
// Negative integers are left to Head.
const (
	shortKinds = "\x03\x03\x03\x03\x03\x03\x03\x03\x08\x07\x05\x05\x00\x00\x00\x00"
	shortMasks = "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x0f\x0f\x1f\x1f\x00\x00\x00\x00"
)

// shortHead is [Head] for a head of one byte, as most are, without a call. The kind is [KindInvalid] for others.
func shortHead(v []byte, i int) (kind Kind, size int, n uint64) {
	if uint(i) >= uint(len(v)) {
		return KindInvalid, 0, 0
	}
	c := v[i]
	return Kind(shortKinds[c>>4]), 1, uint64(c & shortMasks[c>>4])
}

// Head reads the head of the value at v[i:]. size is the length of the head, 0 if there is none. n is the length of a
// string or bytes, the number of elements or members, the value of a bool, or the bits of a number.
func Head(v []byte, i int) (kind Kind, size int, n uint64) {
	if uint(i) >= uint(len(v)) {
		return KindInvalid, 0, 0
	}
	c := v[i]
	switch {
	case c < 0xc0:
		return shortHead(v, i)
	case c >= 0xe0:
		return KindInt, 1, uint64(int64(int8(c)))
	}
	kind, width := Form(c)
	if kind == KindInvalid || len(v)-i <= width {
		return KindInvalid, 0, 0
	}
	switch width {
	case 0:
		return kind, 1, uint64(c & 1)
	case 1:
		n = uint64(v[i+1])
		if c == 0xd0 {
			n = uint64(int64(int8(n)))
		}
	case 2:
		n = uint64(v[i+1])<<8 | uint64(v[i+2])
		if c == 0xd1 {
			n = uint64(int64(int16(n)))
		}
	case 4:
		b := v[i+1 : i+5]
		n = uint64(b[0])<<24 | uint64(b[1])<<16 | uint64(b[2])<<8 | uint64(b[3])
		if c == 0xd2 {
			n = uint64(int64(int32(n)))
		}
	case 8:
		b := v[i+1 : i+9]
		n = uint64(b[0])<<56 | uint64(b[1])<<48 | uint64(b[2])<<40 | uint64(b[3])<<32 |
			uint64(b[4])<<24 | uint64(b[5])<<16 | uint64(b[6])<<8 | uint64(b[7])
		if kind == KindInt && (c == 0xcf && n > MaxInt || c == 0xd3 && n+MaxInt > 2*MaxInt) {
			return KindInvalid, 0, 0
		}
	}
	return kind, 1 + width, n
}

// headError says why Head found no head at v[i:].
func headError(v []byte, i int) error {
	if i >= len(v) {
		return ErrTruncated
	}
	if c := v[i]; c >= 0xc0 && c < 0xe0 {
		if kind, width := Form(c); kind != KindInvalid && len(v)-i <= width {
			return ErrTruncated
		}
	}
	return ErrMalformed
}

// Skip checks that v starts with a well-formed value whose containers nest at most maxDepth levels, and returns the
// bytes after it. It does not allocate. It does not check that text is UTF-8 or that keys are unique.
func Skip(v []byte, maxDepth int) (rest []byte, err error) {
	if n := Flat(v, 0); n != 0 {
		return v[n:], nil
	}
	end, err := skip(v, 0, maxDepth)
	if err != nil {
		return nil, err
	}
	return v[end:], nil
}

// Check reports whether v is exactly one value that is well-formed for [Skip] with [MaxDepth].
func Check(v []byte) error {
	end, err := skip(v, 0, MaxDepth)
	if err == nil && end != len(v) {
		err = ErrMalformed
	}
	return err
}

// flats has the lengths of common short values by their first byte: small integers, nil, booleans and short strings. It
// is 0 for all others.
const (
	flats = ints + ints + ints + ints + ints + ints + ints + ints + others + others +
		"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10" +
		"\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x20" +
		"\x01\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + others + ints + ints
	ints   = "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"
	others = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
)

// Flat returns the length of the value at v[i:] if it is a small integer, nil, a boolean or a short string, and 0 for
// all others.
func Flat(v []byte, i int) int {
	if uint(i) < uint(len(v)) {
		if n := int(flats[v[i]]); n <= len(v)-i {
			return n
		}
	}
	return 0
}

// skip returns the end of the value at v[i:]. Callers in loops look for the common short ones by themselves.
func skip(v []byte, i, depth int) (int, error) {
	kind, size, n := shortHead(v, i)
	if kind == KindInvalid {
		if kind, size, n = Head(v, i); size == 0 {
			return 0, headError(v, i)
		}
	}
	i += size
	switch kind {
	case KindString, KindBytes:
		if n > uint64(len(v)-i) {
			return 0, ErrTruncated
		}
		i += int(n)
	case KindList, KindMap:
		if depth <= 0 {
			return 0, ErrTooDeep
		}
		var err error
		for ; n > 0; n-- {
			if kind == KindMap {
				if uint(i) < uint(len(v)) && v[i]-0xa0 < 0x20 { // a short key; its value is missing if it is cut off
					i += 1 + int(v[i]-0xa0)
				} else if _, i, err = KeyAt(v, i); err != nil {
					return 0, err
				}
			}
			if size := Flat(v, i); size != 0 {
				i += size
			} else if i, err = skip(v, i, depth-1); err != nil {
				return 0, err
			}
		}
	}
	return i, nil
}

// KeyAt reads the key of the member at v[i:] and returns where its value starts.
func KeyAt(v []byte, i int) (key []byte, next int, err error) {
	if uint(i) < uint(len(v)) && v[i]-0xa0 < 0x20 { // a short one, as most are
		if start, next := i+1, i+1+int(v[i]-0xa0); next <= len(v) {
			return v[start:next:next], next, nil
		}
	}
	kind, size, n := Head(v, i)
	if size == 0 {
		return nil, 0, headError(v, i)
	}
	if kind != KindString {
		return nil, 0, ErrMalformed
	}
	i += size
	if n > uint64(len(v)-i) {
		return nil, 0, ErrTruncated
	}
	next = i + int(n)
	return v[i:next:next], next, nil
}

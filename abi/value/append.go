package value

import (
	"math"
	"unicode/utf8"
	"unsafe"
)

// AppendNil appends null.
func AppendNil(dst []byte) []byte { return append(dst, 0xc0) }

// AppendBool appends a boolean.
func AppendBool(dst []byte, b bool) []byte {
	head := byte(0xc2)
	if b {
		head = 0xc3
	}
	return append(dst, head)
}

// AppendInt appends an integer. One beyond [MaxInt] becomes the nearest float64, as in ECMAScript; callers that must
// not lose digits check first.
func AppendInt(dst []byte, n int64) []byte {
	if uint64(n) < 0x80 { // inlined at the call site, which covers most integers
		return append(dst, byte(n))
	}
	return appendWideInt(dst, n)
}

func appendWideInt(dst []byte, n int64) []byte {
	switch {
	case uint64(n) < 1<<8: // most of them
		return append(dst, 0xcc, byte(n))
	case uint64(n) < 1<<16:
		return append(dst, 0xcd, byte(n>>8), byte(n))
	case n > MaxInt || n < -MaxInt:
		return AppendFloat(dst, float64(n))
	case n < 0 && n >= -32:
		return append(dst, byte(n))
	case n >= 0:
		return appendHead(dst, 0xcc, 8, uint64(n))
	}
	// The signed forms follow the unsigned ones; -n-1 has one bit less than the form that holds n.
	switch m := uint64(^n); {
	case m < 1<<7:
		return append(dst, 0xd0, byte(n))
	case m < 1<<15:
		return append(dst, 0xd1, byte(n>>8), byte(n))
	case m < 1<<31:
		return append(dst, 0xd2, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append64(append(dst, 0xd3), uint64(n))
}

// AppendNumber appends a number: an integer if it is integral and at most [MaxInt] in magnitude, null if it is NaN or
// infinite, which JSON lacks, and a float64 otherwise.
func AppendNumber(dst []byte, f float64) []byte {
	if f >= -MaxInt && f <= MaxInt {
		if n := int64(f); float64(n) == f {
			return AppendInt(dst, n)
		}
	} else if f != f || math.IsInf(f, 0) {
		return AppendNil(dst)
	}
	return AppendFloat(dst, f)
}

// AppendFloat appends a number as a float64, for the float fields of tuples. [AppendNumber] is for values.
func AppendFloat(dst []byte, f float64) []byte {
	return append64(append(dst, 0xcb), math.Float64bits(f))
}

func append64(dst []byte, n uint64) []byte {
	return append(dst, byte(n>>56), byte(n>>48), byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

// appendHead appends the shortest form for n. The forms start at first, with an operand of one byte, and go up to width
// bytes.
func appendHead(dst []byte, first byte, width int, n uint64) []byte {
	switch {
	case n < 1<<8:
		return append(dst, first, byte(n))
	case n < 1<<16:
		return append(dst, first+1, byte(n>>8), byte(n))
	case n < 1<<32 || width < 8:
		return append(dst, first+2, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append64(append(dst, first+3), n)
}

// AppendString appends text. Invalid UTF-8 becomes U+FFFD, as in the web platform's decoder.
func AppendString(dst []byte, s string) []byte {
	if !isASCII(s) {
		s = replaced(s)
	}
	return append(AppendStringHeader(dst, len(s)), s...)
}

// AppendText appends text as [AppendString] does.
func AppendText(dst, s []byte) []byte {
	return AppendString(dst, unsafe.String(unsafe.SliceData(s), len(s)))
}

// AppendStringHeader starts text: n bytes of UTF-8 must be appended after it.
func AppendStringHeader(dst []byte, n int) []byte {
	if n < 32 {
		return append(dst, 0xa0|byte(n))
	}
	return appendHead(dst, 0xd9, 4, uint64(n))
}

// AppendBytes appends bytes.
//
//go:noinline
func AppendBytes(dst, b []byte) []byte {
	return append(AppendBytesHeader(dst, len(b)), b...)
}

// AppendBytesHeader starts bytes: n of them must be appended after it.
func AppendBytesHeader(dst []byte, n int) []byte { return appendHead(dst, 0xc4, 4, uint64(n)) }

// AppendListHeader starts a list: n values must be appended after it.
func AppendListHeader(dst []byte, n int) []byte {
	if n < 16 { // inlined at the call site, which covers most lists
		return append(dst, 0x90|byte(n))
	}
	return appendContainer(dst, 0x90, n)
}

// AppendMapHeader starts a map: n pairs of a key, appended as a string, and a value must follow it. The keys must be
// unique and in the order of the encoding; use [OrderMap] if the keys are not known beforehand.
func AppendMapHeader(dst []byte, n int) []byte {
	if n < 16 {
		return append(dst, 0x80|byte(n))
	}
	return appendContainer(dst, 0x80, n)
}

// appendContainer appends the head of a list (fix is 0x90) or a map (0x80).
//
//go:noinline
func appendContainer(dst []byte, fix byte, n int) []byte {
	if n < 16 {
		return append(dst, fix|byte(n))
	}
	wide := 0xdc + (0x90-fix)>>3 // 0xdc for a list, 0xde for a map
	if n < 1<<16 {
		return append(dst, wide, byte(n>>8), byte(n))
	}
	return append(dst, wide+1, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

// CloseContainer sets the length of the container whose one-byte head is at dst[start].
func CloseContainer(dst []byte, start, n int) []byte {
	if n < 16 {
		dst[start] |= byte(n)
		return dst
	}
	var head [5]byte
	h := appendContainer(head[:0], dst[start], n)
	dst = append(dst, h[1:]...)
	copy(dst[start+len(h):], dst[start+1:])
	copy(dst[start:], h)
	return dst
}

// UTF8 replaces each maximal part of an invalid UTF-8 sequence in s by U+FFFD, as the web platform does. All hosts read
// and write strings this way.
func UTF8(s string) string {
	if isASCII(s) {
		return s
	}
	return replaced(s)
}

// replaced is UTF8 for text that is not ASCII.
func replaced(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(appendUTF8(nil, []byte(s)))
}

// appendUTF8 appends b, with each maximal part of an invalid UTF-8 sequence replaced by U+FFFD.
func appendUTF8(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			size = invalidPrefix(b[i:])
		}
		dst = utf8.AppendRune(dst, r)
		i += size
	}
	return dst
}

// invalidPrefix returns how many bytes at the start of b, which is invalid UTF-8 there, one U+FFFD replaces: the
// longest prefix of a valid sequence, or one byte.
func invalidPrefix(b []byte) int {
	lo, hi, more := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case c >= 0xc2 && c < 0xe0:
		more = 1
	case c >= 0xe0 && c < 0xf0:
		more = 2
	case c >= 0xf0 && c < 0xf5:
		more = 3
	}
	switch b[0] {
	case 0xe0:
		lo = 0xa0
	case 0xed:
		hi = 0x9f
	case 0xf0:
		lo = 0x90
	case 0xf4:
		hi = 0x8f
	}
	n := 1
	for ; n <= more && n < len(b) && b[n] >= lo && b[n] <= hi; n++ {
		lo, hi = 0x80, 0xbf
	}
	return n
}

package abi

import "unicode/utf8"

// UTF8 is s with U+FFFD in place of each maximal part of a sequence that is not UTF-8, as the web platform decodes text:
// all hosts read and write strings so. The guest passes values on as they came.
func UTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	b, out := []byte(s), make([]byte, 0, len(s)+8)
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			size = invalidPrefix(b[i:])
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	return string(out)
}

// invalidPrefix returns how many bytes at the start of b, which is not UTF-8 there, one U+FFFD stands for: the longest
// start of a valid sequence, or one byte.
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

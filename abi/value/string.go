package value

import (
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// isASCII looks at 32 bytes at a time, then at eight, then at the last eight. Of a short text it looks at the first and
// the last ones, which may be the same.
func isASCII(s string) bool {
	switch n := len(s); {
	case n < 4:
		return n == 0 || s[0]|s[n/2]|s[n-1] < 0x80
	case n < 8:
		return (half(s)|half(s[n-4:]))&highs == 0
	case n <= 16:
		return (word(s)|word(s[n-8:]))&highs == 0
	}
	seen, last := uint64(0), word(s[len(s)-8:])
	for ; len(s) >= 32; s = s[32:] {
		seen |= word(s) | word(s[8:]) | word(s[16:]) | word(s[24:])
	}
	for ; len(s) >= 8; s = s[8:] {
		seen |= word(s)
	}
	return (seen|last)&highs == 0
}

// half returns the first four bytes of s as one number.
func half(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// word returns the first eight bytes of s as one number.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// runEnd returns the position of the next quote, backslash or control character in t[i:], len(t) if there is none, and
// whether everything before it is ASCII.
func runEnd(t []byte, i int) (end int, ascii bool) {
	seen := uint64(0)
	// Test eight bytes at a time. The lowest hit is exact; hits above it may be wrong.
	for i+8 <= len(t) {
		b := t[i : i+8 : i+8]
		x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		quote, slash := x^ones*'"', x^ones*'\\'
		found := ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & highs
		if found != 0 {
			seen |= x & (found&-found - 1)
			return i + bits.TrailingZeros64(found)>>3, seen&highs == 0
		}
		seen |= x
		i += 8
	}
	for ; i < len(t) && t[i] != '"' && t[i] != '\\' && t[i] >= ' '; i++ {
		seen |= uint64(t[i])
	}
	return i, seen&highs == 0
}

// scanString consumes the current string and returns what is between its quotes. plain says that this is already the
// text: it has no escapes and is UTF-8.
func (s *Scanner) scanString() (raw []byte, plain, ok bool) {
	s.ready = false
	t, start := s.text, s.pos+1
	i, ascii := runEnd(t, start)
	plain = true
	for i < len(t) && t[i] == '\\' {
		plain = false
		size := escapeSize(t[i+1:])
		if size == 0 {
			s.pos = i
			s.fail("invalid escape")
			return nil, false, false
		}
		i, _ = runEnd(t, i+1+size)
	}
	s.pos = i
	if i >= len(t) {
		s.fail("text ends early")
		return nil, false, false
	}
	if t[i] != '"' {
		s.fail("control character in a string")
		return nil, false, false
	}
	s.pos++
	raw = t[start:i:i]
	return raw, plain && (ascii || utf8.Valid(raw)), true
}

// escapeSize returns how many bytes after a backslash belong to the escape, 0 if it is invalid.
func escapeSize(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) >= 5 && hex4(b[1:5]) >= 0 {
			return 5
		}
	}
	return 0
}

// hex4 returns the value of four hexadecimal digits, -1 if they are invalid.
func hex4(b []byte) rune {
	r := rune(0)
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// appendUnescaped appends the text of a string whose escapes are valid.
func appendUnescaped(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		run := i
		var ascii bool
		i, ascii = runEnd(raw, i)
		if part := raw[run:i]; ascii || utf8.Valid(part) {
			dst = append(dst, part...)
		} else {
			dst = appendUTF8(dst, part)
		}
		if i+1 >= len(raw) {
			break
		}
		c := raw[i+1]
		i += 2
		if c == 'u' {
			r, more := joinSurrogates(hex4(raw[i:]), raw[i+4:])
			i += 4 + more
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, escaped(c))
	}
	return dst
}

// escaped returns the character of an escape from the letter after the backslash; any other letter represents itself.
func escaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// joinSurrogates returns the character of an escape with four digits, and how many bytes of rest belong to it: those of
// a second escape if both are surrogates of one character.
func joinSurrogates(high rune, rest []byte) (r rune, more int) {
	if high>>10 == 0xd800>>10 && len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if low := hex4(rest[2:]); low>>10 == 0xdc00>>10 {
			return (high-0xd800)<<10 + low - 0xdc00 + 0x10000, 6
		}
	}
	return high, 0
}

package value

import (
	"math"
	"strconv"
	"unsafe"
)

// Number consumes the value and returns a number as ECMAScript reads it: the nearest float64, infinite if the number is
// out of range.
func (s *Scanner) Number() (float64, bool) {
	if s.Kind() != KindFloat {
		s.Skip()
		return 0, false
	}
	f, n, exact, ok := s.scanNumber(true)
	if exact {
		f = float64(n)
	}
	return f, ok
}

// Int consumes the value and returns a number that is integral and at most [MaxInt] in magnitude.
func (s *Scanner) Int() (int64, bool) {
	f, ok := s.Number()
	n := int64(0)
	if ok = ok && f >= -MaxInt && f <= MaxInt; ok {
		n = int64(f)
	}
	if ok = ok && float64(n) == f; !ok {
		n = 0
	}
	return n, ok
}

// scanNumber consumes the number at the current position. It is n if exact is true, and otherwise f, which is only
// parsed if wanted.
func (s *Scanner) scanNumber(wanted bool) (f float64, n int64, exact, ok bool) {
	s.ready = false
	t, start := s.text, s.pos
	i := start
	if t[i] == '-' {
		i++
	}
	digits := i
	for ; i < len(t) && t[i]-'0' <= 9; i++ {
		if i-digits < 18 {
			n = n*10 + int64(t[i]-'0')
		}
	}
	s.pos = i
	if i == digits {
		s.failValue()
		return 0, 0, false, false
	}
	if t[digits] == '0' && i > digits+1 {
		s.pos = digits + 1
		s.fail("leading zero")
		return 0, 0, false, false
	}
	exact = i-digits < 16 // at most 15 digits: below 2^53
	if i < len(t) && t[i] == '.' {
		exact = false
		if i = s.digits(i + 1); i == 0 {
			return 0, 0, false, false
		}
	}
	if i < len(t) && t[i]|0x20 == 'e' {
		exact = false
		if i++; i < len(t) && (t[i] == '+' || t[i] == '-') {
			i++
		}
		if i = s.digits(i); i == 0 {
			return 0, 0, false, false
		}
	}
	s.pos = i
	if exact {
		if t[start] == '-' {
			n = -n
		}
		return 0, n, true, true
	}
	if !wanted {
		return 0, 0, false, true
	}
	token := t[start:i]
	// The error can only be that the number is out of range; the result is then the infinity, as in ECMAScript.
	f, _ = strconv.ParseFloat(unsafe.String(&token[0], len(token)), 64)
	return f, 0, false, true
}

// digits returns the end of the digits at i; without digits it fails and returns 0.
func (s *Scanner) digits(i int) int {
	first := i
	for i < len(s.text) && s.text[i]-'0' <= 9 {
		i++
	}
	if i == first {
		s.pos = i
		s.failValue()
		return 0
	}
	return i
}

// AppendJSONNumber appends a float64 as ECMAScript's Number::toString writes it; NaN and the infinities become null.
func AppendJSONNumber(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	if !(abs <= math.MaxFloat64) {
		return append(dst, "null"...)
	}
	if f == 0 {
		return append(dst, '0') // even for -0
	}
	if abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// strconv pads an exponent of one digit to e-07.
	if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

func appendDecimal(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

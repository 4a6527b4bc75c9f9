package schema

import (
	"math"
	"math/bits"
	"strconv"
)

func isIntegral(f float64) bool { return math.Trunc(f) == f && !math.IsInf(f, 0) }

// isMultiple tells whether f is a multiple of d, which is above 0, when both are taken for the decimal numbers they are
// written as. Dividing them as floating-point numbers would say that 0.3 is no multiple of 0.1.
func isMultiple(f, d float64) bool {
	if f == 0 {
		return true
	}
	a, exp := decimal(f)
	b, exp2 := decimal(d)
	if a == 0 || b == 0 {
		return false // NaN or infinite
	}
	// f = a * 10^exp and d = b * 10^exp2. One of the two is brought to the other's exponent.
	for ; exp < exp2; exp2-- {
		if b > math.MaxUint64/10 {
			return false // d is above f
		}
		b *= 10
	}
	rest := a % b
	for ; exp > exp2 && rest != 0; exp-- {
		hi, lo := bits.Mul64(rest, 10)
		_, rest = bits.Div64(hi, lo, b)
	}
	return rest == 0
}

// decimal returns the shortest decimal digits of a number's magnitude as an integer, and the power of ten to multiply
// them by. The digits are 0 when f has none.
func decimal(f float64) (digits uint64, exp int) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, 0
	}
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], math.Abs(f), 'e', -1, 64)
	i := 0
	for fraction := false; text[i] != 'e'; i++ {
		if text[i] == '.' {
			fraction = true
			continue
		}
		digits = digits*10 + uint64(text[i]-'0')
		if fraction {
			exp--
		}
	}
	e := 0
	for _, c := range text[i+2:] {
		e = e*10 + int(c-'0')
	}
	if text[i+1] == '-' {
		e = -e
	}
	return digits, exp + e
}

package grammar

import (
	"math"
	"strconv"
)

// maxInteger is the largest number of 15 digits, which is how many numbers have here before the point.
const maxInteger = 1e15 - 1

// number returns an expression for numbers, or for integers.
func (g *generator) number(n *node) (string, error) {
	if n.low > n.high || n.low == n.high && (n.lowOpen || n.highOpen) {
		return "", n.fail("", never)
	}
	if n.types&isNumber == 0 {
		return g.integer(n)
	}
	if math.IsInf(n.low, -1) && math.IsInf(n.high, 1) {
		return g.use("number"), nil
	}
	if !whole(n.low) || !whole(n.high) {
		g.widen(n.path, "minimum, maximum")
		return g.use("number"), nil
	}
	low, high := max(n.low, -maxInteger), min(n.high, maxInteger)
	var alternatives []string
	if high > 0 || high == 0 && !n.highOpen && (low < 0 || !n.lowOpen) {
		if low >= 0 {
			alternatives = g.decimals(alternatives, "", int64(low), int64(high), n.lowOpen, n.highOpen)
		} else {
			alternatives = g.decimals(alternatives, "", 0, int64(high), false, n.highOpen)
		}
	}
	if low < 0 {
		from, open := int64(0), true // -0 is 0
		if high < 0 {
			from, open = int64(-high), n.highOpen
		}
		alternatives = g.decimals(alternatives, `"-" `, from, int64(-low), open, n.lowOpen)
	}
	if len(alternatives) == 0 {
		return "", n.fail("", never)
	}
	return either(alternatives), nil
}

// whole tells whether a bound is an integer that numbers here can reach, or none.
func whole(f float64) bool {
	return math.IsInf(f, 0) || math.Trunc(f) == f && math.Abs(f) <= maxInteger
}

// decimals appends expressions for the numbers from low to high, which are not negative, behind a sign. A bound that is
// open does not belong to them.
func (g *generator) decimals(list []string, sign string, low, high int64, lowOpen, highOpen bool) []string {
	first, last := low, high
	if lowOpen {
		first++
	}
	if highOpen {
		last--
	}
	if first <= last {
		list = append(list, sign+group(integers(first, last)))
	}
	if lowOpen && low < high {
		list = append(list, sign+literal(strconv.FormatInt(low, 10))+` "." [0-9]{0,14} [1-9]`)
		low++
	}
	if low < high {
		list = append(list, sign+group(integers(low, high-1))+` "." [0-9]{1,15}`)
	}
	return list
}

// integer returns an expression for integers.
func (g *generator) integer(n *node) (string, error) {
	if math.IsInf(n.low, -1) && math.IsInf(n.high, 1) {
		return g.use("integer"), nil
	}
	low, high := math.Ceil(n.low), math.Floor(n.high)
	if low == n.low && n.lowOpen {
		low++
	}
	if high == n.high && n.highOpen {
		high--
	}
	if low > maxInteger || high < -maxInteger {
		g.widen(n.path, "minimum, maximum")
		return g.use("integer"), nil
	}
	low, high = max(low, -maxInteger), min(high, maxInteger)
	if low > high {
		return "", n.fail("", never)
	}
	var alternatives []string
	if high >= 0 {
		alternatives = append(alternatives, integers(int64(max(low, 0)), int64(high)))
	}
	if low < 0 {
		alternatives = append(alternatives, `"-" `+group(integers(int64(max(-high, 1)), int64(-low))))
	}
	return either(alternatives), nil
}

// integers returns an expression for the integers from low to high, which are not negative.
func integers(low, high int64) string {
	var alternatives []string
	// Those of one length at a time.
	for size := int64(1); low <= high; size *= 10 {
		last := size*10 - 1
		if low > last {
			continue
		}
		from, to := strconv.FormatInt(low, 10), strconv.FormatInt(min(high, last), 10)
		alternatives = sameLength(alternatives, "", from, to)
		low = last + 1
	}
	return either(alternatives)
}

// sameLength appends expressions for the texts of digits from low to high, which are of one length, behind a prefix.
func sameLength(list []string, prefix, low, high string) []string {
	same := 0
	for same < len(low) && low[same] == high[same] {
		same++
	}
	if same > 0 {
		prefix = literalDigits(prefix, low[:same])
		low, high = low[same:], high[same:]
	}
	if low == "" {
		return append(list, prefix)
	}
	first, last := low[0], high[0]
	rest := len(low) - 1
	if !all(low[1:], '0') {
		list = sameLength(list, literalDigits(prefix, low[:1]), low[1:], nines(rest))
		first++
	}
	upper := last
	if !all(high[1:], '9') {
		upper--
	}
	if first <= upper {
		middle := join(prefix, digit(first, upper))
		if rest > 0 {
			middle += " " + repeat("[0-9]", rest, rest)
		}
		list = append(list, trimmed(middle))
	}
	if upper < last {
		list = sameLength(list, literalDigits(prefix, high[:1]), zeros(rest), high[1:])
	}
	return list
}

// literalDigits puts digits behind a prefix.
func literalDigits(prefix, digits string) string {
	if n := len(prefix); n > 0 && prefix[n-1] == '"' {
		return prefix[:n-1] + digits + `"`
	}
	return trimmed(prefix + " " + literal(digits))
}

func trimmed(s string) string {
	if len(s) > 0 && s[0] == ' ' {
		return s[1:]
	}
	return s
}

func digit(first, last byte) string {
	if first == last {
		return literal(string(rune(first)))
	}
	return "[" + string(rune(first)) + "-" + string(rune(last)) + "]"
}

func all(s string, c byte) bool {
	for i := range len(s) {
		if s[i] != c {
			return false
		}
	}
	return true
}

func nines(n int) string { return "999999999999999"[:n] }
func zeros(n int) string { return "000000000000000"[:n] }

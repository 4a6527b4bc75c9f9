package pattern

import (
	"unicode"
	"unicode/utf8"
)

// class is a set of characters: those of any of its sets, or of none of them.
type class struct {
	ascii  [2]uint64 // the answer for U+0000 to U+007F
	sets   []set
	single []rune // pairs of first and last, in no order, until the class is sealed
	negate bool
	fold   bool // whatever the case
}

// set is a set of characters by ranges, pairs of first and last in ascending order, or its complement.
type set struct {
	ranges []rune
	negate bool
}

func (c *class) has(r rune) bool {
	if r < utf8.RuneSelf {
		return c.ascii[r>>6]>>(r&63)&1 != 0
	}
	return c.holds(r)
}

func (c *class) holds(r rune) bool {
	for _, s := range c.sets {
		in := s.has(r)
		if c.fold && !in {
			for f := unicode.SimpleFold(r); f != r && !in; f = unicode.SimpleFold(f) {
				in = s.has(f)
			}
		}
		if in != s.negate {
			return !c.negate
		}
	}
	return c.negate
}

func (s *set) has(r rune) bool {
	low, high := 0, len(s.ranges)/2
	for low < high {
		if mid := (low + high) / 2; s.ranges[2*mid+1] < r {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return 2*low < len(s.ranges) && s.ranges[2*low] <= r
}

// add puts a set into a class, which has it only once.
func (c *class) add(ranges []rune, negate bool) {
	for _, s := range c.sets {
		if len(s.ranges) == len(ranges) && s.negate == negate && (len(ranges) == 0 || &s.ranges[0] == &ranges[0]) {
			return
		}
	}
	c.sets = append(c.sets, set{ranges, negate})
}

// addRange puts a range into a class.
func (c *class) addRange(first, last rune) { c.single = append(c.single, first, last) }

// seal orders the ranges and fills in the answers for ASCII.
func (c *class) seal() {
	if len(c.single) > 0 {
		c.sets = append(c.sets, set{ranges: merge(c.single)})
		c.single = nil
	}
	for r := range rune(utf8.RuneSelf) {
		if c.holds(r) {
			c.ascii[r>>6] |= 1 << (r & 63)
		}
	}
}

// merge sorts ranges and joins those that overlap. It is a shell sort: small, and no input makes it slow.
func merge(r []rune) []rune {
	gap := 1
	for gap < len(r)/6 {
		gap = 3*gap + 1
	}
	for ; gap > 0; gap /= 3 {
		for i := 2 * gap; i < len(r); i += 2 {
			first, last := r[i], r[i+1]
			j := i
			for ; j >= 2*gap && r[j-2*gap] > first; j -= 2 * gap {
				r[j], r[j+1] = r[j-2*gap], r[j-2*gap+1]
			}
			r[j], r[j+1] = first, last
		}
	}
	n := 2
	for i := 2; i < len(r); i += 2 {
		if r[i] > r[n-1]+1 {
			r[n], r[n+1] = r[i], r[i+1]
			n += 2
		} else if r[i+1] > r[n-1] {
			r[n-1] = r[i+1]
		}
	}
	return r[:n]
}

var (
	digitRanges = []rune{'0', '9'}
	wordRanges  = []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	asciiRanges = []rune{0, 0x7f}
	anyRanges   = []rune{0, unicode.MaxRune}
)

// bracket compiles a class in brackets, behind the opening one.
func (q *parser) bracket() {
	c := class{negate: q.eat("^"), fold: q.flags&foldCase != 0}
	start := q.pos
	if q.dialect == re2 && q.eat("]") {
		q.pos-- // first in a class it stands for itself
	} else if q.dialect == iregexp && q.peek() == ']' {
		q.fail("empty class")
	}
	for q.err == nil {
		if q.pos >= len(q.src) {
			q.fail("missing ]")
			return
		}
		if (q.pos > start || q.dialect != re2) && q.eat("]") {
			break
		}
		low := q.member(&c, start)
		rest := q.src[q.pos:]
		if low < 0 || len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
			if low >= 0 {
				c.addRange(low, low)
			}
			continue
		}
		at := q.pos
		q.pos++
		high := q.member(&c, start)
		if high < 0 { // a class escape ends no range
			if q.dialect != ecma {
				q.pos = at
				q.fail("a class in a range")
			}
			c.addRange(low, low)
			c.addRange('-', '-')
			continue
		}
		if high < low {
			q.pos = at
			q.fail("range out of order in a class")
		}
		c.addRange(low, high)
	}
	q.class(c)
}

// member reads one character of a class, which starts at start. It is -1 when what is read stood for a set, which c
// then has, or is wrong.
func (q *parser) member(c *class, start int) rune {
	if q.eat(`\`) {
		return q.escape(c, true)
	}
	switch at, ch := q.pos, q.peek(); {
	case q.dialect == re2 && ch == '[' && q.eat("[:"):
		if q.posix(c) {
			return -1
		}
		q.pos = at
	case q.dialect == iregexp && (ch == '[' || ch == '-' && at > start && q.src[at:][:min(2, len(q.src)-at)] != "-]"):
		q.fail("unescaped " + string(rune(ch)) + " in a class")
		return -1
	}
	return q.next()
}

// posix reads a class such as [:alpha:] behind its first two characters. It is false when there is none.
func (q *parser) posix(c *class) bool {
	at := q.pos
	negate := q.eat("^")
	for _, p := range posixClasses {
		if q.eat(p.name + ":]") {
			c.add(p.ranges, negate)
			return true
		}
	}
	// Something between [: and :] is meant to be a class.
	for i := at; i+1 < len(q.src); i++ {
		if q.src[i] == ':' && q.src[i+1] == ']' {
			q.fail("unknown class " + q.src[at:i])
			return true
		}
	}
	return false
}

var posixClasses = [...]struct {
	name   string
	ranges []rune
}{
	{"alnum", []rune{'0', '9', 'A', 'Z', 'a', 'z'}},
	{"alpha", []rune{'A', 'Z', 'a', 'z'}},
	{"ascii", asciiRanges},
	{"blank", []rune{'\t', '\t', ' ', ' '}},
	{"cntrl", []rune{0, 0x1f, 0x7f, 0x7f}},
	{"digit", digitRanges},
	{"graph", []rune{'!', '~'}},
	{"lower", []rune{'a', 'z'}},
	{"print", []rune{' ', '~'}},
	{"punct", []rune{'!', '/', ':', '@', '[', '`', '{', '~'}},
	{"space", []rune{'\t', '\r', ' ', ' '}},
	{"upper", []rune{'A', 'Z'}},
	{"word", wordRanges},
	{"xdigit", []rune{'0', '9', 'A', 'F', 'a', 'f'}},
}

// Package pattern matches regular expressions in time bounded by pattern times text, even for hostile patterns.
//
// It reads three dialects:
//
//   - [ECMA]: ECMA-262 with the flag u, which JSON Schema uses;
//   - [RE2]: the syntax of RE2 as Go's package regexp accepts it, for searches in text;
//   - [IRegexp]: RFC 9485, which JSONPath uses.
//
// A pattern is compiled to a program whose threads step through the text side by side. Look-around and back references
// cannot be had that way and are refused. A match is answered with yes or no: there are no submatches, so that a
// group captures nothing, names are checked and forgotten, and greed makes no difference.
//
// Package regexp would add 96 KB to the compressed module and speaks one of the three dialects; this package costs
// about a tenth of that and carries all Unicode categories and scripts.
package pattern

import "unicode/utf8"

// Pattern is a compiled pattern. It matches anywhere in a text unless it is anchored. It is not changed by matching.
type Pattern struct {
	prog    []inst
	classes []class
	// first has the ASCII characters that a match can start with, when skips is true: where none of them stands, no
	// match starts.
	first [2]uint64
	skips bool
	size  int
}

// Error says why a pattern cannot be used.
type Error struct {
	Offset      int    // bytes of the pattern before the place
	Reason      string // what is wrong there, or what is not supported
	Unsupported bool   // the dialect has it, or a larger limit, and this package does not
}

// Error names the reason and the byte offset.
func (e *Error) Error() string {
	reason := e.Reason
	if e.Unsupported {
		reason += " is not supported"
	}
	return "pattern: " + reason + " at byte " + decimal(e.Offset)
}

func decimal(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return decimal(n/10) + string(rune('0'+n%10))
}

type opcode uint8

const (
	opChar      opcode = iota // the character x
	opClass                   // a character of classes[x]
	opSplit                   // go on at x and at y
	opJump                    // go on at x
	opBegin                   // the start of the text
	opEnd                     // the end of the text
	opBeginLine               // the start of a line
	opEndLine                 // the end of a line
	opBoundary                // a word boundary, or none when x is 1
	opMatch
)

type inst struct {
	op   opcode
	x, y int32
}

// Size returns how large the compiled pattern is, in instructions: no character of a text costs more steps, and the
// tables of Unicode properties count by the memory they take.
func (p *Pattern) Size() int { return p.size }

// Match tells whether the pattern matches somewhere in text. It counts its steps down from budget: one for each
// character, and one for each thread that looks at it. When that is used up, budget is negative and the answer false.
func (p *Pattern) Match(text []byte, budget *int) bool {
	var few [5 * 64]uint16
	m := Matcher{p: p, room: few[:]}
	if n := 5 * len(p.prog); n > len(few) {
		*budget -= n >> 4
		m.room = make([]uint16, n)
	}
	return m.Match(text, budget)
}

// Matcher matches one pattern against many texts and keeps the memory that takes.
type Matcher struct {
	p    *Pattern
	room []uint16
}

// Matcher returns a matcher of the pattern.
func (p *Pattern) Matcher() *Matcher {
	return &Matcher{p: p, room: make([]uint16, 5*len(p.prog))}
}

// threads is a set of places in a program, in the order they were added.
type threads struct {
	list  []uint16
	n     int      // how much of list is in use
	place []uint16 // of a place in list; means something only when list agrees
}

func (t *threads) has(pc uint16) bool {
	at := int(t.place[pc])
	return at < t.n && t.list[at] == pc
}

func (t *threads) add(pc uint16) {
	t.place[pc] = uint16(t.n)
	t.list[t.n] = pc
	t.n++
}

// Match answers as [Pattern.Match] does.
func (m *Matcher) Match(text []byte, budget *int) bool {
	p, room, n := m.p, m.room, len(m.p.prog)
	now := threads{list: room[:n], place: room[n : 2*n]}
	next := threads{list: room[2*n : 3*n], place: room[3*n : 4*n]}
	stack := room[4*n : 5*n]
	before := rune(-1)
	for i := 0; ; {
		if p.skips && now.n == 0 {
			start := i
			for i < len(text) && text[i] < utf8.RuneSelf && p.first[text[i]>>6]>>(text[i]&63)&1 == 0 {
				i++
			}
			if i > start {
				before = rune(text[i-1])
				*budget -= (i - start) >> 3
			}
		}
		r, size := rune(-1), 0
		if i < len(text) {
			if r = rune(text[i]); r < utf8.RuneSelf {
				size = 1
			} else {
				r, size = utf8.DecodeRune(text[i:])
			}
		}
		if p.follow(&now, stack, 0, before, r) {
			return true
		}
		if *budget -= 1 + now.n; size == 0 || *budget < 0 {
			return false
		}
		// What comes after r is needed to tell a boundary behind r, so it is looked up here as well.
		after := rune(-1)
		if i+size < len(text) {
			if after = rune(text[i+size]); after >= utf8.RuneSelf {
				after, _ = utf8.DecodeRune(text[i+size:])
			}
		}
		next.n = 0
		for _, pc := range now.list[:now.n] {
			in := p.prog[pc]
			if in.op == opChar && r == in.x || in.op == opClass && p.classes[in.x].has(r) {
				if p.follow(&next, stack, pc+1, r, after) {
					return true
				}
			}
		}
		if p.prog[0].op == opBegin && next.n == 0 {
			return false
		}
		now, next = next, now
		before = r
		i += size
	}
}

// follow adds the threads that reach from pc without reading, between the characters before and after, and tells
// whether one of them is the end of the program.
func (p *Pattern) follow(t *threads, stack []uint16, pc uint16, before, after rune) bool {
	stack = append(stack[:0], pc)
	for len(stack) > 0 {
		pc, stack = stack[len(stack)-1], stack[:len(stack)-1]
		for !t.has(pc) {
			t.add(pc)
			in := p.prog[pc]
			ok := true
			switch in.op {
			case opMatch:
				return true
			case opJump:
				pc = uint16(in.x)
				continue
			case opSplit:
				stack = append(stack, uint16(in.y))
				pc = uint16(in.x)
				continue
			case opBegin:
				ok = before < 0
			case opEnd:
				ok = after < 0
			case opBeginLine:
				ok = before < 0 || before == '\n'
			case opEndLine:
				ok = after < 0 || after == '\n'
			case opBoundary:
				ok = (isWord(before) != isWord(after)) == (in.x == 0)
			default:
				ok = false
			}
			if !ok {
				break
			}
			pc++
		}
	}
	return false
}

// seal finds out what a match can start with.
func (p *Pattern) seal() {
	var seen threads
	seen.list, seen.place = make([]uint16, len(p.prog)), make([]uint16, len(p.prog))
	stack := []uint16{0}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen.has(pc) {
			continue
		}
		seen.add(pc)
		switch in := p.prog[pc]; in.op {
		case opMatch:
			return
		case opChar:
			if in.x < utf8.RuneSelf {
				p.first[in.x>>6] |= 1 << (in.x & 63)
			}
		case opClass:
			p.first[0] |= p.classes[in.x].ascii[0]
			p.first[1] |= p.classes[in.x].ascii[1]
		case opJump:
			stack = append(stack, uint16(in.x))
		case opSplit:
			stack = append(stack, uint16(in.x), uint16(in.y))
		case opBegin, opBeginLine:
			return // the matcher stops early by itself, and a line may start anywhere
		default: // an assertion may hold
			stack = append(stack, pc+1)
		}
	}
	p.skips = true
}

func isWord(r rune) bool {
	return r >= 0 && r < utf8.RuneSelf && (isAlpha(byte(r)) || isDigit(byte(r)) || r == '_')
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// hexDigit returns what a hexadecimal digit counts, and -1 when c is none.
func hexDigit(c byte) rune {
	switch {
	case isDigit(c):
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

package schema

import (
	"unicode"
	"unicode/utf8"
)

// The guest has its own matcher for ECMA-262 patterns: package regexp would add 127 KB to the compressed module, and
// speaks another dialect. A pattern is compiled to a program whose threads step through the text side by side, so that
// the time is bounded by program times text, whatever the pattern. Look-around and back references cannot be had that
// way and are refused.

// pattern is a compiled ECMA-262 pattern, read as with the flag u. It matches anywhere in a text unless it is anchored.
type pattern struct {
	prog    []inst
	classes []class
}

type opcode uint8

const (
	opChar     opcode = iota // the character x
	opClass                  // a character of classes[x]
	opSplit                  // go on at x and at y
	opJump                   // go on at x
	opBegin                  // the start of the text
	opEnd                    // the end of the text
	opBoundary               // a word boundary, or none when x is 1
	opMatch
)

type inst struct {
	op   opcode
	x, y int32
}

// class is a set of characters.
type class struct {
	ascii  [2]uint64 // the answer for U+0000 to U+007F
	ranges []rune    // pairs of first and last
	tables []table
	negate bool
}

// table is a Unicode property, or its complement.
type table struct {
	in     *unicode.RangeTable
	negate bool
}

func (c *class) has(r rune) bool {
	if r < utf8.RuneSelf {
		return c.ascii[r>>6]>>(r&63)&1 != 0
	}
	return c.holds(r)
}

func (c *class) holds(r rune) bool {
	for i := 0; i < len(c.ranges); i += 2 {
		if c.ranges[i] <= r && r <= c.ranges[i+1] {
			return !c.negate
		}
	}
	for _, t := range c.tables {
		if unicode.Is(t.in, r) != t.negate {
			return !c.negate
		}
	}
	return c.negate
}

// seal fills in the answers for ASCII.
func (c *class) seal() {
	for r := range rune(utf8.RuneSelf) {
		if c.holds(r) {
			c.ascii[r>>6] |= 1 << (r & 63)
		}
	}
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

// match tells whether the pattern matches somewhere in text. It counts its steps down from budget and stops, with no
// match, when that is used up.
func (p *pattern) match(text []byte, budget *int) bool {
	var few [5 * 64]uint16
	room := few[:]
	n := len(p.prog)
	if n > 64 {
		room = make([]uint16, 5*n)
	}
	now := threads{list: room[:n], place: room[n : 2*n]}
	next := threads{list: room[2*n : 3*n], place: room[3*n : 4*n]}
	stack := room[4*n : 5*n]
	before := rune(-1)
	for i := 0; ; {
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
func (p *pattern) follow(t *threads, stack []uint16, pc uint16, before, after rune) bool {
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

func isWord(r rune) bool {
	return r >= 0 && r < utf8.RuneSelf && (isAlpha(byte(r)) || isDigit(byte(r)) || r == '_')
}

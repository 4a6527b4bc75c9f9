package schema

import (
	"strings"
	"unicode/utf8"
)

// maxProgram is how long a compiled pattern may be. Counted repetition is unrolled.
const maxProgram = 10000

// maxGroups is how deep groups of a pattern may nest.
const maxGroups = 100

// patternError says why a pattern cannot be used.
type patternError struct {
	reason      string
	unsupported bool
}

// patternParser compiles a pattern in one pass, with a fragment of the program for each term.
type patternParser struct {
	src    string
	pos    int
	groups int
	p      pattern
	err    *patternError
}

func parsePattern(src string) (*pattern, *patternError) {
	q := patternParser{src: src}
	q.alternatives()
	if q.err == nil && q.pos < len(src) {
		q.fail("unmatched )")
	}
	if q.err == nil {
		q.emit(inst{op: opMatch})
	}
	if q.err != nil {
		return nil, q.err
	}
	return &q.p, nil
}

// fail records the first error and ends the pattern.
//
// It is not inlined: its many callers would grow the module by kilobytes.
//
//go:noinline
func (q *patternParser) fail(reason string) {
	if q.err == nil {
		q.err = &patternError{reason: reason}
	}
	q.pos = len(q.src)
}

func (q *patternParser) unsupported(what string) {
	q.fail(what)
	q.err.unsupported = true
}

// emit appends an instruction.
//
// It is not inlined: its many callers would grow the module by kilobytes.
//
//go:noinline
func (q *patternParser) emit(in inst) {
	if len(q.p.prog) >= maxProgram {
		q.unsupported("a pattern that large")
		return
	}
	q.p.prog = append(q.p.prog, in)
}

// insert makes room for an instruction at the start of the fragment prog[at:].
func (q *patternParser) insert(at int, in inst) {
	if q.emit(in); q.err != nil {
		return
	}
	prog := q.p.prog
	copy(prog[at+1:], prog[at:len(prog)-1])
	prog[at] = in
	shift(prog[at+1:], at, 1)
}

// shift corrects the targets of a fragment that has been moved by delta from at.
func shift(prog []inst, at, delta int) {
	for i := range prog {
		in := &prog[i]
		if in.op == opSplit || in.op == opJump {
			if int(in.x) >= at {
				in.x += int32(delta)
			}
			if int(in.y) >= at {
				in.y += int32(delta)
			}
		}
	}
}

// eat consumes s when it comes next.
//
// It is not inlined: its many callers would grow the module by kilobytes.
//
//go:noinline
func (q *patternParser) eat(s string) bool {
	if strings.HasPrefix(q.src[q.pos:], s) {
		q.pos += len(s)
		return true
	}
	return false
}

// next consumes a character.
func (q *patternParser) next() rune {
	r, size := utf8.DecodeRuneInString(q.src[q.pos:])
	q.pos += size
	return r
}

// alternatives compiles what is separated by |, up to the end or a closing parenthesis.
func (q *patternParser) alternatives() {
	start := len(q.p.prog)
	var ends []int
	for {
		for q.pos < len(q.src) && q.src[q.pos] != '|' && q.src[q.pos] != ')' {
			q.term()
		}
		if q.err != nil || !q.eat("|") {
			break
		}
		q.insert(start, inst{op: opSplit, x: int32(start + 1)})
		ends = append(ends, len(q.p.prog))
		q.emit(inst{op: opJump})
		if q.err != nil {
			return
		}
		q.p.prog[start].y = int32(len(q.p.prog))
		start = len(q.p.prog)
	}
	for _, at := range ends {
		q.p.prog[at].x = int32(len(q.p.prog))
	}
}

// term compiles an assertion, or an atom with its quantifier.
func (q *patternParser) term() {
	start := len(q.p.prog)
	switch c := q.next(); c {
	case '^':
		q.emit(inst{op: opBegin})
		return
	case '$':
		q.emit(inst{op: opEnd})
		return
	case '(':
		q.group()
	case '.':
		q.class(class{ranges: []rune{'\n', '\n', '\r', '\r', '\u2028', '\u2029'}, negate: true})
	case '[':
		q.set()
	case '*', '+', '?':
		q.fail("nothing to repeat")
	case '\\':
		if q.eat("b") {
			q.emit(inst{op: opBoundary})
			return
		}
		if q.eat("B") {
			q.emit(inst{op: opBoundary, x: 1})
			return
		}
		var c class
		if r := q.escape(&c, false); r >= 0 {
			q.emit(inst{op: opChar, x: r})
		} else {
			q.class(c)
		}
	default:
		q.emit(inst{op: opChar, x: c})
	}
	if q.err == nil {
		q.quantifier(start)
	}
}

func (q *patternParser) class(c class) {
	c.seal()
	q.emit(inst{op: opClass, x: int32(len(q.p.classes))})
	q.p.classes = append(q.p.classes, c)
}

func (q *patternParser) group() {
	if q.eat("?") {
		switch {
		case q.eat(":"):
		case q.eat("="), q.eat("!"), q.eat("<="), q.eat("<!"):
			q.unsupported("look-around")
		case q.eat("<"):
			if end := strings.IndexByte(q.src[q.pos:], '>'); end > 0 {
				q.pos += end + 1
			} else {
				q.fail("invalid group name")
			}
		default:
			rest := strings.TrimLeft(q.src[q.pos:], "ims-")
			if strings.HasPrefix(rest, ":") {
				q.unsupported("a group with flags")
			} else {
				q.fail("invalid group")
			}
		}
	}
	if q.groups++; q.groups > maxGroups {
		q.unsupported("a pattern with groups that deep")
	}
	q.alternatives()
	q.groups--
	if q.err == nil && !q.eat(")") {
		q.fail("missing )")
	}
}

// quantifier repeats the atom prog[start:] as the quantifier that may follow it says.
func (q *patternParser) quantifier(start int) {
	least, most := 1, 1 // most is -1 when there is no limit
	switch {
	case q.eat("*"):
		least, most = 0, -1
	case q.eat("+"):
		most = -1
	case q.eat("?"):
		least = 0
	default:
		var ok bool
		if least, most, ok = q.braces(); !ok {
			return
		}
	}
	q.eat("?") // that it is lazy does not change whether it matches
	if most >= 0 && most < least {
		q.fail("numbers out of order in a quantifier")
		return
	}
	if rest := q.src[q.pos:]; rest != "" && (rest[0] == '*' || rest[0] == '+' || rest[0] == '?') {
		q.fail("nothing to repeat")
		return
	}
	atom := append([]inst(nil), q.p.prog[start:]...)
	q.p.prog = q.p.prog[:start]
	again := func() int {
		at := len(q.p.prog)
		for _, in := range atom {
			q.emit(in)
		}
		if q.err == nil {
			shift(q.p.prog[at:], start, at-start)
		}
		return at
	}
	last := start
	for i := 0; i < least && q.err == nil; i++ {
		last = again()
	}
	if most < 0 {
		if least > 0 {
			q.emit(inst{op: opSplit, x: int32(last), y: int32(len(q.p.prog) + 1)})
			return
		}
		q.emit(inst{op: opSplit, x: int32(start + 1)})
		again()
		q.emit(inst{op: opJump, x: int32(start)})
		if q.err == nil {
			q.p.prog[start].y = int32(len(q.p.prog))
		}
		return
	}
	optional := len(q.p.prog)
	for i := least; i < most && q.err == nil; i++ {
		q.emit(inst{op: opSplit, x: int32(len(q.p.prog) + 1), y: -1})
		again()
	}
	if q.err == nil {
		for at := optional; at < len(q.p.prog); at += len(atom) + 1 {
			q.p.prog[at].y = int32(len(q.p.prog))
		}
	}
}

// braces reads {n}, {n,} or {n,m}. A brace that starts none of these stands for itself.
func (q *patternParser) braces() (least, most int, ok bool) {
	start := q.pos
	if !q.eat("{") {
		return 0, 0, false
	}
	least, ok = q.count()
	most = least
	if ok && q.eat(",") {
		if most, ok = q.count(); !ok {
			most, ok = -1, true
		}
	}
	if !ok || !q.eat("}") {
		q.pos = start
		return 0, 0, false
	}
	return least, most, true
}

func (q *patternParser) count() (n int, ok bool) {
	for q.pos < len(q.src) && isDigit(q.src[q.pos]) {
		if n = n*10 + int(q.src[q.pos]-'0'); n > maxProgram {
			n = maxProgram + 1
		}
		q.pos++
		ok = true
	}
	return n, ok
}

package pattern

// maxCount is the largest number that a quantifier of RE2 may have.
const maxCount = 1000

// quantifier reads a quantifier and repeats the last atom as it says. It is false when none comes next.
func (q *parser) quantifier() bool {
	at := q.pos
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
			return false
		}
	}
	if q.dialect != iregexp {
		q.eat("?") // that it is lazy does not change whether it matches
	}
	end := q.pos
	q.pos = at
	switch {
	case q.atom < 0 || q.repeated:
		q.fail("nothing to repeat")
	case most >= 0 && most < least:
		q.fail("numbers out of order in a quantifier")
	case q.dialect == re2 && max(least, most) > maxCount:
		q.fail("number above 1000 in a quantifier")
	default:
		q.pos = end
		q.repeat(q.atom, least, most)
	}
	q.repeated = true
	return true
}

// repeat repeats the fragment prog[start:].
func (q *parser) repeat(start, least, most int) {
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
func (q *parser) braces() (least, most int, ok bool) {
	start := q.pos
	if !q.eat("{") {
		return 0, 0, false
	}
	least, ok = q.count()
	most = least
	if ok && q.eat(",") {
		if most, ok = q.count(); !ok {
			// Anything that is not a number here leaves the brace without its closing one.
			most, ok = -1, true
		}
	}
	if !ok || !q.eat("}") {
		q.pos = start
		return 0, 0, false
	}
	return least, most, true
}

// count reads a number. RE2 takes one that starts with 0 for text.
func (q *parser) count() (n int, ok bool) {
	start := q.pos
	for isDigit(q.peek()) {
		if n = n*10 + int(q.peek()-'0'); n > MaxSize {
			n = MaxSize + 1
		}
		q.pos++
	}
	if q.dialect == re2 && q.pos > start+1 && q.src[start] == '0' {
		q.pos = start
	}
	return n, q.pos > start
}

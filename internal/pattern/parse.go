package pattern

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxSize is how long a compiled pattern may be. Counted repetition is unrolled.
const MaxSize = 10000

// MaxGroups is how deep the groups of a pattern may nest.
const MaxGroups = 100

type dialect uint8

const (
	ecma dialect = iota
	re2
	iregexp
)

// The flags of RE2.
const (
	foldCase uint8 = 1 << iota
	multiLine
	dotAll
)

// parser compiles a pattern in one pass, with a fragment of the program for each term.
type parser struct {
	src      string
	pos      int
	groups   int
	dialect  dialect
	flags    uint8
	atom     int  // where the fragment that a quantifier would repeat starts, -1 when there is none
	repeated bool // a quantifier has just been read
	emitted  int  // instructions in all, those that were dropped included
	work     int  // steps besides, to reach the end of the pattern
	p        Pattern
	err      *Error
	tables   map[string][]rune // Unicode properties by name

	tableRunes int
}

// ECMA compiles a pattern of ECMA-262, read as with the flag u. The error is an [*Error]. Of the Unicode properties it
// knows the general categories and the scripts.
func ECMA(source string) (*Pattern, error) {
	q := parser{src: source}
	return q.compile(false)
}

// RE2 compiles a pattern of RE2, as Go's regexp.Compile accepts it. flags has any of i (whatever the case), m (^ and $
// match at lines), s (. matches a newline) and u (which changes nothing: text is Unicode). The error is an [*Error];
// one about flags has the offset 0.
func RE2(source, flags string) (*Pattern, error) {
	q := parser{src: source, dialect: re2}
	for _, f := range flags {
		switch f {
		case 'i':
			q.flags |= foldCase
		case 'm':
			q.flags |= multiLine
		case 's':
			q.flags |= dotAll
		case 'u':
		default:
			return nil, &Error{Reason: "flag " + string(f) + " is none of i, m, s and u"}
		}
	}
	return q.compile(false)
}

// IRegexp compiles a pattern of RFC 9485. whole makes it match only whole texts. It counts its steps down from budget.
// The error is an [*Error]. ^ and $ outside of classes are anchors, as they are in every engine that the RFC maps its
// patterns to.
func IRegexp(source string, whole bool, budget *int) (*Pattern, error) {
	q := parser{src: source, dialect: iregexp}
	p, err := q.compile(whole)
	*budget -= len(source) + q.emitted + q.work
	return p, err
}

// compile reads the pattern, between anchors if it is to match only whole texts.
func (q *parser) compile(whole bool) (*Pattern, error) {
	if !utf8.ValidString(q.src) {
		return nil, &Error{Reason: "text that is not UTF-8"}
	}
	if whole {
		q.emit(inst{op: opBegin})
	}
	q.alternatives()
	if q.err == nil && q.pos < len(q.src) {
		q.fail("unmatched )")
	}
	if whole {
		q.emit(inst{op: opEnd})
	}
	if q.emit(inst{op: opMatch}); q.err != nil {
		return nil, q.err
	}
	q.p.size = len(q.p.prog) + q.tableRunes/8
	q.p.seal()
	return &q.p, nil
}

// fail records the first error and ends the pattern.
//
// It is not inlined: its many callers would grow the module by kilobytes.
//
//go:noinline
func (q *parser) fail(reason string) {
	if q.err == nil {
		q.err = &Error{Offset: min(q.pos, len(q.src)), Reason: reason}
	}
	q.pos = len(q.src)
}

func (q *parser) unsupported(what string) {
	if q.err == nil {
		q.fail(what)
		q.err.Unsupported = true
	}
}

// emit appends an instruction.
//
// It is not inlined: its many callers would grow the module by kilobytes.
//
//go:noinline
func (q *parser) emit(in inst) {
	q.emitted++
	if len(q.p.prog) >= MaxSize || q.emitted > 4*MaxSize {
		q.unsupported("a pattern that large")
		return
	}
	q.p.prog = append(q.p.prog, in)
}

// insert makes room for an instruction at the start of the fragment prog[at:].
func (q *parser) insert(at int, in inst) {
	if q.emit(in); q.err != nil {
		return
	}
	prog := q.p.prog
	q.work += len(prog) - at
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
func (q *parser) eat(s string) bool {
	if strings.HasPrefix(q.src[q.pos:], s) {
		q.pos += len(s)
		return true
	}
	return false
}

// peek returns the byte that comes next, 0 at the end.
func (q *parser) peek() byte {
	if q.pos < len(q.src) {
		return q.src[q.pos]
	}
	return 0
}

// next consumes a character.
func (q *parser) next() rune {
	r, size := utf8.DecodeRuneInString(q.src[q.pos:])
	q.pos += size
	return r
}

// alternatives compiles what is separated by |, up to the end or a closing parenthesis.
func (q *parser) alternatives() {
	start := len(q.p.prog)
	var ends []int
	for {
		q.atom, q.repeated = -1, false
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

// term compiles an atom, an assertion or a quantifier.
func (q *parser) term() {
	if q.quantifier() {
		return
	}
	q.repeated = false
	start := len(q.p.prog)
	at := q.pos
	switch c := q.next(); c {
	case '^':
		q.assert(opBegin, opBeginLine)
		return
	case '$':
		q.assert(opEnd, opEndLine)
		return
	case '(':
		if !q.group() {
			return
		}
	case '.':
		q.class(class{single: q.dotRanges(), negate: true})
	case '[':
		q.bracket()
	case '\\':
		if q.dialect != iregexp && q.assertion() {
			return
		}
		if q.dialect == re2 && q.eat("Q") {
			q.quoted()
			return
		}
		c := class{fold: q.flags&foldCase != 0}
		if r := q.escape(&c, false); r >= 0 {
			q.char(r)
		} else {
			q.class(c)
		}
	default:
		if q.dialect == iregexp && (c == '{' || c == '}' || c == ']') {
			q.pos = at
			q.fail("unescaped " + string(c))
		}
		q.char(c)
	}
	q.atom = start
}

// assert emits an assertion, the second one when lines count. Only RE2 repeats assertions.
func (q *parser) assert(text, line opcode) {
	q.atom = -1
	if q.dialect == re2 {
		q.atom = len(q.p.prog)
	}
	if q.flags&multiLine != 0 {
		text = line
	}
	q.emit(inst{op: text})
}

// assertion compiles what a backslash makes one, and is false when that is something else.
func (q *parser) assertion() bool {
	start, c := len(q.p.prog), q.peek()
	switch {
	case c == 'b':
		q.emit(inst{op: opBoundary})
	case c == 'B':
		q.emit(inst{op: opBoundary, x: 1})
	case c == 'A' && q.dialect == re2:
		q.emit(inst{op: opBegin})
	case c == 'z' && q.dialect == re2:
		q.emit(inst{op: opEnd})
	default:
		return false
	}
	q.pos++
	if q.atom = -1; q.dialect == re2 {
		q.atom = start
	}
	return true
}

func (q *parser) dotRanges() []rune {
	switch {
	case q.dialect == ecma:
		return []rune{'\n', '\n', '\r', '\r', '\u2028', '\u2029'}
	case q.dialect == iregexp:
		return []rune{'\n', '\n', '\r', '\r'}
	case q.flags&dotAll == 0:
		return []rune{'\n', '\n'}
	}
	return nil
}

// char compiles a character.
func (q *parser) char(r rune) {
	if q.flags&foldCase != 0 && unicode.SimpleFold(r) != r {
		q.class(class{single: []rune{r, r}, fold: true})
		return
	}
	q.emit(inst{op: opChar, x: r})
}

func (q *parser) class(c class) {
	c.seal()
	q.work += utf8.RuneSelf
	q.emit(inst{op: opClass, x: int32(len(q.p.classes))})
	q.p.classes = append(q.p.classes, c)
}

// quoted compiles what stands between \Q and \E.
func (q *parser) quoted() {
	for q.pos < len(q.src) && !q.eat(`\E`) {
		q.atom = len(q.p.prog)
		q.char(q.next())
	}
}

// group compiles a group behind its opening parenthesis. It is false when that only set flags.
func (q *parser) group() bool {
	flags := q.flags
	if q.dialect != iregexp && q.eat("?") {
		switch {
		case q.eat(":"):
		case q.eat("="), q.eat("!"), q.eat("<="), q.eat("<!"):
			q.unsupported("look-around")
		case q.eat("<"), q.dialect == re2 && q.eat("P<"):
			q.name()
		case q.dialect == re2:
			if !q.setFlags() {
				return false
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
	if q.groups++; q.groups > MaxGroups {
		q.unsupported("a pattern with groups that deep")
	}
	q.alternatives()
	q.groups--
	if q.err == nil && !q.eat(")") {
		q.fail("missing )")
	}
	q.flags, q.repeated = flags, false
	return true
}

// name reads the name of a group and the bracket behind it.
func (q *parser) name() {
	end := strings.IndexByte(q.src[q.pos:], '>')
	ok := end > 0
	for i := 0; ok && i < end && q.dialect == re2; i++ {
		ok = isWord(rune(q.src[q.pos+i]))
	}
	if !ok {
		q.fail("invalid group name")
		return
	}
	q.pos += end + 1
}

// setFlags reads the flags of a group, and tells whether there is more to the group.
func (q *parser) setFlags() bool {
	flags, negative, seen := q.flags, false, false
	for q.err == nil {
		bit := uint8(0)
		switch c := q.next(); c {
		case 'i':
			bit = foldCase
		case 'm':
			bit = multiLine
		case 's':
			bit = dotAll
		case 'U': // greed makes no difference
		case '-':
			if negative {
				q.fail("invalid group")
			}
			negative, seen = true, false
			continue
		case ':', ')':
			if negative && !seen {
				q.fail("invalid group")
			}
			q.flags = flags
			return c == ':'
		default:
			q.fail("invalid group")
		}
		if seen = true; negative {
			flags &^= bit
		} else {
			flags |= bit
		}
	}
	return true
}

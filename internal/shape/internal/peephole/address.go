package peephole

import "maps"

// An engine that checks the bounds of memory by comparing checks an address once for each place that computes it, as it
// does not see that two computations give the same. And it checks once more for each offset that is larger than those
// before. So addresses are computed once and used again, and the first use goes to the largest offset.
//
// A group is a set of accesses whose addresses have the same base: one value of a local.

// source says what a value on the operand stack is made of.
type source uint8

const (
	unknown   source = iota
	stack            // i32: the stack pointer, plus delta
	stackWide        // i64: the same
	number           // i32: the constant delta
	wide             // i64: the same
	pointer          // i64: the local
	address          // i32: the same, wrapped
)

// operand is a value on the operand stack: made by the instructions from start to end, which do nothing else.
type operand struct {
	source     source
	start, end int
	delta      int64
	base       base
}

// base is one value of a local.
type base struct {
	local   int64
	version int
}

// noLocal is the base of constant addresses.
const noLocal = -1

// frameBase is the base of all accesses to a frame that is understood.
var frameBase = base{local: noLocal, version: -1}

type access struct {
	at, start, end int // the load or store, and the instructions that make its address
	offset         int64
	run            int // accesses of the same run happen all or none
}

// group is accesses with one base. Their addresses are in [0, 2^32) as they are, so that adding to the offset instead
// of the address changes nothing.
type group struct {
	source   source
	base     base
	accesses []access
	calls    []int // indices of the starts of calls, which store at the same base
}

// maxOffset bounds what is added to an address.
const maxOffset = 1 << 30

// addresses finds groups and rewrites them.
type addresses struct {
	code  []instruction
	sp    int64  // local that holds the stack pointer, noLocal if none
	frame *frame // nil if the function's frame is not understood
	types []byte

	operands []operand
	run      int
	count    int
	state    versions
	outer    []versions // of the ifs around
	dead     bool
	order    []*group
	groups   map[base]*group
}

// versions tells values of locals apart.
type versions struct {
	all     int
	changed map[int64]int
}

func (v *versions) of(local int64) base {
	if n, ok := v.changed[local]; ok {
		return base{local, n}
	}
	return base{local, v.all}
}

// shareAddresses rewrites a function whose locals have the given types, and returns those that it has then.
func shareAddresses(code []instruction, types []byte) ([]instruction, []byte) {
	a := addresses{code: code, sp: noLocal, types: types, groups: map[base]*group{}}
	if len(code) > 2 && code[0].is(opGlobalGet, 0) && code[1].op == opLocalSet {
		a.sp = code[1].x
		a.frame = findFrame(code)
	}
	a.fresh()
	for k := 0; k < len(code); {
		k += a.step(k)
	}
	return a.rewrite()
}

// fresh forgets all values of locals.
func (a *addresses) fresh() {
	a.count++
	a.state = versions{a.count, map[int64]int{}}
	a.split()
}

// split begins a new run.
func (a *addresses) split() {
	a.operands = a.operands[:0]
	a.run++
}

func (a *addresses) kill(local int64) {
	a.count++
	a.state.changed[local] = a.count
}

func (a *addresses) push(o operand) { a.operands = append(a.operands, o) }

func (a *addresses) pop() operand {
	n := len(a.operands)
	if n == 0 {
		return operand{}
	}
	o := a.operands[n-1]
	a.operands = a.operands[:n-1]
	return o
}

// replace pops some operands and pushes one that nothing is known of.
func (a *addresses) replace(pops, k int) {
	for range pops {
		a.pop()
	}
	a.push(operand{start: k, end: k + 1})
}

// step looks at the instruction at k and returns how many it has seen.
func (a *addresses) step(k int) int {
	i := &a.code[k]
	if a.sp != noLocal && startsCall(a.code[k:], a.sp) {
		a.startCall(k)
		return callStart
	}
	switch op := i.op; {
	case op == opLocalGet:
		o := operand{start: k, end: k + 1, base: a.state.of(i.x)}
		switch {
		case i.x == a.sp && a.frame == nil:
			o.source = stack
		case i.x == a.sp && a.frame.framed[k]:
			o.source, o.base = stack, frameBase
		case i.x == a.sp:
		case a.types[i.x] == typeI64:
			o.source = pointer
		}
		a.push(o)
	case op == opLocalSet:
		a.pop()
		a.kill(i.x)
	case op == opLocalTee:
		a.replace(1, k)
		a.kill(i.x)
	case op == opI32Const:
		a.push(operand{source: number, start: k, end: k + 1, delta: i.x, base: a.state.of(noLocal)})
	case op == opI64Const:
		a.push(operand{source: wide, start: k, end: k + 1, delta: i.x, base: a.state.of(noLocal)})
	case op == opI64ExtendI32:
		a.convert(k, stack, stackWide, unknown, unknown, unknown, unknown)
	case op == opI32WrapI64:
		a.convert(k, stackWide, stack, wide, number, pointer, address)
	case op == opI64Add:
		y, x := a.pop(), a.pop()
		if x.source == stackWide && y.source == wide && x.end == y.start && y.end == k && y.delta >= 0 && y.delta < maxOffset {
			a.push(operand{source: stackWide, start: x.start, end: k + 1, delta: x.delta + y.delta, base: x.base})
		} else {
			a.push(operand{start: k, end: k + 1})
		}
	case i.isLoad():
		a.enter(k, a.pop())
		a.push(operand{start: k, end: k + 1})
	case i.isStore():
		a.pop()
		a.enter(k, a.pop())
	case op == opDrop, op == opGlobalSet:
		a.pop()
	case op == opGlobalGet, op == opF32Const, op == opF64Const, op == opMemorySize:
		a.replace(0, k)
	case op == opSelect:
		a.replace(3, k)
	case op == opMemoryGrow, op >= 0x45 && op <= 0xc4 && !takesTwo(op), op == opPrefixFC && i.x <= 7:
		a.replace(1, k)
	case op >= 0x45 && op <= 0xc4:
		a.replace(2, k)
	case op == opPrefixFC:
		a.pop()
		a.pop()
		a.pop()
	case op == opBrIf:
		a.leave(i.x)
		a.split()
	case op == opCall, op == opCallIndirect:
		a.split()
	case op == opBr, op == opBrTable, op == opReturn, op == opUnreachable:
		if op == opBr {
			a.leave(i.x)
		}
		for _, label := range i.table {
			a.leave(int64(label))
		}
		a.split()
		a.dead = true
		return 1
	case op == opIf:
		a.outer = append(a.outer, versions{a.state.all, maps.Clone(a.state.changed)})
		a.fresh()
	case op == opBlock, op == opLoop:
		a.outer = append(a.outer, versions{})
		a.fresh()
	case op == opElse:
		a.outer[len(a.outer)-1] = versions{}
		a.fresh()
	case op == opEnd:
		a.end()
	}
	a.dead = false
	return 1
}

// startCall adds the store of a return address to the group of the stack pointer.
func (a *addresses) startCall(k int) {
	switch {
	case a.frame == nil:
		if g := a.groups[a.state.of(a.sp)]; g != nil {
			g.calls = append(g.calls, k)
		}
	case a.frame.framed[k]:
		g := a.group(frameBase, stack)
		g.calls = append(g.calls, k)
	}
	a.kill(a.sp)
}

// group returns the group of a base.
func (a *addresses) group(b base, s source) *group {
	g := a.groups[b]
	if g == nil {
		g = &group{source: s, base: b}
		a.groups[b] = g
		a.order = append(a.order, g)
	}
	return g
}

// leave notes a branch: if it goes to the end of an if, that is reached from within.
func (a *addresses) leave(label int64) {
	if n := int64(len(a.outer)) - 1 - label; n >= 0 {
		a.outer[n] = versions{}
	}
}

// end ends a block. What was known before an if still holds after it when the if's end is not reached from within.
func (a *addresses) end() {
	a.fresh()
	if n := len(a.outer); n > 0 {
		before := a.outer[n-1]
		a.outer = a.outer[:n-1]
		if a.dead && before.all != 0 {
			a.state = before
		}
	}
}

// convert makes another kind of operand of the top one.
func (a *addresses) convert(k int, pairs ...source) {
	o := a.pop()
	for n := 0; n < len(pairs); n += 2 {
		if o.source != unknown && o.source == pairs[n] && o.end == k {
			o.source, o.end = pairs[n+1], k+1
			a.push(o)
			return
		}
	}
	a.push(operand{start: k, end: k + 1})
}

// enter adds an access to the group of its address.
func (a *addresses) enter(k int, o operand) {
	offset := int64(a.code[k].offset)
	switch o.source {
	case stack, number:
		offset += o.delta
	case address:
	default:
		return
	}
	if offset < 0 || offset > maxOffset || o.delta < 0 {
		return
	}
	g := a.group(o.base, o.source)
	g.accesses = append(g.accesses, access{at: k, start: o.start, end: o.end, offset: offset, run: a.run})
}

// takesTwo tells whether a numeric instruction takes two operands.
func takesTwo(op byte) bool {
	switch {
	case op == 0x45, op == 0x50, op >= 0x67 && op <= 0x69, op >= 0x79 && op <= 0x7b:
		return false
	case op < 0x8b:
		return true
	}
	return op >= 0x92 && op <= 0x98 || op >= 0xa0 && op <= 0xa6
}

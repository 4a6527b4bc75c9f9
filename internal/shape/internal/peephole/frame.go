package peephole

import (
	"cmp"
	"slices"
)

// A function's frame lies at the stack pointer, which is the same from one call to the next unless the call has moved
// the stack. So all that a function accesses of its frame can have one base, which is computed, and checked, where the
// function is entered or resumed. After each call it is compared with the stack pointer. If the two differ, the
// function returns as if the call had given up the processor. The goroutine's starter finds the return address below
// the stack pointer, as after any call, and resumes the function there, where it computes its base again.
//
// wazero forgets the base at a table of branches. So the entry counts the places up to the given one, and compares the
// count. A branch leads to two kinds of places only: behind a call, and to the start of a loop.

// frameBias is how far below the stack pointer the base is: at the return address of the calls that the function makes.
const frameBias = 8

// maxFrame bounds the frames that get a base, which is touched before the function has looked whether the stack has
// room for it. No stack lies lower than this in memory, where Go keeps its data, so that the address is one in any
// case.
const maxFrame = 64 << 10

// frame is what is known of a function's frame.
type frame struct {
	entry  entry
	sp     int64          // local that holds the stack pointer
	size   int64          // bytes that the function takes from the stack
	framed []bool         // by instruction: the stack pointer is at the frame
	calls  []int          // the instructions behind a call that put the stack pointer into its local
	merges []int          // behind the ends of blocks that are branched out of, where values may come from several sides
	places map[int64]bool // numbers that the function is resumed with
	led    map[int]bool   // labels that they lead to, by how many are outside
}

// ends tells whether what follows an instruction is not reached from it.
func ends(i instruction) bool { return i.op == opBr || i.op == opReturn || i.op == opUnreachable }

// findFrame returns nil for a function that does anything unexpected with its stack pointer.
func findFrame(code []instruction) *frame {
	e, ok := findEntry(code)
	if !ok || code[0].op != opGlobalGet {
		return nil
	}
	f := &frame{entry: e, sp: code[1].x, framed: make([]bool, len(code)), places: map[int64]bool{}, led: map[int]bool{}}
	made := f.findSize(code)
	if made < 0 {
		return nil
	}
	table := code[e.table].table
	for n := range f.places {
		f.led[e.depth-1-int(table[min(n, int64(len(table)-1))])] = true
	}
	labels := e.depth // of the entry that are open
	framed := f.size == 0
	var outer []bool          // what framed was outside of each block that the code has opened
	targets := map[int]bool{} // ends of blocks that are branched to, by how many labels are outside
	for k := e.table + 1; k < len(code); {
		f.framed[k] = framed
		c := code[k:]
		switch {
		case startsCall(c, f.sp):
			for n := range callStart {
				f.framed[k+n] = framed
			}
			k += callStart
			continue
		case made != 0 && k == made:
			framed = true
			k += 5
			continue
		case movesStack(c, f.sp, opI32Add):
			framed = false
			k += 5
			continue
		case len(c) > 4 && c[0].is(opGlobalGet, 0) && c[1].is(opLocalSet, f.sp):
			if last := code[k-1].op; last != opCall && last != opCallIndirect {
				return nil
			}
			if framed && (c[2].op == opBrIf || c[2].op == opIf && c[3].op == opUnreachable) {
				f.calls = append(f.calls, k)
			}
			k += 2
			continue
		case c[0].is(opGlobalSet, 0), c[0].is(opLocalSet, f.sp), c[0].is(opLocalTee, f.sp):
			return nil
		case c[0].is(opLocalSet, 0) && code[k-1].op == opI32Const && c[1].op != opBr:
			return nil // a jump that does not look like one
		case c[0].op == opBr, c[0].op == opBrIf:
			targets[labels+len(outer)-1-int(c[0].x)] = true
		case c[0].op == opBlock, c[0].op == opLoop, c[0].op == opIf:
			outer = append(outer, framed)
		case c[0].op == opElse && len(outer) > 0:
			framed = outer[len(outer)-1]
		case c[0].op == opEnd && len(outer) > 0:
			framed, outer = outer[len(outer)-1], outer[:len(outer)-1]
			if n := labels + len(outer); targets[n] || !ends(code[k-1]) {
				f.merges = append(f.merges, k+1)
				delete(targets, n)
			}
		case c[0].op == opEnd:
			if labels--; labels < e.depth-1 {
				framed = true
			}
			if labels > e.loop && (targets[labels] || f.led[labels]) {
				f.merges = append(f.merges, k+1)
			}
		}
		k++
	}
	return f
}

// resumable notes the numbers that a call with a return address can be resumed with: that of the address, and for the
// call that runs deferred functions the one before, where a panic that was recovered goes on.
func (f *frame) resumable(code []instruction, address int64) {
	table := code[f.entry.table].table
	f.places[address] = true
	if n := address - 1; n > 0 && n < int64(len(table)) && table[n] != table[n-1] {
		f.places[n] = true
	}
}

// findSize finds where the first place makes the frame, how large it is, and what the function is resumed with. It
// returns 0 for a function without one and -1 when the stack pointer is lowered anywhere else.
func (f *frame) findSize(code []instruction) (made int) {
	labels, inner := f.entry.depth, 0
	for k := f.entry.table + 1; k < len(code); k++ {
		switch {
		case startsCall(code[k:], f.sp):
			if inner == 0 { // others panic, or grow the stack and begin again
				f.resumable(code, code[k+callStart-2].x&maxPlace)
			}
			k += callStart - 1
		case code[k].op == opI32Const && code[k+1].is(opLocalSet, 0):
			f.places[code[k].x] = true
		case movesStack(code[k:], f.sp, opI32Sub):
			size := code[k+1].x
			if made != 0 || inner != 0 || labels != f.entry.depth-1 || size <= 0 || size > maxFrame {
				return -1
			}
			made, f.size = k, size
		case code[k].op == opBlock, code[k].op == opLoop, code[k].op == opIf:
			inner++
		case code[k].op == opEnd && inner > 0:
			inner--
		case code[k].op == opEnd:
			labels--
		}
	}
	return made
}

// movesStack tells whether code adds to the stack pointer, or subtracts from it.
func movesStack(c []instruction, sp int64, op byte) bool {
	return len(c) > 5 && c[0].is(opLocalGet, sp) && c[1].op == opI32Const && c[2].op == op &&
		c[3].is(opLocalTee, sp) && c[4].is(opGlobalSet, 0)
}

// callStart is how many instructions of a call put the return address on the stack.
const callStart = 8

// maxPlace is the highest number of a place. A return address has it in these bits, and the function's number above.
const maxPlace = 1<<16 - 1

// startsCall tells whether code is their first.
func startsCall(c []instruction, sp int64) bool {
	if len(c) < callStart+3 || !movesStack(c, sp, opI32Sub) || c[1].x != 8 ||
		!c[5].is(opLocalGet, sp) || c[6].op != opI64Const || c[7].op != opI64Store || c[7].offset != 0 {
		return false
	}
	after := c[callStart:]
	return after[0].op == opCall || after[0].is(opI32Const, 0) && after[1].op == opCall || after[0].is(opI64Const, 16)
}

// enter returns the code of the function's entry: it computes the base, touches the last byte that is accessed from it,
// goes on with what follows, and branches to the place that local 0 says.
func (f *frame) enter(code []instruction, base, last int64, more []instruction) []instruction {
	table := code[f.entry.table].table
	first := int64(0) // the lowest number that does not lead to the first place, which has yet to make the frame
	for first < int64(len(table)) && table[first] == 0 {
		first++
	}
	start := []instruction{{op: opLocalGet}, {op: opI32Const, x: first}, {op: opI32LtU}}
	out := []instruction{{op: opLocalGet, x: f.sp}, {op: opI32Const, x: frameBias}}
	if f.size != 0 {
		out[1].x += f.size
		out = append(append(append(out, instruction{op: opI32Const, x: frameBias}), start...), instruction{op: opSelect})
	}
	out = append(out, instruction{op: opI32Sub}, instruction{op: opLocalTee, x: base},
		instruction{op: opI32Load8U, offset: uint32(last)}, instruction{op: opDrop})
	out = append(append(append(out, more...), start...), instruction{op: opBrIf})

	var places []place
	for n := range f.places {
		if n >= first {
			places = append(places, place{n, int64(table[min(n, int64(len(table)-1))])})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.number, b.number) })
	if len(places) == 0 {
		return append(out, instruction{op: opUnreachable})
	}
	return branchTo(out, places)
}

// place is one that a function is resumed at.
type place struct {
	number int64
	to     int64 // depth of its label
}

// branchTo appends the code that branches to the one of some places that local 0 says. Numbers of one window at a time
// are counted: the code compares which of the window's places it is, so that it looks the same in many functions.
func branchTo(out []instruction, places []place) []instruction {
	for inner := int64(0); len(places) > 0; inner = 0 {
		end := (places[0].number/window + 1) * window
		n := 0
		for n < len(places) && places[n].number < end {
			n++
		}
		if n < len(places) {
			inner = 1
			out = append(out, instruction{op: opBlock, x: noResult}, instruction{op: opLocalGet}, instruction{op: opI32Const, x: end},
				instruction{op: opI32GeU}, instruction{op: opBrIf})
		}
		out = branchInWindow(out, places[:n], inner)
		if inner > 0 {
			out = append(out, instruction{op: opEnd})
		}
		places = places[n:]
	}
	return out
}

// window is how many numbers of places the bits of an i64 stand for.
const window = 64

// branchInWindow appends the code for the places of one window. inner is how many blocks are around it.
func branchInWindow(out []instruction, places []place, inner int64) []instruction {
	places = slices.CompactFunc(places, func(a, b place) bool { return a.to == b.to })
	if len(places) > 1 {
		var bits int64
		for _, p := range places {
			bits |= 1 << (p.number % window)
		}
		// The bits up to the number's go to the upper end: they are shifted by 63 less the number, of which 6 bits count.
		out = append(out, instruction{op: opI64Const, x: bits}, instruction{op: opLocalGet}, instruction{op: opI32Const, x: -1},
			instruction{op: opI32Xor}, instruction{op: opI64ExtendI32}, instruction{op: opI64Shl}, instruction{op: opI64Popcnt},
			instruction{op: opI32WrapI64}, instruction{op: opLocalSet})
	}
	return branchToNth(out, places, 1, inner)
}

// fewPlaces are compared one after the other.
const fewPlaces = 8

// branchToNth appends the code that branches to one of some places: to the first one if local 0 is n, to the second one
// if it is n + 1, and so on.
func branchToNth(out []instruction, places []place, n, inner int64) []instruction {
	if len(places) > fewPlaces {
		out = append(out, instruction{op: opBlock, x: noResult}, instruction{op: opLocalGet},
			instruction{op: opI32Const, x: n + fewPlaces}, instruction{op: opI32GeU}, instruction{op: opBrIf})
		out = append(branchToNth(out, places[:fewPlaces], n, inner+1), instruction{op: opEnd})
		return branchToNth(out, places[fewPlaces:], n+fewPlaces, inner)
	}
	last := len(places) - 1
	for _, p := range places[:last] {
		n++
		out = append(out, instruction{op: opLocalGet}, instruction{op: opI32Const, x: n}, instruction{op: opI32LtU},
			instruction{op: opBrIf, x: p.to + inner})
	}
	return append(out, instruction{op: opBr, x: places[last].to + inner})
}

// check returns the code after a call that takes a stack that has moved for one that has to be unwound.
func (f *frame) check(base int64) []instruction {
	return []instruction{
		{op: opGlobalGet},
		{op: opLocalTee, x: f.sp},
		{op: opLocalGet, x: base},
		{op: opI32Sub},
		{op: opI32Const, x: frameBias},
		{op: opI32Ne},
		{op: opI32Or},
	}
}

package peephole

// The Go compiler gives every function the shape
//
//	loop
//	  block … block                 one for each place that the function can be entered or resumed at
//	    local.get 0; br_table …     the entry: local 0 says where
//	  end
//	  …                             code of the first place
//	  end
//	  …                             code of the second one, and so on
//	end
//
// and jumps by setting local 0 and going back to the loop. A jump forward is a branch out of the block that ends at its
// target, which needs no table. Loops of the source stay as they are.

// entry is the head of such a function.
type entry struct {
	table int // index of the br_table
	loop  int // number of labels outside of the loop
	depth int // number of labels at the br_table
}

// findEntry finds it; false if there is none, or if something besides the table reads local 0.
func findEntry(code []instruction) (e entry, ok bool) {
	if len(code) > 2 && code[0].is(opGlobalGet, 0) && code[1].op == opLocalSet {
		e.table = 2 // the stack pointer
	}
	for ; e.table < len(code) && (code[e.table].op == opBlock || code[e.table].op == opLoop); e.table++ {
		if code[e.table].op == opLoop {
			e.loop, ok = e.depth, true
		}
		e.depth++
	}
	e.table++
	if !ok || e.table+1 >= len(code) || !code[e.table-1].is(opLocalGet, 0) || code[e.table].op != opBrTable {
		return e, false
	}
	for k := e.table + 1; k < len(code); k++ {
		// A call through a function value keeps its target there for a moment.
		if code[k].is(opLocalGet, 0) && !(code[k-1].is(opI32Const, 0) && code[k-2].is(opLocalSet, 0)) {
			return e, false
		}
	}
	return e, true
}

// directBranches makes jumps forward branches.
func directBranches(code []instruction) []instruction {
	e, ok := findEntry(code)
	if !ok {
		return code
	}
	table := code[e.table].table
	out := append(make([]instruction, 0, len(code)), code[:e.table+1]...)
	// labels are those of the entry that are still open; inner ones are opened by the code.
	labels, inner := e.depth, 0
	for k := e.table + 1; k < len(code); k++ {
		i := code[k]
		switch i.op {
		case opBlock, opLoop, opIf:
			inner++
		case opEnd:
			if inner > 0 {
				inner--
			} else {
				labels--
			}
		case opI32Const:
			if k+2 >= len(code) || !code[k+1].is(opLocalSet, 0) || code[k+2].op != opBr || int(code[k+2].x) != labels+inner-1-e.loop {
				break
			}
			to := e.depth - 1 - int(table[min(uint64(i.x), uint64(len(table)-1))])
			if to <= e.loop || to >= labels {
				break // back, or not to one of the places
			}
			k += 2
			if last := len(out) - 1; last >= 0 && out[last].op == opIf && k+1 < len(code) && code[k+1].op == opEnd {
				k++
				inner--
				out[last] = instruction{op: opBrIf, x: int64(labels + inner - 1 - to)}
				continue
			}
			out = append(out, instruction{op: opBr, x: int64(labels + inner - 1 - to)})
			continue
		}
		out = append(out, i)
	}
	return out
}

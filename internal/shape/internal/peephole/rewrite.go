package peephole

import (
	"bytes"
	"slices"
)

// edit takes the place of instructions up to end.
type edit struct {
	end  int
	code []instruction
}

// rewriter makes the edits that share addresses.
type rewriter struct {
	*addresses
	edits   map[int]edit
	inserts map[int][]instruction // before an instruction
	added   map[int64]int64       // new locals by the local that they stand for
}

// rewrite returns the code with addresses shared, and the types of the locals.
func (a *addresses) rewrite() ([]instruction, []byte) {
	r := rewriter{a, map[int]edit{}, map[int][]instruction{}, map[int64]int64{}}
	for _, g := range a.order {
		// A store's address is made before its value, which may be loaded.
		slices.SortFunc(g.accesses, func(x, y access) int { return x.start - y.start })
		switch {
		case g.base == frameBase:
			r.shareFrame(g)
		case len(g.accesses)+len(g.calls) > 1:
			r.share(g)
		}
	}
	out := make([]instruction, 0, len(a.code))
	for k := 0; k < len(a.code); {
		out = append(out, r.inserts[k]...)
		if e, ok := r.edits[k]; ok {
			out = append(out, e.code...)
			k = e.end
			continue
		}
		out = append(out, a.code[k])
		k++
	}
	types := append(slices.Clip(a.types), bytes.Repeat([]byte{typeI32}, len(r.added))...)
	base, ok := r.added[r.sp]
	if !ok || r.sp == noLocal {
		return out, types
	}
	front := []int64{base, busiest(out, r.addressLocals(base))}
	if front[1] < 0 {
		front[1] = int64(len(types))
		types = append(types, typeI32)
	}
	if number, ok := r.added[numberLocal]; ok {
		types[number] = typeI64
		front = append(front, number)
	}
	return out, moveLocals(out, types, r.sp+1, front)
}

// numberLocal is what the local stands for that has a function's number.
const numberLocal = -2

// addressLocals returns the new locals that hold addresses, but for the base.
func (r *rewriter) addressLocals(base int64) (list []int64) {
	for of, local := range r.added {
		if of != numberLocal && local != base {
			list = append(list, local)
		}
	}
	slices.Sort(list)
	return list
}

// busiest returns the local of a list that is read and set most often, the first one of several, and -1 if there is
// none.
func busiest(code []instruction, list []int64) int64 {
	uses := map[int64]int{}
	for k := range code {
		if code[k].isLocal() {
			uses[code[k].x]++
		}
	}
	most := int64(-1)
	for _, local := range list {
		if most < 0 || uses[local] > uses[most] {
			most = local
		}
	}
	return most
}

// moveLocals gives some locals the numbers from at on, and the others that had those, or higher ones, the next numbers.
// It returns the types. What has the same number in all functions compresses well: a base, an address, a function's
// number.
func moveLocals(code []instruction, types []byte, at int64, front []int64) []byte {
	order := slices.Clone(front) // the locals from at on as they had been numbered
	for local := at; local < int64(len(types)); local++ {
		if !slices.Contains(front, local) {
			order = append(order, local)
		}
	}
	moved := slices.Clone(types)
	number := make([]int64, len(types))
	for k, local := range order {
		moved[at+int64(k)] = types[local]
		number[local] = at + int64(k)
	}
	for k := range code {
		if i := &code[k]; i.isLocal() && i.x >= at && number[i.x] != i.x {
			i.x, i.raw = number[i.x], nil
		}
	}
	return moved
}

// local returns the new local that stands for another one.
func (r *rewriter) local(of int64) int64 {
	n, ok := r.added[of]
	if !ok {
		n = int64(len(r.types) + len(r.added))
		r.added[of] = n
	}
	return n
}

// shareFrame gives all accesses to a function's frame the base that is computed at its entry.
func (r *rewriter) shareFrame(g *group) {
	use := instruction{op: opLocalGet, x: r.local(r.sp)}
	last := int64(0)
	for _, acc := range g.accesses {
		r.edits[acc.start] = edit{acc.end, []instruction{use}}
		last = max(last, r.move(acc, frameBias)-1)
	}
	for _, k := range g.calls {
		r.startCall(k, use)
		last = max(last, 7)
	}
	table := r.frame.entry.table
	r.edits[table-1] = edit{table + 1, r.frame.enter(r.code, use.x, last, r.shareNumber())}
	for _, k := range r.frame.merges {
		// wazero takes the value of a local at a merge for another one each time, unless it is set there.
		r.inserts[k] = []instruction{use, {op: opLocalSet, x: use.x}}
	}
	for _, k := range r.frame.calls {
		r.edits[k] = edit{k + 2, r.frame.check(use.x)}
	}
}

// move adds to the offset of an access and returns where it ends.
func (r *rewriter) move(acc access, by int64) int64 {
	i := &r.code[acc.at]
	i.offset, i.raw = uint32(acc.offset+by), nil
	return acc.offset + by + int64(i.size())
}

// shareNumber has the return addresses that a function puts on the stack made of its number, which the entry puts into
// a local, and of that of a place. It returns the code of the entry. A number that is written at each call compresses
// badly.
func (r *rewriter) shareNumber() []instruction {
	local := r.local(numberLocal)
	number := int64(0)
	for k := range r.code {
		if !startsCall(r.code[k:], r.sp) {
			continue
		}
		at := k + callStart - 2
		address := r.code[at].x
		number = address &^ maxPlace
		r.edits[at] = edit{at + 1, []instruction{
			{op: opLocalGet, x: local}, {op: opI64Const, x: address & maxPlace}, {op: opI64Add},
		}}
	}
	return []instruction{{op: opI64Const, x: number}, {op: opLocalSet, x: local}}
}

// startCall puts a return address at a base that is 8 below the stack pointer.
func (r *rewriter) startCall(k int, use instruction) {
	r.edits[k] = edit{k + callStart - 2, []instruction{use, r.code[k+3], r.code[k+4], use}}
}

// share rewrites the accesses of a group: the first one computes the base, and touches the last byte of all.
func (r *rewriter) share(g *group) {
	use := instruction{op: opLocalGet, x: r.sp}
	define := []instruction{use}
	bias := int64(0)
	switch {
	case g.source == number:
		use.x = r.local(noLocal) // never set: zero
		define = []instruction{use}
	case g.source == stack && len(g.calls) > 0:
		bias, use.x = frameBias, r.local(r.sp)
		define = append(define, instruction{op: opI32Const, x: frameBias}, instruction{op: opI32Sub}, instruction{op: opLocalTee, x: use.x})
		for _, k := range g.calls {
			r.startCall(k, use)
		}
	case g.source == address:
		use.x = r.local(g.base.local)
		define = []instruction{{op: opLocalGet, x: g.base.local}, {op: opI32WrapI64}, {op: opLocalTee, x: use.x}}
	}
	end := func(acc access) int64 { return acc.offset + bias + int64(r.code[acc.at].size()) }
	touch := make([]int64, len(g.accesses)) // where the farthest access ends that is to be checked first, 0 for none
	known := int64(0)
	for n, acc := range g.accesses {
		most := end(acc)
		for _, later := range g.accesses[n:] {
			// All of a frame and all data exist whether they are accessed or not. What lies behind a pointer may not.
			if later.run == acc.run || g.source != address {
				most = max(most, end(later))
			}
		}
		if most > known && end(acc) < most {
			touch[n] = most
		}
		known = max(known, most)
	}
	for n, acc := range g.accesses {
		code := []instruction{use}
		if n == 0 {
			code = define
		}
		if touch[n] > 0 {
			code = append(slices.Clip(code), instruction{op: opI32Load8U, offset: uint32(touch[n] - 1)}, instruction{op: opDrop}, use)
		}
		r.edits[acc.start] = edit{acc.end, code}
		r.move(acc, bias)
	}
}

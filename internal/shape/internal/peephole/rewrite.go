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
	return out, append(slices.Clip(a.types), bytes.Repeat([]byte{typeI32}, len(r.added))...)
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
	r.edits[table-1] = edit{table + 1, r.frame.enter(r.code, use.x, last)}
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

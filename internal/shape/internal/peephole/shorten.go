package peephole

// What is long in the compiler's code and needs not be:
//
//   - a value is copied or zeroed by an instruction for whole ranges of memory, for which engines call a function, some
//     of them once for each doubling of what is zeroed;
//   - a truth value becomes an i64, is compared with zero, and that with zero again;
//   - a check for nil goes on behind the panic, as if that could return;
//   - an instruction that does nothing stands where the body of an inlined function begins.

// maxWords is how many words are copied or zeroed one by one.
const maxWords = 16

// shortener writes code and shortens the end of what it has written.
type shortener struct {
	out   []instruction
	types []byte
	sp    int64 // local of the stack pointer, noLocal if none
	open  []byte
	spare [2]int64 // locals for addresses; 0: none yet
}

// shorten returns the code with those replaced, and the types of the function's locals, of which there may be more.
func shorten(code []instruction, types []byte) ([]instruction, []byte) {
	s := shortener{out: make([]instruction, 0, len(code)), types: types, sp: noLocal}
	if len(code) > 2 && code[0].is(opGlobalGet, 0) && code[1].op == opLocalSet {
		s.sp = code[1].x
	}
	for k := 0; k < len(code); k++ {
		i := code[k]
		switch i.op {
		case opNop:
			continue
		case opBlock, opLoop, opIf:
			s.open = append(s.open, i.op)
		case opEnd:
			if n := len(s.open); n > 0 {
				s.open = s.open[:n-1]
			}
		case opCall:
			if s.panics(code[k:]) {
				s.out = append(s.out, i, instruction{op: opReturn})
				k += 3
				continue
			}
		case opPrefixFC:
			if i.x == 11 && s.zero() || i.x == 10 && s.copy() {
				continue
			}
		}
		s.write(i)
	}
	return s.out, s.types
}

// panics tells whether a call is one that does not come back: inside an if the compiler makes only calls that cannot be
// resumed, and of these only the panic for a nil pointer and the growth of the stack look whether they are to unwind,
// which they always are.
func (s *shortener) panics(c []instruction) bool {
	n := len(s.open)
	return n > 0 && s.open[n-1] == opIf && s.sp != noLocal && len(c) > 4 &&
		c[1].is(opGlobalGet, 0) && c[2].is(opLocalSet, s.sp) && c[3].op == opBrIf && c[4].op == opEnd
}

// last returns the n-th instruction from the end.
func (s *shortener) last(n int) *instruction {
	if n > len(s.out) {
		return &instruction{}
	}
	return &s.out[len(s.out)-n]
}

func (s *shortener) drop(n int) { s.out = s.out[:len(s.out)-n] }

// inverse are the comparisons of integers that say the opposite.
var inverse = map[byte]byte{
	0x46: 0x47, 0x47: 0x46, 0x48: 0x4e, 0x4e: 0x48, 0x49: 0x4f, 0x4f: 0x49, 0x4a: 0x4c, 0x4c: 0x4a, 0x4b: 0x4d, 0x4d: 0x4b,
	0x51: 0x52, 0x52: 0x51, 0x53: 0x59, 0x59: 0x53, 0x54: 0x5a, 0x5a: 0x54, 0x55: 0x57, 0x57: 0x55, 0x56: 0x58, 0x58: 0x56,
}

// write appends an instruction, or changes the last one to the same effect.
func (s *shortener) write(i instruction) {
	last := s.last(1).op
	switch {
	case i.op == opI32WrapI64 && last == opI64ExtendI32:
		s.drop(1)
		return
	case i.op == opI64Eqz && last == opI64ExtendI32:
		s.drop(1)
		s.write(instruction{op: opI32Eqz})
		return
	case i.op == opI32Eqz && inverse[last] != 0:
		s.drop(1)
		i = instruction{op: inverse[last]}
	case (i.op == opIf || i.op == opBrIf) && last == opI32Eqz && s.last(2).op == opI32Eqz:
		s.drop(2)
		s.write(i)
		return
	}
	s.out = append(s.out, i)
}

// address takes the code of an address off the end, if it has no effect and can be written again.
func (s *shortener) address() []instruction {
	n := 0
	switch {
	case s.last(1).op != opI32WrapI64:
		if i := s.last(1); i.op == opLocalGet && i.x == s.sp {
			n = 1
		}
	case s.last(2).op == opLocalGet:
		n = 2
	case s.last(2).op == opI64Add && s.last(3).op == opI64Const && s.last(4).op == opI64ExtendI32 && s.last(5).op == opLocalGet:
		n = 5
	}
	if n == 0 {
		return nil
	}
	at := len(s.out) - n
	code := append([]instruction(nil), s.out[at:]...)
	s.drop(n)
	return code
}

// keep puts the address on the operand stack into a local of its own.
func (s *shortener) keep(n int) []instruction {
	if s.spare[n] == 0 {
		s.spare[n] = int64(len(s.types))
		s.types = append(s.types[:len(s.types):len(s.types)], typeI32)
	}
	s.out = append(s.out, instruction{op: opLocalSet, x: s.spare[n]})
	return []instruction{{op: opLocalGet, x: s.spare[n]}}
}

// word is a part of what is copied or zeroed. Two of them may overlap.
type word struct {
	offset      uint32
	load, store byte
}

// words returns the parts of size bytes, nil if they are too many.
func words(size int64) (list []word) {
	if size <= 0 || size > maxWords*8 {
		return nil
	}
	kinds := []struct {
		size        int64
		load, store byte
	}{{8, opI64Load, opI64Store}, {4, opI64Load32U, opI64Store32}, {2, opI64Load16U, opI64Store16}, {1, opI64Load8U, opI64Store8}}
	for _, k := range kinds {
		if size < k.size {
			continue
		}
		for at := int64(0); at < size; at += k.size {
			list = append(list, word{uint32(min(at, size-k.size)), k.load, k.store})
		}
		return list
	}
	return nil
}

// zero writes stores instead of a memory.fill with zeros.
func (s *shortener) zero() bool {
	parts := words(s.last(1).x)
	if s.last(1).op != opI32Const || !s.last(2).is(opI32Const, 0) || parts == nil {
		return false
	}
	s.drop(2)
	to := s.address()
	if to == nil {
		to = s.keep(0)
	}
	for n := len(parts) - 1; n >= 0; n-- { // the last one first, so that nothing is written if it is out of bounds
		s.out = append(s.out, to...)
		s.out = append(s.out, instruction{op: opI64Const}, instruction{op: parts[n].store, offset: parts[n].offset})
	}
	return true
}

// copy writes loads and stores instead of a memory.copy. All loads come first, as the ranges may overlap.
func (s *shortener) copy() bool {
	parts := words(s.last(1).x)
	if s.last(1).op != opI32Const || parts == nil {
		return false
	}
	s.drop(1)
	var to []instruction
	from := s.address()
	if from != nil {
		to = s.address()
	} else {
		from = s.keep(0)
	}
	if to == nil {
		to = s.keep(1)
	}
	end := parts[len(parts)-1]
	s.out = append(s.out, from...)
	s.out = append(s.out, instruction{op: end.load, offset: end.offset}, instruction{op: opDrop})
	for _, p := range parts {
		s.out = append(append(s.out, to...), from...)
		s.out = append(s.out, instruction{op: p.load, offset: p.offset})
	}
	for n := len(parts) - 1; n >= 0; n-- {
		s.out = append(s.out, instruction{op: parts[n].store, offset: parts[n].offset})
	}
	return true
}

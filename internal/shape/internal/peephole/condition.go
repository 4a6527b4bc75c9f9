package peephole

// wazero forgets what it knows of addresses behind an if without an else, but not behind a block that a branch leaves. So
// the one becomes the other:
//
//	…; if; …; end    →    …; (negated); local.set c; block; local.get c; br_if 0; …; end

// plainBlocks replaces ifs, and returns the types of the locals, of which there may be one more.
func plainBlocks(code []instruction, types []byte) ([]instruction, []byte) {
	condition := int64(0)
	plain := withoutElse(code)
	s := shortener{out: make([]instruction, 0, len(code)), sp: noLocal}
	for k := range code {
		if !plain[k] {
			s.out = append(s.out, code[k])
			continue
		}
		if condition == 0 {
			condition = int64(len(types))
			types = append(types[:len(types):len(types)], typeI32)
		}
		s.negate()
		s.out = append(s.out, instruction{op: opLocalSet, x: condition}, instruction{op: opBlock, x: noResult},
			instruction{op: opLocalGet, x: condition}, instruction{op: opBrIf})
	}
	return s.out, types
}

// withoutElse tells which instructions are ifs that leave nothing and have no else.
func withoutElse(code []instruction) []bool {
	plain := make([]bool, len(code))
	var open []int
	for k := range code {
		switch code[k].op {
		case opIf:
			plain[k] = code[k].x == noResult
			open = append(open, k)
		case opBlock, opLoop:
			open = append(open, k)
		case opElse:
			plain[open[len(open)-1]] = false
		case opEnd:
			if n := len(open); n > 0 {
				open = open[:n-1]
			}
		}
	}
	return plain
}

// negate turns the truth of the value on the operand stack around.
func (s *shortener) negate() {
	switch s.last(1).op {
	case opI32Eqz:
		s.drop(1)
	case opI64Eqz:
		s.drop(1)
		s.out = append(s.out, instruction{op: opI64Const}, instruction{op: opI64Ne})
	default:
		s.write(instruction{op: opI32Eqz})
	}
}

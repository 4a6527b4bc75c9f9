package peephole

import "slices"

// wazero forgets what it knows of addresses behind an if without an else, but not behind a block that a branch leaves.
// So the one becomes the other:
//
//	condition; if; …; end    →    block; condition, negated; br_if 0; …; end

// plainBlocks replaces ifs whose condition is understood.
func plainBlocks(code []instruction) []instruction {
	plain := withoutElse(code)
	s := shortener{out: make([]instruction, 0, len(code)), sp: noLocal}
	for k := range code {
		if !plain[k] {
			s.out = append(s.out, code[k])
			continue
		}
		at := valueStart(s.out)
		if at < 0 {
			s.out = append(s.out, code[k])
			continue
		}
		s.negate()
		s.out = append(slices.Insert(s.out, at, instruction{op: opBlock, x: noResult}), instruction{op: opBrIf})
	}
	return s.out
}

// valueStart returns where the code of the last value on the operand stack begins, -1 if that is more than loads,
// locals and numbers.
func valueStart(code []instruction) int {
	for k, missing := len(code)-1, 1; k >= 0; k-- {
		switch i := &code[k]; {
		case i.op == opLocalGet, i.op == opGlobalGet, i.op == opI32Const, i.op == opI64Const, i.op == opF32Const, i.op == opF64Const:
			missing--
		case i.op == opLocalTee, i.isLoad(), isUnary(i.op):
		case i.op >= opI32Eqz && i.op <= lastNumeric:
			missing++
		case i.op == opSelect:
			missing += 2
		default:
			return -1
		}
		if missing == 0 {
			return k
		}
	}
	return -1
}

// lastNumeric is the last of the opcodes from opI32Eqz on that take numbers and leave one.
const lastNumeric = 0xc4

// isUnary reports whether such an opcode takes one number.
func isUnary(op byte) bool {
	switch {
	case op == opI32Eqz, op == opI64Eqz, op >= 0x67 && op <= 0x69, op >= 0x79 && op <= 0x7b, op >= 0x8b && op <= 0x91,
		op >= 0x99 && op <= 0x9f, op >= opI32WrapI64 && op <= lastNumeric:
		return true
	}
	return false
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

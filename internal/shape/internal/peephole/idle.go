package peephole

// withoutIdle leaves out what sets a local that nobody reads before it is set again or the function returns. A local
// that is set to its own value stays: shareFrame writes that where blocks meet, and wazero is a quarter slower without
// it.
func withoutIdle(code []instruction) []instruction {
	out := make([]instruction, 0, len(code))
	for k, i := range code {
		if i.op == opLocalTee && isIdle(code[k+1:], i.x) {
			continue
		}
		out = append(out, i)
	}
	return out
}

// isIdle reports whether the code sets a local, or returns, before it reads it. It looks at what surely comes next
// only: up to the next branch, or the next place that one leads to.
func isIdle(code []instruction, local int64) bool {
	for _, i := range code {
		switch i.op {
		case opReturn, opUnreachable:
			return true
		case opBlock, opLoop, opIf, opElse, opEnd, opBr, opBrIf, opBrTable:
			return false
		case opLocalGet:
			if i.x == local {
				return false
			}
		case opLocalSet, opLocalTee:
			if i.x == local {
				return true
			}
		}
	}
	return false
}

// singleSteps has a function that returns take its frame and the return address off the stack at once.
func singleSteps(code []instruction) []instruction {
	out := make([]instruction, 0, len(code))
	for k := 0; k < len(code); k++ {
		if n := len(out) - 2; n >= 0 && out[n].op == opI32Const && out[n+1].op == opI32Add && stepsAgain(code[k:]) {
			out[n] = instruction{op: opI32Const, x: out[n].x + code[k+3].x}
			k += 4
			continue
		}
		out = append(out, code[k])
	}
	return out
}

// stepsAgain reports whether code stores a stack pointer, adds to it, stores that and returns.
func stepsAgain(c []instruction) bool {
	return len(c) > 7 && c[0].op == opLocalTee && c[1].is(opGlobalSet, 0) && c[2].is(opLocalGet, c[0].x) && c[3].op == opI32Const &&
		c[4].op == opI32Add && c[5].is(opGlobalSet, 0) && c[6].op == opI32Const && c[7].op == opReturn
}

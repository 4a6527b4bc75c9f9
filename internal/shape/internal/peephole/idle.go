package peephole

// withoutIdle leaves out what sets a local that nobody reads before it is set again or the function returns. A local that
// is set to its own value stays: shareFrame writes that where blocks meet, and wazero is a quarter slower without it.
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

// isIdle reports whether the code sets a local, or returns, before it reads it. It looks at what surely comes next only:
// up to the next branch, or the next place that one leads to.
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

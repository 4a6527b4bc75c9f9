package markup

// Mistral: [TOOL_CALLS] [{"name": "f", "arguments": {}}], and since version 11 of its tokenizer [TOOL_CALLS]f[ARGS]{},
// with [CALL_ID] and an id before [ARGS].

func mistralOpen(_ *Reader, c *candidate, t []byte) (int, verdict) {
	const marker = "[TOOL_CALLS]"
	if v := begins(t, marker); v != yes {
		return 0, v
	}
	if n, v := opensObject(c, t, len(marker)); v != no {
		return n, v
	}
	c.name[0] = spaceEnd(t, len(marker))
	n, v := nameEnd(t, c.name[0])
	if v != yes {
		return n, v
	}
	c.name[1] = n
	if v = begins(t[n:], "[CALL_ID]"); v == yes {
		n, v = nameEnd(t, n+len("[CALL_ID]"))
		if v == yes {
			v = begins(t[n:], "[ARGS]")
		}
	}
	if v == more {
		return n, v
	}
	if v = begins(t[n:], "[ARGS]"); v == more {
		return n, v
	} else if v == yes {
		n += len("[ARGS]")
	}
	n, v = behind(t, n, "{")
	c.from = n
	return n, v
}

func mistralBody(_ *Reader, c *candidate, t []byte) verdict { return c.nest(t) }

func mistralCalls(r *Reader, c *candidate, t []byte) bool {
	if c.name[1] == 0 {
		return objectCalls(r, c, t)
	}
	c.to = c.pos
	return namedCall(r, c, t)
}

// namedCall takes up the call whose name stands in the marker and whose arguments are JSON.
func namedCall(r *Reader, c *candidate, t []byte) bool {
	args, defect := namedArguments(t[c.from:c.to])
	r.addCall(c.form.format, t[c.name[0]:c.name[1]], args, t, defect)
	return true
}

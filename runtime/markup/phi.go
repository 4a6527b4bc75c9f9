package markup

// Phi: functools[{"name": "f", "arguments": {}}], or the same array between <|tool_call|> tags.

func phiOpen(_ *Reader, c *candidate, t []byte) (int, verdict) {
	marker := "functools"
	if t[0] == '<' {
		marker = "<|tool_call|>"
		c.wrapped = true
	}
	if v := begins(t, marker); v != yes {
		return 0, v
	}
	n, v := behind(t, len(marker), "[")
	c.from = n
	return n, v
}

func phiBody(r *Reader, c *candidate, t []byte) verdict {
	if c.state == 0 {
		if v := c.nest(t); v != yes {
			return v
		}
		c.state = 1
	}
	if !c.wrapped {
		return yes
	}
	return c.closer(r, t, "<|/tool_call|>")
}

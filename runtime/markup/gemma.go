package markup

import "github.com/turncore/turncore/runtime/value"

// Gemma: call:f{key:value}, between the tags of Gemma 4, of FunctionGemma or of Hermes, or without tags. Between its own
// tags, and with the name of an offered tool, it does without call: too. Values are those of literals, and any words:
// strings are in the quotes of the model, in quotes of another kind, or bare. Brackets that are open when a closing tag
// comes, or the text ends, are closed, unless the text ends inside a value.

func gemmaOpen(_ *Reader, c *candidate, t []byte) (n int, v verdict) {
	prefixed := true // call: is needed
	if t[0] == '<' {
		for i, tag := range [...]string{"<|tool_call>", "<start_function_call>", "<tool_call>"} {
			if v = begins(t, tag); v != no {
				n = len(tag)
				prefixed = i == 2
				break
			}
		}
		if v != yes {
			return 0, v
		}
		n = spaceEnd(t[:min(len(t), n+maxSpace)], n)
	}
	if v = begins(t[n:], "call:"); v == yes {
		n += len("call:")
	} else if v == more || prefixed {
		return 0, v
	}
	c.name[0] = n
	if n, v = nameEnd(t, n); v != yes {
		return n, v
	}
	c.name[1] = n
	c.from, v = behind(t, n, "{(")
	return c.from, v
}

// gemmaName opens a call that is NAME{.
func gemmaName(r *Reader, c *candidate, t []byte) (int, verdict) {
	n, v := r.toolName(t, 0)
	if v == yes {
		v = begins(t[n:], "{")
	}
	if v != yes {
		return n, v
	}
	c.name, c.from = [2]int{0, n}, n
	i, v := behind(t, n+1, "}\"'<")
	if v != no {
		return n, v
	}
	if v = begins(t[i:], "“"); v != no {
		return n, v
	}
	if i, v = nameEnd(t, i); v == yes {
		_, v = behind(t, i, ":")
	}
	return n, v
}

// toolName returns the end of the name of an offered tool at t[i:].
func (r *Reader) toolName(t []byte, i int) (int, verdict) {
	end, v := nameEnd(t, i)
	if v == no {
		return end, no
	}
	word := t[i:end]
	lo, hi := 0, len(r.tools)
	for lo < hi {
		if mid := (lo + hi) / 2; r.tools[mid] < string(word) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	switch {
	case lo == len(r.tools) || begins(word, r.tools[lo]) == no:
		return end, no
	case v == yes && r.tools[lo] != string(word):
		return end, no
	}
	return end, v
}

func gemmaBody(r *Reader, c *candidate, t []byte) verdict {
	if c.state == 0 {
		v := c.looseNest(r, t, false, "<tool_call|>", "<end_function_call>", "</tool_call>")
		if v == more && r.final && c.quote == 0 && (c.prev == '"' || c.prev == '}' || c.prev == ']') {
			c.pos, v = len(t), yes
		}
		if v != yes {
			return v
		}
		c.state, c.to = 1, c.pos
	}
	return c.closer(r, t, "<tool_call|>", "<end_function_call>", "</tool_call>")
}

func gemmaCalls(r *Reader, c *candidate, t []byte) bool {
	l := literals{t: t[c.from:c.to], flags: bareWords | closedLate}
	args := l.entries(nil, l.t[0]+1+l.t[0]>>6, true, 0) // the closing bracket, as ASCII has it
	defect := None
	if l.deep {
		defect = TooDeep
	} else if l.bad {
		defect = BadArguments
	}
	r.addCall(Gemma, t[c.name[0]:c.name[1]], unwrapped(args), t, defect)
	return true
}

// unwrapped returns the arguments inside of an object that has only them.
func unwrapped(object []byte) []byte {
	s := value.NewScanner(object)
	var inner []byte
	n := 0
	for key := range s.Members() {
		n++
		switch string(key) {
		case "arguments", "args", "parameters":
			if s.Kind() == value.KindMap {
				inner = s.Raw()
			}
		}
	}
	if n == 1 && inner != nil && s.Err() == nil {
		return inner
	}
	return object
}

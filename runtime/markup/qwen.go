package markup

import "github.com/turncore/turncore/runtime/value"

// Qwen3 Coder: <tool_call><function=f><parameter=key>value</parameter></function></tool_call>. The outer tags may be
// missing. A value is a string, whatever it looks like; the line ends that the tags stand at are no part of it. Some
// models write an object of JSON in the place of parameters.

const (
	functionTag    = "<function="
	functionClose  = "</function>"
	parameterTag   = "<parameter="
	parameterClose = "</parameter>"
)

const (
	qwenBetween = iota // before a parameter
	qwenKey
	qwenValue
	qwenObject
	qwenLost // in what is no parameter
	qwenBehind
)

func qwenOpen(_ *Reader, c *candidate, t []byte) (int, verdict) {
	n := 0
	switch v := begins(t, "<tool_call>"); v {
	case more:
		return 0, more
	case yes:
		if n, v = behind(t, len("<tool_call>"), "<"); v != yes {
			return 0, v
		}
	}
	if v := begins(t[n:], functionTag); v != yes {
		return 0, v
	}
	from := n + len(functionTag)
	end, v := tagEnd(t, from)
	c.name, c.from = [2]int{from, end}, end+1
	return end + 1, v
}

// tagEnd returns where the > of a tag is whose value begins at t[i].
func tagEnd(t []byte, i int) (int, verdict) {
	for n := i; ; n++ {
		switch {
		case n-i > maxName:
			return n, no
		case n == len(t):
			return n, more
		case t[n] == '>' && n > i:
			return n, yes
		case t[n] == '<' || t[n] == '\n' || t[n] == '>':
			return n, no
		}
	}
}

func qwenBody(r *Reader, c *candidate, t []byte) verdict {
	for {
		v := yes
		switch c.state {
		case qwenBetween:
			if c.pos = spaceEnd(t, c.pos); c.pos == len(t) {
				return more
			}
			if t[c.pos] == '{' {
				c.state = qwenObject
				continue
			}
			if v = begins(t[c.pos:], parameterTag); v == yes {
				c.pos += len(parameterTag)
				c.state = qwenKey
			} else if v == no {
				if v = begins(t[c.pos:], functionClose); v == yes {
					c.pos += len(functionClose)
					c.state = qwenBehind
				}
			}
		case qwenKey:
			var end int
			if end, v = tagEnd(t, c.pos); v == yes {
				c.pos = end + 1
				c.state = qwenValue
			}
		case qwenValue:
			if v = c.find(t, parameterClose); v == yes {
				c.state = qwenBetween
			}
		case qwenObject:
			if v = c.nest(t); v == yes {
				c.state = qwenBetween
			}
		case qwenLost:
			if v = c.find(t, functionClose); v == yes {
				c.state = qwenBehind
			}
		case qwenBehind:
			return c.closer(r, t, "</tool_call>")
		}
		if v == more {
			return more
		}
		if v == no {
			c.state, c.defect = qwenLost, BadArguments
		}
	}
}

func qwenCalls(r *Reader, c *candidate, t []byte) bool {
	name := t[c.name[0]:c.name[1]]
	rest := t[c.from:]
	rest = rest[spaceEnd(rest, 0):]
	if rest[0] == '{' {
		object := candidate{}
		object.nest(rest)
		args, defect := namedArguments(rest[:object.pos])
		r.addCall(Qwen3Coder, name, args, t, defect)
		return true
	}
	args := []byte{'{'}
	for begins(rest, parameterTag) == yes {
		key, _ := tagEnd(rest, len(parameterTag))
		end := candidate{pos: key}
		end.find(rest, parameterClose)
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = value.AppendJSONString(args, rest[len(parameterTag):key])
		args = append(args, ':')
		args = value.AppendJSONString(args, trimLineEnds(rest[key+1:end.pos-len(parameterClose)]))
		rest = rest[spaceEnd(rest, end.pos):]
	}
	r.addCall(Qwen3Coder, name, append(args, '}'), t, None)
	return true
}

// trimLineEnds cuts one line end off each side.
func trimLineEnds(t []byte) []byte {
	if len(t) > 1 && t[0] == '\r' && t[1] == '\n' {
		t = t[2:]
	} else if len(t) > 0 && t[0] == '\n' {
		t = t[1:]
	}
	if n := len(t); n > 0 && t[n-1] == '\n' {
		if t = t[:n-1]; n > 1 && t[n-2] == '\r' {
			t = t[:n-2]
		}
	}
	return t
}

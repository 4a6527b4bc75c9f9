package markup

import "github.com/turncore/turncore/runtime/value"

// Llama 3: a text that is {"name": "f", "parameters": {}} and nothing else, or several such objects: behind each other,
// with a semicolon or a comma between them, in an array. It may stand in a code fence or behind <|python_tag|>. Only a
// name and arguments together make an object a call, so that an answer in JSON remains one.

const (
	llamaObject = iota
	llamaKey
	llamaValue
	llamaNext   // behind a member
	llamaBehind // behind an object
	llamaTail
)

// llamaKeys are the keys of a call, each with the bytes that its value can begin with.
var llamaKeys = [...]struct{ key, begins string }{
	{`"name"`, `"`},
	{`"parameters"`, `{`},
	{`"arguments"`, `{"`},
	{`"function"`, `{"`},
	{`"type"`, `"`},
	{`"id"`, `"`},
}

func llamaOpen(_ *Reader, c *candidate, t []byte) (n int, v verdict) {
	switch t[0] {
	case '`':
		if n, v = fence(t); v != yes {
			return n, v
		}
		c.fenced = true
	case '<':
		if v = begins(t, "<|python_tag|>"); v != yes {
			return 0, v
		}
		n = len("<|python_tag|>")
	}
	if n, v = behind(t, n, "{["); v != yes {
		return n, v
	}
	c.from = n
	if t[n] == '[' {
		c.wrapped = true
		if n, v = behind(t, n+1, "{"); v != yes {
			return n, v
		}
	}
	i, v := behind(t, n+1, `"`)
	if v == yes {
		_, v = llamaMember(t, i)
	}
	return n, v
}

// llamaMember tells whether the key and the start of the value at t[i:] can be those of a call, and where the value
// begins.
func llamaMember(t []byte, i int) (int, verdict) {
	for _, k := range llamaKeys {
		switch begins(t[i:], k.key) {
		case more:
			return i, more
		case yes:
			n, v := behind(t, i+len(k.key), ":")
			if v == yes {
				n, v = behind(t, n+1, k.begins)
			}
			return n, v
		}
	}
	return i, no
}

func llamaBody(r *Reader, c *candidate, t []byte) verdict {
	for {
		if c.state == llamaTail {
			return c.tail(r, t)
		}
		if c.state == llamaValue {
			if v := c.nest(t); v != yes {
				return v
			}
			c.state = llamaNext
		}
		c.pos = spaceEnd(t, c.pos)
		b := byte(0)
		if c.pos < len(t) {
			b = t[c.pos]
		}
		if b == 0 && (c.pos < len(t) || !r.final || c.state != llamaBehind) {
			if c.pos < len(t) {
				return no
			}
			return more
		}
		c.pos++
		switch {
		case c.state == llamaObject && b == '{', c.state == llamaNext && b == ',':
			c.state = llamaKey
		case c.state == llamaKey:
			n, v := llamaMember(t, c.pos-1)
			if v != yes {
				c.pos--
				return v
			}
			c.pos, c.state, c.depth = n, llamaValue, 0
		case c.state == llamaNext && b == '}':
			c.state = llamaBehind
		case c.state == llamaBehind && (b == ';' || b == ','):
			c.state = llamaObject
		case c.state == llamaBehind && b == '{':
			c.state = llamaKey
		case c.state == llamaBehind && b == ']' && c.wrapped:
			c.state = llamaTail
		case c.state == llamaBehind && !c.wrapped:
			c.pos--
			c.state = llamaTail
		default:
			c.pos--
			return no
		}
	}
}

func llamaCalls(r *Reader, c *candidate, t []byte) bool {
	calls, excess := len(r.calls), r.excess
	for i := c.from; i < len(t); i++ {
		if t[i] != '{' {
			continue
		}
		object := candidate{pos: i}
		object.nest(t)
		s := value.NewScanner(t[i:object.pos])
		name, raw := callMembers(&s)
		args, defect := callArguments(raw)
		if s.End() != nil || raw == nil || defect != None || !validName(name) {
			r.calls, r.excess = r.calls[:calls], excess
			return false
		}
		r.addCall(Llama3JSON, name, args, nil, None)
		i = object.pos - 1
	}
	return true
}

package markup

import (
	"bytes"

	"github.com/turncore/turncore/runtime/value"
)

// Loose: a text whose first line is the name of an offered tool, and whose other lines are key: value. At least one of
// them is needed.

const (
	looseLine = iota
	looseValue
)

func looseOpen(r *Reader, c *candidate, t []byte) (int, verdict) {
	n, v := r.toolName(t, 0)
	if v != yes {
		return n, v
	}
	c.name[1] = n
	for ; n < min(len(t), maxName+maxSpace); n++ {
		if t[n] == '\n' {
			return n + 1, yes
		}
		if !space(t[n]) {
			return n, no
		}
	}
	if n < len(t) {
		return n, no
	}
	return n, more
}

func looseBody(r *Reader, c *candidate, t []byte) verdict {
	for c.pos < len(t) {
		if c.state == looseLine {
			if c.pos = spaceEnd(t, c.pos); c.pos == len(t) {
				break
			}
			n, v := nameEnd(t, c.pos)
			if v == yes {
				v = begins(t[n:], ":")
			}
			if v == no && c.depth > 0 && t[c.pos] == '<' {
				return r.ends(t[c.pos:])
			}
			if v != yes {
				return v
			}
			c.pos, c.state, c.depth = n+1, looseValue, 1
		}
		for ; c.pos < len(t) && t[c.pos] != '\n'; c.pos++ {
			if t[c.pos] == '<' {
				if v := r.ends(t[c.pos:]); v != no {
					return v
				}
			}
		}
		if c.pos < len(t) {
			c.state = looseLine
		}
	}
	if r.final && c.depth > 0 {
		return yes
	}
	return more
}

func looseCalls(r *Reader, c *candidate, t []byte) bool {
	args := []byte{'{'}
	lines := t[c.name[1]:]
	for len(lines) > 0 {
		var line []byte
		line, lines, _ = bytes.Cut(lines, []byte{'\n'})
		key, text, ok := bytes.Cut(line, []byte{':'})
		if !ok {
			continue
		}
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = append(value.AppendJSONString(args, bytes.TrimSpace(key)), ':')
		text = bytes.TrimSpace(text)
		if json, ok := literal(text, 0); ok && len(text) > 0 {
			args = append(args, json...)
		} else {
			args = value.AppendJSONString(args, text)
		}
	}
	r.addCall(LooseKeyed, t[c.name[0]:c.name[1]], append(args, '}'), nil, None)
	return true
}

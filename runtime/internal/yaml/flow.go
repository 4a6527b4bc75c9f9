package yaml

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
)

// flowLines reads a flow collection that starts on this line and may continue on the next ones.
func (p *parser) flowLines(dst, text []byte, parent int) []byte {
	first := p.pos - 1
	f := flow{text: uncomment(text), more: func() []byte {
		for p.pos < len(p.lines) {
			l := &p.lines[p.pos]
			if !l.blank() && l.indent <= parent {
				return nil
			}
			if p.pos++; !l.blank() && l.text[0] != '#' {
				return uncomment(l.text)
			}
		}
		return nil
	}}
	dst = f.value(dst, p.depth)
	if f.reason == "" && f.peek() != 0 {
		f.reason = "text after a flow collection"
	}
	if f.reason != "" {
		p.pos = max(first, p.pos-1)
		p.fail(f.reason)
	}
	return dst
}

// flow reads flow collections line by line.
type flow struct {
	text   []byte // rest of the line
	more   func() []byte
	reason string
}

// peek skips white space and returns the next byte, 0 at the end.
func (f *flow) peek() byte {
	for f.reason == "" {
		if f.text = bytes.TrimLeft(f.text, " \t"); len(f.text) > 0 {
			return f.text[0]
		}
		if f.text = f.more(); f.text == nil {
			return 0
		}
	}
	return 0
}

func (f *flow) fail(reason string) {
	if f.reason == "" {
		f.reason = reason
	}
}

func (f *flow) value(dst []byte, depth int) []byte {
	c := f.peek()
	if c != '[' && c != '{' {
		text, plain := f.scalar()
		if plain {
			return resolve(dst, text)
		}
		return value.AppendText(dst, text)
	}
	if depth >= MaxDepth {
		f.fail("collections nested too deeply")
		return dst
	}
	f.text = f.text[1:]
	closing := c + 2 // as ASCII has it
	n, start := 0, len(dst)
	var body []byte
	for f.reason == "" && f.peek() != closing {
		n++
		if c == '[' {
			body = f.value(body, depth+1)
		} else {
			key, _ := f.scalar()
			body = value.AppendText(body, key)
			if f.peek() == ':' {
				f.text = f.text[1:]
				if next := f.peek(); next == ',' || next == closing {
					body = value.AppendNil(body)
				} else {
					body = f.value(body, depth+1)
				}
			} else {
				body = value.AppendNil(body)
			}
		}
		if next := f.peek(); next == ',' {
			f.text = f.text[1:]
		} else if next != closing {
			f.fail("unclosed flow collection")
		}
	}
	if f.reason != "" {
		return dst
	}
	f.text = f.text[1:]
	if c == '[' {
		return append(value.AppendListHeader(dst, n), body...)
	}
	return value.OrderMap(append(value.AppendMapHeader(dst, n), body...), start)
}

// scalar reads a key or a scalar.
func (f *flow) scalar() (text []byte, plain bool) {
	c := f.peek()
	if c == '"' || c == '\'' {
		text, end := quoted(f.text)
		if end == 0 {
			f.fail("quoted text that is not closed on its line")
			return nil, false
		}
		f.text = f.text[end:]
		return text, false
	}
	end := 0
	for end < len(f.text) {
		ch := f.text[end]
		if ch == ',' || ch == '[' || ch == ']' || ch == '{' || ch == '}' || ch == ':' && (end+1 == len(f.text) || strings.IndexByte(" \t,[]{}", f.text[end+1]) >= 0) {
			break
		}
		end++
	}
	if end == 0 || strings.IndexByte("&*!%@`|>#", c) >= 0 {
		f.fail("expected a scalar in a flow collection")
		return nil, false
	}
	text = bytes.TrimRight(f.text[:end], " \t")
	f.text = f.text[end:]
	return text, true
}

// quoted reads quoted text. end is 0 if it is not closed, or has an unknown escape.
func quoted(b []byte) (out []byte, end int) {
	quote := b[0]
	out = []byte{}
	for i := 1; i < len(b); i++ {
		c := b[i]
		switch {
		case c == quote && quote == '\'' && i+1 < len(b) && b[i+1] == quote:
			i++
		case c == quote:
			return out, i + 1
		case c == '\\' && quote == '"':
			r, n := escape(b[i+1:])
			if n == 0 {
				return nil, 0
			}
			out = utf8.AppendRune(out, r)
			i += n
			continue
		}
		out = append(out, c)
	}
	return nil, 0
}

// escape reads the rest of an escape after the backslash. size is 0 if it is invalid.
func escape(b []byte) (r rune, size int) {
	if len(b) == 0 {
		return 0, 0
	}
	const names, chars = "0abtnvfre \"/\\N_LP\t", "\x00\a\b\t\n\v\f\r\x1b \"/\\\u0085\u00a0\u2028\u2029\t"
	at := 0
	for _, c := range chars {
		if names[at] == b[0] {
			return c, 1
		}
		at++
	}
	switch b[0] {
	case 'x':
		size = 3
	case 'u':
		size = 5
	case 'U':
		size = 9
	}
	if size == 0 || len(b) < size {
		return 0, 0
	}
	n, err := strconv.ParseUint(string(b[1:size]), 16, 32)
	if err != nil {
		return 0, 0
	}
	// Two halves of a surrogate pair are one character.
	if n>>10 == 0xd800>>10 && size == 5 && len(b) >= 11 && b[5] == '\\' && b[6] == 'u' {
		if low, err := strconv.ParseUint(string(b[7:11]), 16, 32); err == nil && low>>10 == 0xdc00>>10 {
			return rune((n-0xd800)<<10 + low - 0xdc00 + 0x10000), 11
		}
	}
	return rune(min(n, utf8.MaxRune+1)), size
}

// resolve appends the value of a plain scalar under the core schema.
func resolve(dst, text []byte) []byte {
	switch string(text) {
	case "", "~", "null", "Null", "NULL":
		return value.AppendNil(dst)
	case "true", "True", "TRUE":
		return value.AppendBool(dst, true)
	case "false", "False", "FALSE":
		return value.AppendBool(dst, false)
	}
	if f, ok := number(string(text)); ok {
		return value.AppendNumber(dst, f)
	}
	return value.AppendText(dst, text)
}

func number(text string) (f float64, ok bool) {
	digits := text
	if digits[0] == '-' || digits[0] == '+' {
		digits = digits[1:]
	}
	switch digits {
	case ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN":
		return math.NaN(), true
	}
	if len(digits) > 2 && digits[0] == '0' && digits == text {
		base := 0
		switch digits[1] {
		case 'x':
			base = 16
		case 'o':
			base = 8
		}
		if base > 0 {
			n, err := strconv.ParseUint(digits[2:], base, 64)
			return float64(n), err == nil
		}
	}
	// Only decimals are left; ParseFloat accepts more forms than YAML.
	seen := false
	for i := range len(digits) {
		switch c := digits[i]; {
		case c-'0' <= 9:
			seen = true
		case c == '.':
		case (c == 'e' || c == 'E') && seen:
		case (c == '+' || c == '-') && i > 0 && digits[i-1]|0x20 == 'e':
		default:
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, seen && (err == nil || math.IsInf(f, 0))
}

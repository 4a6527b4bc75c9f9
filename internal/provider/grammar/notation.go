package grammar

import (
	"strings"

	"github.com/turncore/turncore/abi/value"
)

// literal writes text as a literal of a grammar.
func literal(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7f:
			b.WriteString(hex(r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// hex writes a character as a number.
func hex(r rune) string {
	const digits = "0123456789ABCDEF"
	form, width := `\x`, 2
	switch {
	case r > 0xffff:
		form, width = `\U`, 8
	case r > 0xff:
		form, width = `\u`, 4
	}
	out := []byte(form)
	for i := width - 1; i >= 0; i-- {
		out = append(out, digits[r>>(4*i)&15])
	}
	return string(out)
}

// span is a range of characters.
type span struct{ first, last rune }

// classOf writes a class of characters, or of all others.
func classOf(spans []span, negate bool) string {
	var b strings.Builder
	b.WriteByte('[')
	if negate {
		b.WriteByte('^')
	}
	for _, s := range spans {
		writeInClass(&b, s.first)
		if s.last > s.first {
			b.WriteByte('-')
			writeInClass(&b, s.last)
		}
	}
	b.WriteByte(']')
	return b.String()
}

func writeInClass(b *strings.Builder, r rune) {
	if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == ' ' {
		b.WriteRune(r)
		return
	}
	b.WriteString(hex(r))
}

// jsonString is text as a JSON string.
func jsonString(text []byte) string { return string(value.AppendJSONText(nil, text)) }

// group puts an expression between parentheses if it needs them to be a part of another.
func group(expression string) string {
	if strings.Contains(expression, "|") || strings.Contains(expression, " ") {
		return "(" + expression + ")"
	}
	return expression
}

// either joins alternatives.
func either(list []string) string { return strings.Join(list, " | ") }

package htmltext

import (
	"bytes"
	"strings"
)

// tokens are the tags and texts of a page, one after another.
type tokens struct {
	rest []byte

	// The token: a tag, or a text when name is empty.
	name  string
	kind  byte // of the element
	end   bool
	attrs []byte // of a start tag
	text  []byte

	without string // names of elements that do not end in what is left, each between spaces
}

// next goes to the next token.
func (t *tokens) next() bool {
	for len(t.rest) > 0 {
		t.name = ""
		c := byte(0)
		if t.end = bytes.HasPrefix(t.rest, []byte("</")); t.end {
			c = t.at(2)
		} else if t.rest[0] == '<' {
			c = t.at(1)
		}
		switch {
		case isLetter(c):
			if !t.takeTag() {
				return false
			}
			if t.end || t.kind != skipped || !t.skipElement() {
				return true
			}
		case (c == '!' || c == '?') && !t.end:
			t.skipMarkup()
		default:
			// What may be a bracket is text.
			n := bytes.IndexByte(t.rest[1:], '<') + 1
			if n == 0 {
				n = len(t.rest)
			}
			t.text, t.rest = t.rest[:n], t.rest[n:]
			return true
		}
	}
	return false
}

func (t *tokens) at(i int) byte {
	if i < len(t.rest) {
		return t.rest[i]
	}
	return 0
}

// skipMarkup goes behind a comment, a declaration or an instruction.
func (t *tokens) skipMarkup() {
	end := ">"
	if bytes.HasPrefix(t.rest, []byte("<!--")) && t.at(4) != '>' {
		end = "-->"
	}
	t.rest = behind(t.rest, end)
}

// behind returns what follows the first place of some text; nil if it is not there.
//
//go:noinline
func behind(text []byte, mark string) []byte {
	i := bytes.Index(text, []byte(mark))
	if i < 0 {
		return nil
	}
	return text[i+len(mark):]
}

// takeTag takes a tag. One that does not end ends the page.
func (t *tokens) takeTag() bool {
	begin := 1
	if t.end {
		begin = 2
	}
	n := begin
	for n < len(t.rest) && !isSpace(t.rest[n]) && t.rest[n] != '>' && t.rest[n] != '/' {
		n++
	}
	name := t.rest[begin:n]
	quote, value := byte(0), false // in quotes; behind an equals sign
	for k := n; k < len(t.rest); k++ {
		switch c := t.rest[k]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			t.name, t.attrs = strings.ToLower(string(name)), t.rest[n:k]
			t.kind = kindOf(t.name)
			t.rest = t.rest[k+1:]
			return true
		case (c == '"' || c == '\'') && value:
			quote, value = c, false
		case !isSpace(c):
			value = c == '='
		}
	}
	t.rest = nil
	return false
}

// skipElement goes behind the end of an element that nobody reads. It does not when the page does not say where that
// is.
func (t *tokens) skipElement() bool {
	name := t.name + " "
	if strings.Contains(t.without, " "+name) || t.name == "svg" && bytes.HasSuffix(t.attrs, []byte{'/'}) {
		return false
	}
	n := len(t.name)
	for rest := t.rest; ; {
		if rest = behind(rest, "</"); rest == nil {
			t.without += " " + name
			return false
		}
		if len(rest) >= n && strings.ToLower(string(rest[:n])) == t.name && (len(rest) == n || !isLetter(rest[n])) {
			t.rest = behind(rest, ">")
			return true
		}
	}
}

// attribute returns the value of an attribute of the tag, with entities; nil if there is none.
func (t *tokens) attribute(name string) []byte {
	rest := t.attrs
	for len(rest) > 0 {
		if isSpace(rest[0]) || rest[0] == '/' {
			rest = rest[1:]
			continue
		}
		n := 1
		for n < len(rest) && !isSpace(rest[n]) && rest[n] != '/' && rest[n] != '=' {
			n++
		}
		found := strings.ToLower(string(rest[:n])) == name
		if rest = trimSpace(rest[n:]); len(rest) == 0 || rest[0] != '=' {
			continue
		}
		rest = trimSpace(rest[1:])
		if len(rest) == 0 {
			break
		}
		begin, end := 0, 0
		if quote := rest[0]; quote == '"' || quote == '\'' {
			begin = 1
			end = bytes.IndexByte(rest[1:], quote) + 1
		} else {
			for end < len(rest) && !isSpace(rest[end]) {
				end++
			}
		}
		if end == 0 {
			end = len(rest)
		}
		if found {
			return rest[begin:end]
		}
		rest = rest[min(end+begin, len(rest)):]
	}
	return nil
}

//go:noinline
func trimSpace(text []byte) []byte {
	for len(text) > 0 && isSpace(text[0]) {
		text = text[1:]
	}
	return text
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

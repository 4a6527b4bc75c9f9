package session

import (
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
)

// Instruct puts values of the state into an instruction: {name} becomes the value of a name, {name?} becomes nothing if
// there is none. A name has letters, digits and underscores, after its scope, as in {user:name}. Text stays as it is,
// other values become JSON. Doubled braces are text: {{name}} becomes {name}. Braces around anything else stay as they
// are. It fails with E_INVALID_STATE for a name that has no value, and for one whose scope is misspelled. What comes of
// the instruction is appended to out.
func Instruct(out []byte, text string, s *State) ([]byte, error) {
	for {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return append(out, text...), nil
		}
		out = append(out, text[:open]...)
		text = text[open:]
		n, plain := placeholder(text), text[:1]
		doubled := placeholder(text[1:])
		switch {
		case n > 0:
			var err error
			plain = ""
			if out, err = appendValueOf(out, text[1:n-1], s); err != nil {
				return nil, err
			}
		case doubled > 0 && strings.HasPrefix(text[1+doubled:], "}"):
			n = doubled + 2
			plain = text[1 : n-1]
		default:
			n = 1
		}
		out, text = append(out, plain...), text[n:]
	}
}

// placeholder returns the length of the placeholder at the start of text, braces included, and 0 if there is none.
func placeholder(text string) int {
	if len(text) == 0 || text[0] != '{' {
		return 0
	}
	start, colon := 1, false
	for i := 1; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '_' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' && i > start:
		case c == ':' && i > start && !colon:
			colon, start = true, i+1
		case c == '?' && i > start && i+1 < len(text) && text[i+1] == '}':
			return i + 2
		case c == '}' && i > start:
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

func appendValueOf(dst []byte, name string, s *State) ([]byte, error) {
	optional := name[len(name)-1] == '?'
	if optional {
		name = name[:len(name)-1]
	}
	if err := CheckName(name); err != nil {
		return nil, err
	}
	v := s.Get(name)
	switch {
	case v != nil:
		if text, ok := value.String(v); ok {
			return append(dst, text...), nil
		}
		return value.AppendJSON(dst, v)
	case optional:
		return dst, nil
	}
	return nil, New(InvalidState, name, "an instruction names it, and it has no value; write "+strconv.Quote("{"+name+"?}")+" if it may be missing")
}

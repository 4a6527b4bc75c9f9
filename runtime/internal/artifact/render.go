package artifact

import "github.com/turncore/turncore/abi/value"

// Render appends the text that a reader tool returns for an answer. It stops at limit bytes and reports whether it did.
// A string is its own text. A list of strings has a line for each; an empty one is "(empty list)"; nil is
// "(undefined)". Everything else is JSON: numbers as ECMAScript writes them, lists and maps indented by two spaces. The
// error says that the answer is malformed.
func Render(dst, answer []byte, limit int) (out []byte, cut bool, err error) {
	if answer == nil {
		return append(dst, "(undefined)"...), false, nil
	}
	if text, ok := value.String(answer); ok {
		return append(dst, text...), len(text) > limit, nil
	}
	if value.KindOf(answer) != value.KindList {
		return value.AppendIndented(dst, answer, limit)
	}
	if value.Len(answer) == 0 {
		return append(dst, "(empty list)"...), false, nil
	}
	texts := true
	out = dst
	err = value.EachItem(answer, func(i int, item []byte) bool {
		var text []byte
		if text, texts = value.String(item); !texts {
			return false
		}
		if i > 0 {
			out = append(out, '\n')
		}
		out = append(out, text...)
		cut = len(out)-len(dst) > limit
		return !cut
	})
	if err != nil {
		return dst, false, err
	}
	if !texts {
		return value.AppendIndented(dst, answer, limit)
	}
	return out, cut, nil
}

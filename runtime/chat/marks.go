package chat

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/trust"
)

// marks puts texts between marks that name their origin, unless it is off.
type marks struct{ off bool }

// append appends a text between marks.
func (m *marks) append(dst []byte, mark trust.Mark, text []byte) []byte {
	if m.off {
		return append(dst, text...)
	}
	return mark.Append(dst, text)
}

// text appends a text without a mark of its own.
func (m *marks) text(dst, text []byte) []byte {
	if m.off {
		return append(dst, text...)
	}
	return trust.AppendText(dst, text)
}

func (m *marks) open(dst []byte, mark *trust.Mark) []byte {
	if m.off {
		return dst
	}
	return mark.AppendOpen(dst)
}

func (m *marks) close(dst []byte, mark *trust.Mark) []byte {
	if m.off {
		return dst
	}
	return mark.AppendClose(dst)
}

func kindOf(kind string) []trust.Attribute {
	return []trust.Attribute{{Name: "kind", Value: []byte(kind)}}
}

func date(ms int64) trust.Attribute {
	return trust.Attribute{Name: "createdAt", Value: value.AppendDate(nil, ms, 0, "Z")}
}

func number(name string, n float64) trust.Attribute {
	text, _ := value.AppendJSON(nil, value.AppendNumber(nil, n))
	return trust.Attribute{Name: name, Value: text}
}

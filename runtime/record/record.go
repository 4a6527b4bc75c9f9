// Package record reads and writes the encoded bodies of records: messages, memories, thoughts, tool calls and
// retrievables, and the texts of standing instructions.
//
// A body is one msgpack array of the record's fields in the order that the ABI fixes; an instruction's body is its
// text, a string. Nothing here decodes a whole body: a reader finds its field and returns a part of the body, so unread
// records cost nothing. Readers never fail: they return the zero value if the body is malformed or lacks the field.
// Call [Check] on every body that comes in.
package record

import "github.com/turncore/turncore/abi/value"

// Kind is a kind of record.
type Kind uint8

// Kinds is the number of kinds.
const Kinds = 6

var names = [Kinds]string{"instruction", "memory", "retrievable", "message", "thought", "toolCall"}

// String is the kind's singular name, as deltas and events have it.
func (k Kind) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// createdAt is the index of a kind's createdAt field.
var createdAt = [Kinds]int{-1, 4, 7, 4, 5, 13}

// ID returns a record's id, a part of the body. An instruction has none; its text names it.
func ID(kind Kind, body []byte) []byte {
	if kind == Instructions {
		return text(body)
	}
	return text(field(body, 0))
}

// CreatedAt returns the creation time, in ms since the Unix epoch; 0 for an instruction.
func CreatedAt(kind Kind, body []byte) int64 {
	if kind == Instructions || kind >= Kinds {
		return 0
	}
	return integer(field(body, createdAt[kind]))
}

// tuple returns the number of fields of a body, and the fields; -1 if the body is not an array.
func tuple(body []byte) (n int, fields []byte) {
	if len(body) == 0 {
		return -1, nil
	}
	switch c := body[0]; {
	case c&0xf0 == 0x90:
		return int(c & 0x0f), body[1:]
	case c == 0xdc && len(body) >= 3:
		return int(body[1])<<8 | int(body[2]), body[3:]
	}
	return -1, nil
}

// field returns the n-th field of a body, nil if there is none.
func field(body []byte, n int) []byte {
	count, rest := tuple(body)
	if n >= count {
		return nil
	}
	start, ok := after(rest, n, 0)
	if !ok {
		return nil
	}
	end, ok := after(rest, 1, start)
	if !ok {
		return nil
	}
	return rest[start:end:end]
}

// after returns the end of the n values at v[i:].
func after(v []byte, n, i int) (end int, ok bool) {
	for {
		if n, i = pass(v, n, i); n == 0 {
			return i, true
		}
		rest, err := value.Skip(v[i:], value.MaxDepth)
		if err != nil {
			return 0, false
		}
		n, i = n-1, len(v)-len(rest)
	}
}

// pass passes over the n values at v[i:], up to one that is not among the forms that most fields have. It returns how
// many are left, and where. Nothing in the loop is a call, as in proven.
func pass(v []byte, n, i int) (int, int) {
	for ; n > 0 && i < len(v); n-- {
		end := i + 1
		switch c := v[i]; {
		case c >= 0xa0 && c < 0xc0:
			end += int(c & 31)
		case c < 0x80 || c == 0xc0 || c == 0xc2 || c == 0xc3:
		case c == 0xd9 && end < len(v):
			end += 1 + int(v[end])
		case c == 0xcf && i+2 < len(v) && v[i+1] == 0 && v[i+2] <= value.MaxInt>>48:
			end += 8
		default:
			return n, i
		}
		if end > len(v) {
			break
		}
		i = end
	}
	return n, i
}

func text(v []byte) []byte {
	s, _ := value.String(v)
	return s
}

func integer(v []byte) int64 {
	n, _ := value.Int(v)
	return n
}

func boolean(v []byte) bool {
	b, _ := value.Bool(v)
	return b
}

func number(v []byte) float64 {
	f, _ := value.Number(v)
	return f
}

// optional returns v unless it is null.
func optional(v []byte) []byte {
	if value.KindOf(v) <= value.KindNil {
		return nil
	}
	return v
}

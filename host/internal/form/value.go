package form

import (
	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

// Millis is a time: ms since the Unix epoch.
type Millis int64

// MarshalMsg implements msgp.Marshaler.
func (t Millis) MarshalMsg(b []byte) ([]byte, error) { return value.AppendInt(b, int64(t)), nil }

// UnmarshalMsg implements msgp.Unmarshaler.
func (t *Millis) UnmarshalMsg(b []byte) ([]byte, error) {
	n, rest, err := msgp.ReadInt64Bytes(b)
	*t = Millis(n)
	return rest, err
}

// Msgsize is the largest size of its encoding.
func (Millis) Msgsize() int { return msgp.Int64Size }

// Optional is a text that need not be there. The zero value is none; an empty text is one.
type Optional struct {
	Text  string
	There bool
}

// IsZero tells whether there is no text.
func (o Optional) IsZero() bool { return !o.There }

// MarshalMsg implements msgp.Marshaler.
func (o Optional) MarshalMsg(b []byte) ([]byte, error) { return value.AppendString(b, o.Text), nil }

// UnmarshalMsg implements msgp.Unmarshaler.
func (o *Optional) UnmarshalMsg(b []byte) ([]byte, error) {
	text, rest, err := msgp.ReadStringBytes(b)
	*o = Optional{text, true}
	return rest, err
}

// Msgsize is the largest size of its encoding.
func (o Optional) Msgsize() int { return msgp.StringPrefixSize + len(o.Text) }

// Value is an encoded free value, one of "Values" in abi/SPEC.md; empty for none. A decoded one is a part of the bytes
// that it was decoded from.
type Value []byte

// IsZero tells whether there is no value.
func (v Value) IsZero() bool { return len(v) == 0 }

// MarshalMsg implements msgp.Marshaler.
func (v Value) MarshalMsg(b []byte) ([]byte, error) {
	if len(v) == 0 {
		return value.AppendNil(b), nil
	}
	return append(b, v...), nil
}

// UnmarshalMsg implements msgp.Unmarshaler.
func (v *Value) UnmarshalMsg(b []byte) ([]byte, error) {
	rest, err := value.Skip(b, value.MaxDepth)
	if err != nil {
		return b, err
	}
	raw := b[: len(b)-len(rest) : len(b)-len(rest)]
	if !value.Fits(raw, abi.MaxValueDepth, abi.MaxArray) {
		return b, value.ErrTooDeep
	}
	*v = raw
	return rest, nil
}

// Msgsize is the size of its encoding.
func (v Value) Msgsize() int { return max(len(v), 1) }

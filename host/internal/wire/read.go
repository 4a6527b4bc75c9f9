package wire

import (
	"bytes"
	"errors"
	"math"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

var errMalformed = errors.New("the value is malformed, or larger than a frame may hold")

// IsNil tells an absent value.
func IsNil(v []byte) bool { return len(v) == 0 || value.KindOf(v) == value.KindNil }

// Read returns an encoded value as plain data: nil, bool, int64, float64, string, []byte, []any, map[string]any.
// Nothing in the result shares memory with v.
func Read(v []byte) (any, error) {
	texts := TextsOf(v)
	return texts.read(v)
}

func (t *Texts) read(v []byte) (any, error) {
	if !value.Fits(v, abi.MaxDepth, abi.MaxArray) {
		return nil, errMalformed
	}
	r := reader{b: v, texts: t}
	return r.value(), nil
}

// Plain is Read for a value that may be absent, which is nil.
func Plain(v []byte) (any, error) {
	if IsNil(v) {
		return nil, nil
	}
	return Read(v)
}

// Plain is [Plain] of a part of the value whose texts these are.
func (t *Texts) Plain(v []byte) (any, error) {
	if IsNil(v) {
		return nil, nil
	}
	return t.read(v)
}

// reader reads a value that is known to be well-formed.
type reader struct {
	b     []byte
	i     int
	texts *Texts
}

func (r *reader) value() any {
	kind, size, n := value.Head(r.b, r.i)
	r.i += size
	switch kind {
	case value.KindBool:
		return n == 1
	case value.KindInt:
		return int64(n)
	case value.KindFloat:
		return math.Float64frombits(n)
	case value.KindString:
		return r.text(n)
	case value.KindBytes:
		return bytes.Clone(r.take(n))
	case value.KindList:
		list := make([]any, n)
		for i := range list {
			list[i] = r.value()
		}
		return list
	case value.KindMap:
		m := make(map[string]any, n)
		for range n {
			_, size, n := value.Head(r.b, r.i)
			r.i += size
			key := r.text(n)
			m[key] = r.value()
		}
		return m
	}
	return nil
}

func (r *reader) text(n uint64) string { return r.texts.String(r.take(n)) }

func (r *reader) take(n uint64) []byte {
	start := r.i
	r.i += int(n)
	return r.b[start:r.i:r.i]
}

package abi

import (
	"math"

	"github.com/turncore/turncore/abi/value"
)

// Tuples about sessions are a few of an invocation's frames. Their codecs are lists of fields, which one function reads
// and one writes: that makes the full module smaller than code for each field.

// appendTuple appends a tuple of fields.
func appendTuple(b []byte, fields ...any) []byte {
	return appendFields(seldomList(b, len(fields)), fields...)
}

// appendFields appends fields of a tuple.
func appendFields(b []byte, fields ...any) []byte {
	for _, at := range fields {
		var n int64
		switch of := at.(type) {
		case *uint8:
			n = int64(*of)
		case *uint32:
			n = int64(*of)
		case *uint64:
			n = int64(*of)
		case *int64:
			n = *of
		default:
			b = appendField(b, at)
			continue
		}
		b = value.AppendInt(b, n)
	}
	return b
}

// appendField appends a field of any other type.
func appendField(b []byte, at any) []byte {
	switch of := at.(type) {
	case *bool:
		return seldomBool(b, *of)
	case *string:
		return appendText(b, *of)
	case *[]byte:
		return value.AppendBytes(b, *of)
	case *Raw:
		return appendRaw(b, *of)
	case *[]uint32:
		b = seldomList(b, len(*of))
		for i := range *of {
			b = appendFields(b, &(*of)[i])
		}
	}
	return b
}

// readTuple reads a tuple of fields.
func (r *Reader) readTuple(fields ...any) {
	r.fields(len(fields))
	r.readFields(fields...)
}

// readFields reads fields of a tuple.
func (r *Reader) readFields(fields ...any) {
	for _, at := range fields {
		switch to := at.(type) {
		case *uint8:
			*to = uint8(r.wideUint(math.MaxUint8))
		case *uint32:
			*to = uint32(r.wideUint(math.MaxUint32))
		case *uint64:
			*to = r.wideUint(MaxInt)
		case *int64:
			*to = r.Int(MaxInt)
		case *bool:
			*to = r.seldomBool()
		case *string:
			*to = string(r.Text())
		case *[]byte:
			*to = append([]byte(nil), r.Bytes()...)
		case *Raw:
			*to = r.raw(*to)
		case *[]uint32:
			*to = make([]uint32, r.list(1, MaxArray))
			for i := range *to {
				r.readFields(&(*to)[i])
			}
		}
	}
}

//go:noinline
func seldomList(b []byte, n int) []byte { return value.AppendListHeader(b, n) }

//go:noinline
func seldomBool(b []byte, v bool) []byte { return value.AppendBool(b, v) }

//go:noinline
func (r *Reader) seldomBool() bool { return r.Bool() }

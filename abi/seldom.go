package abi

import (
	"math"

	"github.com/turncore/turncore/abi/value"
)

// Tuples about sessions are a few of an invocation's frames. Their codecs are lists of fields, which one function reads
// and one writes: that makes the full module smaller than code for each field.

// appendFields appends fields of a tuple.
func appendFields(b []byte, fields ...any) []byte {
	for _, at := range fields {
		switch of := at.(type) {
		case *uint8:
			b = value.AppendInt(b, int64(*of))
		case *uint32:
			b = value.AppendInt(b, int64(*of))
		case *uint64:
			b = value.AppendInt(b, int64(*of))
		case *int64:
			b = value.AppendInt(b, *of)
		case *bool:
			b = value.AppendBool(b, *of)
		case *string:
			b = appendText(b, *of)
		case *[]byte:
			b = value.AppendBytes(b, *of)
		case *Raw:
			b = appendRaw(b, *of)
		case *[]uint32:
			b = value.AppendListHeader(b, len(*of))
			for _, n := range *of {
				b = value.AppendInt(b, int64(n))
			}
		}
	}
	return b
}

// readFields reads fields of a tuple.
func (r *Reader) readFields(fields ...any) {
	for _, at := range fields {
		switch to := at.(type) {
		case *uint8:
			*to = uint8(r.Uint(math.MaxUint8))
		case *uint32:
			*to = uint32(r.Uint(math.MaxUint32))
		case *uint64:
			*to = r.Uint(MaxInt)
		case *int64:
			*to = r.Int(MaxInt)
		case *bool:
			*to = r.Bool()
		case *string:
			*to = string(r.Text())
		case *[]byte:
			*to = append([]byte(nil), r.Bytes()...)
		case *Raw:
			*to = r.raw(*to)
		case *[]uint32:
			*to = make([]uint32, r.list(1, MaxArray))
			for i := range *to {
				(*to)[i] = uint32(r.Uint(math.MaxUint32))
			}
		}
	}
}

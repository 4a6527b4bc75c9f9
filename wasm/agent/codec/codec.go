// Package codec is what generated code calls that decodes the arguments of tools into Go types and encodes their
// results, without reflection: package [github.com/turncore/turncore/host/toolgen] writes that code. The rules are
// those of encoding/json, and an error names the field as it does.
//
// A value is one encoded value of [github.com/turncore/turncore/abi/value].
package codec

import (
	"encoding"
	"encoding/base64"
	"errors"
	"math"
	"strconv"

	"github.com/turncore/turncore/abi/value"
)

// Error says which part of the arguments does not fit its Go type.
type Error struct {
	Field  string // such as "filter.tags[2]"; empty for the arguments themselves
	Reason string
	Err    error // what the type's own decoder said; nil if there is none
}

// Error names the field and the reason.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// Unwrap returns what the type's own decoder said.
func (e *Error) Unwrap() error { return e.Err }

// In adds the name of a field to an error of what is in it. It returns nil for nil.
func In(field string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		return &Error{Field: field, Reason: err.Error(), Err: err}
	}
	switch {
	case e.Field == "":
	case e.Field[0] == '[':
		field += e.Field
	default:
		field += "." + e.Field
	}
	return &Error{Field: field, Reason: e.Reason, Err: e.Err}
}

func wrong(what string) error { return &Error{Reason: "is not " + what} }

// Nil reports whether a value is nil, which leaves a Go value as it is, or makes a pointer nil.
func Nil(v []byte) bool { return value.KindOf(v) == value.KindNil }

// Members calls read for each member of a map. nil has none.
func Members(v []byte, read func(name string, v []byte) error) error {
	if Nil(v) {
		return nil
	}
	if value.KindOf(v) != value.KindMap {
		return wrong("an object")
	}
	var first error
	err := value.Each(v, func(key, val []byte) bool {
		name := string(key)
		first = In(name, read(name, val))
		return first == nil
	})
	if first != nil {
		return first
	}
	return err
}

// String decodes a text.
func String[T ~string](dst *T, v []byte) error {
	s, ok := value.String(v)
	if ok {
		*dst = T(s)
		return nil
	}
	return unlessNil(v, "a text")
}

// Bool decodes true or false.
func Bool[T ~bool](dst *T, v []byte) error {
	b, ok := value.Bool(v)
	if ok {
		*dst = T(b)
		return nil
	}
	return unlessNil(v, "true or false")
}

// Int decodes an integer that fits T.
func Int[T ~int | ~int8 | ~int16 | ~int32 | ~int64](dst *T, v []byte) error {
	n, ok := whole(v)
	if !ok {
		return unlessNil(v, "an integer")
	}
	if int64(T(n)) != n {
		return wrong("within the range of its type: " + strconv.FormatInt(n, 10))
	}
	*dst = T(n)
	return nil
}

// Uint decodes an integer that is not negative and fits T.
func Uint[T ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](dst *T, v []byte) error {
	n, ok := whole(v)
	if !ok {
		return unlessNil(v, "an integer")
	}
	if n < 0 || uint64(T(n)) != uint64(n) {
		return wrong("within the range of its type: " + strconv.FormatInt(n, 10))
	}
	*dst = T(n)
	return nil
}

// whole is the integer of a number without a fraction, which JSON may write as 1.0 or 1e3.
func whole(v []byte) (int64, bool) {
	if n, ok := value.Int(v); ok {
		return n, true
	}
	f, ok := value.Number(v)
	if !ok || f != math.Trunc(f) || math.Abs(f) > value.MaxInt {
		return 0, false
	}
	return int64(f), true
}

// Float decodes a number.
func Float[T ~float32 | ~float64](dst *T, v []byte) error {
	f, ok := value.Number(v)
	if ok {
		*dst = T(f)
		return nil
	}
	return unlessNil(v, "a number")
}

// Bytes decodes the base64 of bytes, and bytes as they are.
func Bytes[T ~[]byte](dst *T, v []byte) error {
	if b, ok := value.Bytes(v); ok {
		*dst = append(T(nil), b...)
		return nil
	}
	s, ok := value.String(v)
	if !ok {
		if Nil(v) {
			*dst = nil
			return nil
		}
		return wrong("a text in base64")
	}
	b, err := base64.StdEncoding.AppendDecode(nil, s)
	if err != nil {
		return &Error{Reason: "is not a text in base64: " + err.Error(), Err: err}
	}
	*dst = b
	return nil
}

// Text decodes a text by a type's own method.
func Text(dst encoding.TextUnmarshaler, v []byte) error {
	s, ok := value.String(v)
	if !ok {
		return unlessNil(v, "a text")
	}
	if err := dst.UnmarshalText(s); err != nil {
		return &Error{Reason: err.Error(), Err: err}
	}
	return nil
}

// JSON decodes anything, as the text of its JSON.
func JSON[T ~[]byte](dst *T, v []byte) error {
	text, err := value.AppendJSON(nil, v)
	*dst = text
	return err
}

// List decodes a list, each element by read.
func List[T any, L ~[]T](dst *L, v []byte, read func(*T, []byte) error) error {
	if Nil(v) {
		*dst = nil
		return nil
	}
	if value.KindOf(v) != value.KindList {
		return wrong("a list")
	}
	list := make(L, value.Len(v))
	var first error
	err := value.EachItem(v, func(i int, val []byte) bool {
		first = In("["+strconv.Itoa(i)+"]", read(&list[i], val))
		return first == nil
	})
	if first != nil {
		return first
	}
	*dst = list
	return err
}

// Map decodes a map, each value by read.
func Map[K ~string, T any, M ~map[K]T](dst *M, v []byte, read func(*T, []byte) error) error {
	if Nil(v) {
		*dst = nil
		return nil
	}
	m := make(M, value.Len(v))
	err := Members(v, func(name string, val []byte) error {
		var t T
		err := read(&t, val)
		m[K(name)] = t
		return err
	})
	if err == nil {
		*dst = m
	}
	return err
}

// Pointer decodes into a new T, or makes the pointer nil.
func Pointer[T any](dst **T, v []byte, read func(*T, []byte) error) error {
	if Nil(v) {
		*dst = nil
		return nil
	}
	t := new(T)
	if err := read(t, v); err != nil {
		return err
	}
	*dst = t
	return nil
}

// Any decodes a value of any kind: nil, bool, float64, string, []byte, []any or map[string]any.
func Any(dst *any, v []byte) error {
	switch value.KindOf(v) {
	case value.KindNil:
		*dst = nil
	case value.KindBool:
		b, _ := value.Bool(v)
		*dst = b
	case value.KindString:
		s, _ := value.String(v)
		*dst = string(s)
	case value.KindBytes:
		b, _ := value.Bytes(v)
		*dst = append([]byte(nil), b...)
	case value.KindList:
		var list []any
		if err := List(&list, v, Any); err != nil {
			return err
		}
		*dst = list
	case value.KindMap:
		var m map[string]any
		if err := Map(&m, v, Any); err != nil {
			return err
		}
		*dst = m
	default:
		f, ok := value.Number(v)
		if !ok {
			return wrong("a value")
		}
		*dst = f
	}
	return nil
}

// unlessNil is the error of a value of another kind. nil changes nothing.
func unlessNil(v []byte, what string) error {
	if Nil(v) {
		return nil
	}
	return wrong(what)
}

// Unmarshal decodes the JSON of any value by a type's own method.
func Unmarshal(dst interface{ UnmarshalJSON(text []byte) error }, v []byte) error {
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		return err
	}
	if err := dst.UnmarshalJSON(text); err != nil {
		return &Error{Reason: err.Error(), Err: err}
	}
	return nil
}

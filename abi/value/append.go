// Package value encodes and decodes the values of Go hosts: what user code hands in and gets, in the one encoding that
// SPEC.md gives under "Values". The module does not link it.
package value

import (
	"encoding"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/abi"
)

// Error says which part of a value cannot be encoded, and why.
type Error struct {
	Field  string // like "args.items[3].id"
	Reason string
}

// Error returns the message of the error, whose code is CodeInvalidValue.
func (e *Error) Error() string { return e.Field + ": " + e.Reason }

// Append encodes a value behind dst, in the one encoding that SPEC.md gives it under "Values". It takes nil, truth
// values, numbers, strings, []byte, time.Time (as ms since the Unix epoch), slices, [Map], maps with string keys
// (sorted by key) and pointers to such; a json.RawMessage, a json.Marshaler, an encoding.TextMarshaler and a
// struct are taken for what their JSON text says; a struct without exported fields says nothing and is refused. field names the value in errors, which are of type [*Error]; dst is then returned as it was.
func Append(dst []byte, v any, field string) ([]byte, error) {
	e := valueEncoder{dst: dst, path: []string{field}}
	e.value(v, 0)
	if e.err != nil {
		return dst, e.err
	}
	return e.dst, nil
}

type valueEncoder struct {
	dst  []byte
	path []string
	err  *Error
}

// fail keeps the first error.
func (e *valueEncoder) fail(reason string) {
	if e.err == nil {
		e.err = &Error{strings.Join(e.path, ""), reason}
	}
}

func (e *valueEncoder) value(v any, depth int) {
	if e.err != nil {
		return
	}
	switch v := v.(type) {
	case nil:
		e.dst = append(e.dst, 0xc0)
	case bool:
		e.bool(v)
	case string:
		e.string(v)
	case int:
		e.int(int64(v))
	case int64:
		e.int(v)
	case float64:
		e.float(v)
	case []byte:
		e.bytes(v)
	case time.Time:
		e.int(v.UnixMilli())
	case []any:
		if e.list(len(v), depth) {
			for i := range v {
				e.element("["+strconv.Itoa(i)+"]", v[i], depth)
			}
		}
	case Map:
		e.members(v, depth)
	case map[string]any:
		e.members(sorted(v), depth)
	case json.Number:
		e.number(v)
	case json.RawMessage:
		e.json(v, depth)
	case json.Marshaler, encoding.TextMarshaler:
		e.marshal(v, depth)
	default:
		e.reflect(reflect.ValueOf(v), depth)
	}
}

func (e *valueEncoder) bool(b bool) {
	if b {
		e.dst = append(e.dst, 0xc3)
	} else {
		e.dst = append(e.dst, 0xc2)
	}
}

func (e *valueEncoder) int(n int64) {
	b := e.dst
	switch {
	case n > abi.MaxInt || n < -abi.MaxInt:
		e.fail("integer " + strconv.FormatInt(n, 10) + " is beyond 2^53-1")
	case n >= -32 && n < 128:
		b = append(b, byte(n))
	case n >= 0 && n < 1<<8:
		b = append(b, 0xcc, byte(n))
	case n >= 0 && n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(n))
	case n >= 0 && n < 1<<32:
		b = binary.BigEndian.AppendUint32(append(b, 0xce), uint32(n))
	case n >= 0:
		b = binary.BigEndian.AppendUint64(append(b, 0xcf), uint64(n))
	case n >= math.MinInt8:
		b = append(b, 0xd0, byte(n))
	case n >= math.MinInt16:
		b = binary.BigEndian.AppendUint16(append(b, 0xd1), uint16(n))
	case n >= math.MinInt32:
		b = binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(n))
	}
	e.dst = b
}

func (e *valueEncoder) float(f float64) {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		e.fail(strconv.FormatFloat(f, 'g', -1, 64) + " has no encoding")
	case f >= -abi.MaxInt && f <= abi.MaxInt && f == math.Trunc(f):
		e.int(int64(f))
	default:
		e.dst = binary.BigEndian.AppendUint64(append(e.dst, 0xcb), math.Float64bits(f))
	}
}

// number encodes a number in text as ECMAScript would read it.
func (e *valueEncoder) number(n json.Number) {
	f, err := n.Float64()
	if err != nil {
		e.fail("the number " + n.String() + " has no encoding")
		return
	}
	e.float(f)
}

func (e *valueEncoder) string(s string) {
	s = abi.UTF8(s)
	if n := len(s); n < 32 {
		e.dst = append(e.dst, 0xa0|byte(n))
	} else {
		e.head(0xd9, n)
	}
	e.dst = append(e.dst, s...)
}

func (e *valueEncoder) bytes(b []byte) {
	if b == nil {
		e.dst = append(e.dst, 0xc0)
		return
	}
	e.head(0xc4, len(b))
	e.dst = append(e.dst, b...)
}

// head appends the shortest head of a string (0xd9) or byte string (0xc4).
func (e *valueEncoder) head(first byte, n int) {
	switch {
	case n > abi.MaxFrame:
		e.fail(strconv.Itoa(n) + " bytes are more than a frame holds")
	case n < 1<<8:
		e.dst = append(e.dst, first, byte(n))
	case n < 1<<16:
		e.dst = binary.BigEndian.AppendUint16(append(e.dst, first+1), uint16(n))
	default:
		e.dst = binary.BigEndian.AppendUint32(append(e.dst, first+2), uint32(n))
	}
}

// list starts a list and tells whether its elements may follow.
func (e *valueEncoder) list(n, depth int) bool { return e.container(0x90, 0xdc, n, depth) }

func (e *valueEncoder) container(small, wide byte, n, depth int) bool {
	switch {
	case depth >= abi.MaxValueDepth:
		e.path = e.path[:1]
		e.fail("the value is nested deeper than " + strconv.Itoa(abi.MaxValueDepth) + " levels")
		return false
	case n > abi.MaxArray:
		e.fail(strconv.Itoa(n) + " elements are more than " + strconv.Itoa(abi.MaxArray))
		return false
	case n < 16:
		e.dst = append(e.dst, small|byte(n))
	default:
		e.dst = binary.BigEndian.AppendUint16(append(e.dst, wide), uint16(n))
	}
	return true
}

// element encodes a part of the value, one level down.
func (e *valueEncoder) element(step string, v any, depth int) {
	if e.err != nil {
		return
	}
	e.path = append(e.path, step)
	e.value(v, depth+1)
	if e.err == nil {
		e.path = e.path[:len(e.path)-1]
	}
}

func (e *valueEncoder) members(m Map, depth int) {
	m = m.ordered()
	if !e.container(0x80, 0xde, len(m), depth) {
		return
	}
	for i := range m {
		e.string(m[i].Key)
		e.element(pathStep(m[i].Key), m[i].Value, depth)
	}
}

var plainKey = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// pathStep is how a member is named in errors.
func pathStep(key string) string {
	switch {
	case key == "":
		return ""
	case plainKey.MatchString(key):
		return "." + key
	}
	text, err := json.Marshal(key)
	if err != nil {
		return "[" + strconv.Quote(key) + "]"
	}
	return "[" + string(text) + "]"
}

// reflect encodes what is not one of the common types.
func (e *valueEncoder) reflect(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		e.bool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.int(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if v.Uint() > abi.MaxInt {
			e.fail("integer " + strconv.FormatUint(v.Uint(), 10) + " is beyond 2^53-1")
			return
		}
		e.int(int64(v.Uint()))
	case reflect.Float32, reflect.Float64:
		e.float(v.Float())
	case reflect.String:
		e.string(v.String())
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			e.dst = append(e.dst, 0xc0)
			return
		}
		// A chain of pointers can be a circle: each one counts as a level.
		if depth >= abi.MaxDepth {
			e.fail("the value contains itself")
			return
		}
		if elem := v.Elem(); elem.Kind() == reflect.Struct {
			e.value(elem.Interface(), depth)
		} else {
			e.value(elem.Interface(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		e.slice(v, depth)
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			e.fail("a " + v.Type().String() + " has keys that are not strings")
			return
		}
		if v.IsNil() {
			e.dst = append(e.dst, 0xc0)
			return
		}
		plain := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			plain[it.Key().String()] = it.Value().Interface()
		}
		e.members(sorted(plain), depth)
	case reflect.Struct:
		if isOpaque(v.Type()) {
			e.fail("a " + v.Type().String() + " cannot be encoded: it has no exported fields")
			return
		}
		e.marshal(v.Interface(), depth)
	default:
		e.fail("a " + v.Type().String() + " cannot be encoded")
	}
}

// isOpaque tells whether the JSON of a struct would say nothing of what is in it: it has fields, and none of
// them is exported.
func isOpaque(t reflect.Type) bool {
	if t.NumField() == 0 {
		return false
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() || f.Anonymous {
			return false
		}
	}
	return true
}

func (e *valueEncoder) slice(v reflect.Value, depth int) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		e.dst = append(e.dst, 0xc0)
		return
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		e.head(0xc4, v.Len())
		for i := range v.Len() {
			e.dst = append(e.dst, byte(v.Index(i).Uint()))
		}
		return
	}
	if e.list(v.Len(), depth) {
		for i := range v.Len() {
			e.element("["+strconv.Itoa(i)+"]", v.Index(i).Interface(), depth)
		}
	}
}

func (e *valueEncoder) marshal(v any, depth int) {
	text, err := json.Marshal(v)
	if err != nil {
		e.fail(fmt.Sprintf("a %T cannot be encoded: %v", v, err))
		return
	}
	e.json(text, depth)
}

// json encodes a JSON text; the members of its objects keep their order.
func (e *valueEncoder) json(text []byte, depth int) {
	v, err := ParseJSON(text)
	if err != nil {
		e.fail("not JSON: " + err.Error())
		return
	}
	e.value(v, depth)
}

// Package wire encodes the values of a Go host's user code, and decodes them into plain data. Package abi/value has the
// encoding, this package the Go types.
package wire

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

// Error says which part of a value cannot be encoded, and why.
type Error struct {
	Field  string // like "args.items[3].id"
	Reason string
	Size   int // of text or bytes that no frame holds; 0 for what is wrong for another reason
}

// Error returns the message of the error, whose code is CodeInvalidValue.
func (e *Error) Error() string { return e.Field + ": " + e.Reason }

// Append encodes a value behind dst, in the one encoding that SPEC.md gives it under "Values". It takes nil, truth
// values, numbers, strings, []byte, time.Time (as ms since the Unix epoch), slices, [Map], [Former], maps with string
// keys (sorted by key) and pointers to such; a json.RawMessage, a json.Marshaler, an encoding.TextMarshaler and a
// struct are taken for what their JSON text says; a struct without exported fields says nothing and is refused. field
// names the value in errors, which are of type [*Error]; dst is then returned as it was.
func Append(dst []byte, v any, field string) ([]byte, error) {
	e := encoders.Get().(*Encoder)
	e.dst, e.field = dst, field
	if dst == nil {
		e.dst = e.room[:0]
	}
	e.value(v, 0)
	out, err := e.dst, e.err
	room := e.room
	if dst == nil {
		if cap(out) <= mostRoom {
			room = out
		}
		out = bytes.Clone(out)
	}
	clear(e.path[:cap(e.path)])
	*e = Encoder{path: e.path[:0], room: room}
	encoders.Put(e)
	if err == nil {
		return out, nil
	}
	if err.Reason == errDepth.Error() {
		if at, found := cycle(v, field, nil); found {
			err = &Error{Field: at, Reason: errCycle}
		}
	}
	return dst, err
}

// encoders are used again, for the room of their paths and of values that are encoded behind nothing.
var encoders = sync.Pool{New: func() any { return new(Encoder) }}

// mostRoom is how much room for values is kept, in bytes.
const mostRoom = 64 << 10

// Map is a map whose members keep their order.
type Map []Member

// Member is one member of a Map.
type Member struct {
	Key   string
	Value any
}

// Encoder encodes a value. A [Former] writes its members to one.
type Encoder struct {
	dst   []byte
	field string
	path  []step // below the field
	room  []byte // for a value, which is then copied: it takes one allocation, however it has grown
	err   *Error

	// Of the map that a Former writes.
	depth, start, count int
	loose               bool // a key is not one of those that stand where they are written
	tree                *Map // takes the members in place of dst; nil for none
}

// step leads from a list or a map to one of its parts: the member of a key, or the element at a place.
type step struct {
	key   string
	place int // of an element; -1 for a member
}

// appendTo appends how errors name the step.
func (s *step) appendTo(path []byte) []byte {
	if s.place >= 0 {
		return append(strconv.AppendInt(append(path, '['), int64(s.place), 10), ']')
	}
	return append(path, pathStep(s.key)...)
}

// fail keeps the first error.
func (e *Encoder) fail(reason string) {
	if e.err != nil {
		return
	}
	at := []byte(e.field)
	for i := range e.path {
		at = e.path[i].appendTo(at)
	}
	e.err = &Error{Field: string(at), Reason: reason}
}

func (e *Encoder) value(v any, depth int) {
	if e.err != nil {
		return
	}
	switch v := v.(type) {
	case nil:
		e.dst = value.AppendNil(e.dst)
	case Former:
		e.former(v, depth)
	case bool:
		e.dst = value.AppendBool(e.dst, v)
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
				e.part(step{place: i}, v[i], depth)
			}
		}
	case Map:
		e.members(v, depth)
	case map[string]any:
		e.object(v, depth)
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

func (e *Encoder) int(n int64) {
	if n > abi.MaxInt || n < -abi.MaxInt {
		e.fail("integer " + strconv.FormatInt(n, 10) + " is beyond 2^53-1")
		return
	}
	e.dst = value.AppendInt(e.dst, n)
}

func (e *Encoder) float(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.fail(strings.Replace(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"), "Inf", "Infinity", 1) + " has no encoding")
		return
	}
	e.dst = value.AppendNumber(e.dst, f)
}

// number encodes a number in text as ECMAScript would read it.
func (e *Encoder) number(n json.Number) {
	f, err := n.Float64()
	if err != nil {
		e.fail("the number " + n.String() + " has no encoding")
		return
	}
	e.float(f)
}

func (e *Encoder) string(s string) {
	if e.holds(len(s)) {
		e.dst = value.AppendString(e.dst, s)
	}
}

func (e *Encoder) bytes(b []byte) {
	if b == nil {
		e.dst = value.AppendNil(e.dst)
	} else if e.holds(len(b)) {
		e.dst = value.AppendBytes(e.dst, b)
	}
}

// holds tells whether a frame holds so many bytes.
func (e *Encoder) holds(n int) bool {
	if n > abi.MaxFrame && e.err == nil {
		e.fail(strconv.Itoa(n) + " bytes are more than a frame holds")
		e.err.Size = n
	}
	return e.err == nil
}

// container tells whether a list or map of n elements may be at a depth.
func (e *Encoder) container(n, depth int) bool {
	if depth >= abi.MaxValueDepth {
		e.path = e.path[:0]
		e.fail(errDepth.Error())
	} else if n > abi.MaxArray {
		e.fail(strconv.Itoa(n) + " elements are more than " + strconv.Itoa(abi.MaxArray))
	}
	return e.err == nil
}

// list starts a list and tells whether its elements may follow.
func (e *Encoder) list(n, depth int) bool {
	e.dst = value.AppendListHeader(e.dst, n)
	return e.container(n, depth)
}

// part encodes a part of the value, one level down.
func (e *Encoder) part(at step, v any, depth int) {
	if e.err != nil {
		return
	}
	e.path = append(e.path, at)
	e.value(v, depth+1)
	if e.err == nil {
		e.path = e.path[:len(e.path)-1]
	}
}

func (e *Encoder) members(m Map, depth int) {
	if !e.container(len(m), depth) {
		return
	}
	start := len(e.dst)
	e.dst = value.AppendMapHeader(e.dst, len(m))
	for i := range m {
		e.string(m[i].Key)
		e.part(step{m[i].Key, -1}, m[i].Value, depth)
	}
	if e.err == nil {
		e.dst = value.OrderMap(e.dst, start)
	}
}

// object encodes a plain map. Most have few members, which need no allocation.
func (e *Encoder) object(m map[string]any, depth int) {
	var few [8]Member
	e.members(appendSorted(few[:0], m), depth)
}

// sorted returns the members of a plain map by their keys.
func sorted(m map[string]any) Map { return appendSorted(make(Map, 0, len(m)), m) }

func appendSorted(out Map, m map[string]any) Map {
	for key, v := range m {
		out = append(out, Member{key, v})
	}
	slices.SortFunc(out, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	return out
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
func (e *Encoder) reflect(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		e.dst = value.AppendBool(e.dst, v.Bool())
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
			e.dst = value.AppendNil(e.dst)
			return
		}
		// A chain of pointers can be a circle: each one counts as a level.
		if depth >= abi.MaxDepth {
			e.fail(errCycle)
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
			e.dst = value.AppendNil(e.dst)
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
	case reflect.Func:
		e.fail("a function cannot be encoded")
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

func (e *Encoder) slice(v reflect.Value, depth int) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		e.dst = value.AppendNil(e.dst)
		return
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		b := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(b), v)
		e.bytes(b)
		return
	}
	if e.list(v.Len(), depth) {
		for i := range v.Len() {
			e.part(step{place: i}, v.Index(i).Interface(), depth)
		}
	}
}

func (e *Encoder) marshal(v any, depth int) {
	text, err := json.Marshal(v)
	if err != nil {
		e.fail(fmt.Sprintf("a %T cannot be encoded: %v", v, err))
		return
	}
	e.json(text, depth)
}

// json encodes a JSON text; the members of its objects keep their order.
func (e *Encoder) json(text []byte, depth int) {
	out, err := appendJSONText(e.dst, text, depth)
	if err != nil {
		e.fail(err.Error())
		return
	}
	e.dst = out
}

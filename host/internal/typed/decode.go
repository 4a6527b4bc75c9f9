// Package typed ties Go types to values of the wire: it decodes values into Go's types by the rules of encoding/json,
// uses the codecs that types have for MessagePack, and describes types by JSON Schemas.
package typed

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/host/internal/wire"
)

// Error says which part of a value a Go type cannot hold, or which part of a type cannot be described, and why.
type Error struct {
	Field  string // like "items[3].id"; "" for the whole
	Reason string
	Err    error // what a method of the type failed with; nil for none
}

// Error returns the message of the error.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// Unwrap returns what a method of the type failed with.
func (e *Error) Unwrap() error { return e.Err }

func member(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// Decode stores an encoded value in what v points to, as json.Unmarshal stores the JSON text of the value.
func Decode(raw []byte, v any) error {
	text, err := wire.JSON(raw)
	if err != nil {
		return err
	}
	err = json.Unmarshal(text, v)
	var wrong *json.UnmarshalTypeError
	var invalid *json.InvalidUnmarshalError
	switch {
	case err == nil, errors.As(err, &invalid):
		return err
	case errors.As(err, &wrong):
		reason := fmt.Sprintf("a JSON %s does not fit %s", wrong.Value, wrong.Type)
		return &Error{cmp.Or(wrong.Field, culprit(text, v)), reason, err}
	}
	return &Error{culprit(text, v), err.Error(), err}
}

// culprit is the member of a JSON object that cannot be stored in what v points to: encoding/json does not say whose
// method failed. It is "" if there is no such member.
func culprit(text []byte, v any) string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(text, &members) // only an object has members
	for _, name := range slices.Sorted(maps.Keys(members)) {
		alone, err := json.Marshal(map[string]json.RawMessage{name: members[name]})
		if err == nil && json.Unmarshal(alone, reflect.New(reflect.TypeOf(v).Elem()).Interface()) != nil {
			return name
		}
	}
	return ""
}

// readNumber reads a number of any kind.
func readNumber(b []byte, kind msgp.Type) (f float64, rest []byte, ok bool) {
	switch kind {
	case msgp.IntType, msgp.UintType:
		n, rest, err := msgp.ReadInt64Bytes(b)
		return float64(n), rest, err == nil
	case msgp.Float64Type:
		f, rest, err := msgp.ReadFloat64Bytes(b)
		return f, rest, err == nil
	}
	return 0, b, false
}

// show is the value that b starts with, for messages.
func show(b []byte) string {
	if rest, err := msgp.Skip(b); err == nil {
		if text, err := wire.JSON(b[:len(b)-len(rest)]); err == nil && len(text) <= 64 {
			return string(text)
		}
	}
	return "the value"
}

var (
	unmarshalJSON = reflect.TypeFor[json.Unmarshaler]()
	unmarshalText = reflect.TypeFor[encoding.TextUnmarshaler]()
	marshalText   = reflect.TypeFor[encoding.TextMarshaler]()
	jsonNumber    = reflect.TypeFor[json.Number]()
)

// has tells whether a type, or a pointer to it, has the methods of an interface.
func has(t, methods reflect.Type) bool {
	return t.Implements(methods) || t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(methods)
}

// JSONName returns what encoding/json calls a field, and the options of its tag.
func JSONName(f reflect.StructField) (name, options string, skip bool) {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() {
		return "", "", true
	}
	name, options, _ = strings.Cut(tag, ",")
	if name == "" || strings.ContainsAny(name, "\"\\'`") {
		name = f.Name
	}
	return name, options, false
}

// isInt tells a float that is an integer to the wire.
func isInt(f float64) bool { return math.Trunc(f) == f && math.Abs(f) <= 1<<53-1 }

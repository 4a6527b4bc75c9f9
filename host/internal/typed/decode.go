// Package typed ties Go types to values of the wire: it decodes values into Go's types by the rules of encoding/json, uses
// the codecs that types have for MessagePack, and describes types by JSON Schemas.
package typed

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

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

// Decode stores an encoded value in what v points to, as json.Unmarshal stores the JSON text of the value. It reads the
// value itself; only types with an UnmarshalJSON, structs with embedded fields and the like are given JSON text.
func Decode(raw []byte, v any) error {
	to := reflect.ValueOf(v)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return &json.InvalidUnmarshalError{Type: reflect.TypeOf(v)}
	}
	rest, err := decode(raw, to.Elem(), "")
	if err == nil && len(rest) > 0 {
		err = &Error{Reason: "bytes follow the value"}
	}
	return err
}

// decode stores the value that b starts with, and returns what follows it.
func decode(b []byte, to reflect.Value, path string) (rest []byte, err error) {
	kind := msgp.NextType(b)
	how := planOf(to.Type())
	if how.text {
		if kind == msgp.StrType {
			return decodeText(b, to, path)
		}
		return decodeJSON(b, to, path)
	}
	if how.json {
		return decodeJSON(b, to, path)
	}
	if kind == msgp.NilType {
		switch to.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
			to.SetZero()
		}
		return msgp.ReadNilBytes(b)
	}
	switch to.Kind() {
	case reflect.Pointer:
		if to.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
		}
		return decode(b, to.Elem(), path)
	case reflect.Struct:
		if kind == msgp.MapType {
			return decodeStruct(b, to, how, path)
		}
	case reflect.Map:
		if kind == msgp.MapType {
			return decodeMap(b, to, path)
		}
	case reflect.Slice:
		if kind == msgp.ArrayType {
			return decodeSlice(b, to, path)
		}
		if kind == msgp.BinType && to.Type().Elem().Kind() == reflect.Uint8 {
			data, rest, err := msgp.ReadBytesBytes(b, nil)
			if err == nil {
				to.SetBytes(data)
			}
			return rest, err
		}
		return decodeJSON(b, to, path) // base64
	case reflect.String:
		if kind == msgp.StrType {
			s, rest, err := msgp.ReadStringBytes(b)
			to.SetString(s)
			return rest, err
		}
	case reflect.Bool:
		if kind == msgp.BoolType {
			v, rest, err := msgp.ReadBoolBytes(b)
			to.SetBool(v)
			return rest, err
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if kind == msgp.IntType || kind == msgp.UintType {
			n, rest, err := msgp.ReadInt64Bytes(b)
			if err == nil && to.OverflowInt(n) {
				return nil, mismatch(b, to, path)
			}
			to.SetInt(n)
			return rest, err
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if kind == msgp.IntType || kind == msgp.UintType {
			n, rest, err := msgp.ReadInt64Bytes(b)
			if err == nil && (n < 0 || to.OverflowUint(uint64(n))) {
				return nil, mismatch(b, to, path)
			}
			to.SetUint(uint64(n))
			return rest, err
		}
	case reflect.Float32, reflect.Float64:
		f, rest, ok := readNumber(b, kind)
		if ok {
			if to.OverflowFloat(f) {
				return nil, mismatch(b, to, path)
			}
			to.SetFloat(f)
			return rest, nil
		}
	case reflect.Interface:
		return decodeJSON(b, to, path)
	}
	return nil, mismatch(b, to, path)
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

// mismatch says that the value that b starts with is not for a type.
func mismatch(b []byte, to reflect.Value, path string) error {
	return &Error{Field: path, Reason: show(b) + " does not fit " + to.Type().String()}
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

func decodeStruct(b []byte, to reflect.Value, how *plan, path string) ([]byte, error) {
	n, b, err := msgp.ReadMapHeaderBytes(b)
	for ; n > 0 && err == nil; n-- {
		var key []byte
		if key, b, err = msgp.ReadMapKeyZC(b); err != nil {
			break
		}
		f := how.field(key)
		if f == nil {
			b, err = msgp.Skip(b)
			continue
		}
		b, err = decode(b, to.Field(f.index), member(path, f.name))
	}
	return b, err
}

func decodeMap(b []byte, to reflect.Value, path string) ([]byte, error) {
	n, b, err := msgp.ReadMapHeaderBytes(b)
	if err != nil {
		return nil, err
	}
	t := to.Type()
	if to.IsNil() {
		to.Set(reflect.MakeMapWithSize(t, int(min(n, 1024))))
	}
	for ; n > 0; n-- {
		var key []byte
		if key, b, err = msgp.ReadMapKeyZC(b); err != nil {
			return nil, err
		}
		elem := reflect.New(t.Elem()).Elem()
		name := string(key)
		if b, err = decode(b, elem, member(path, name)); err != nil {
			return nil, err
		}
		to.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), elem)
	}
	return b, nil
}

func decodeSlice(b []byte, to reflect.Value, path string) ([]byte, error) {
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil {
		return nil, err
	}
	list := reflect.MakeSlice(to.Type(), 0, int(min(n, 1024)))
	for i := range int(n) {
		list = reflect.Append(list, reflect.Zero(to.Type().Elem()))
		if b, err = decode(b, list.Index(i), element(path, i)); err != nil {
			return nil, err
		}
	}
	to.Set(list)
	return b, nil
}

// decodeText gives a text to a type's UnmarshalText.
func decodeText(b []byte, to reflect.Value, path string) ([]byte, error) {
	text, rest, err := msgp.ReadStringZC(b)
	if err != nil {
		return nil, err
	}
	if err := to.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(text); err != nil {
		return nil, &Error{path, err.Error(), err}
	}
	return rest, nil
}

// decodeJSON gives a value to encoding/json as text.
func decodeJSON(b []byte, to reflect.Value, path string) ([]byte, error) {
	rest, err := msgp.Skip(b)
	if err != nil {
		return nil, err
	}
	text, err := wire.JSON(b[:len(b)-len(rest)])
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(text, to.Addr().Interface())
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return rest, nil
	case errors.As(err, &wrong):
		if wrong.Field != "" {
			path = member(path, wrong.Field)
		}
		return nil, &Error{path, fmt.Sprintf("a JSON %s does not fit %s", wrong.Value, wrong.Type), err}
	}
	return nil, &Error{path, err.Error(), err}
}

// plan is how values are decoded into a type.
type plan struct {
	json bool // as JSON text
	text bool // a text goes to its UnmarshalText
	// Of structs.
	fields map[string]*field // by name
	list   []*field
}

type field struct {
	name  string
	index int
}

// field finds a field as encoding/json does: by its name, or the first by one that differs in case.
func (p *plan) field(key []byte) *field {
	if f := p.fields[string(key)]; f != nil {
		return f
	}
	for _, f := range p.list {
		if bytes.EqualFold([]byte(f.name), key) {
			return f
		}
	}
	return nil
}

var plans sync.Map // of *plan by reflect.Type

var (
	unmarshalJSON = reflect.TypeFor[json.Unmarshaler]()
	unmarshalText = reflect.TypeFor[encoding.TextUnmarshaler]()
	marshalText   = reflect.TypeFor[encoding.TextMarshaler]()
	jsonNumber    = reflect.TypeFor[json.Number]()
)

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p, _ := plans.LoadOrStore(t, newPlan(t))
	return p.(*plan)
}

func newPlan(t reflect.Type) *plan {
	if t.Kind() == reflect.Pointer { // what it points to is asked
		return &plan{}
	}
	if has(t, unmarshalJSON) || t == jsonNumber {
		return &plan{json: true}
	}
	if has(t, unmarshalText) {
		return &plan{text: true}
	}
	switch t.Kind() {
	case reflect.Map:
		k := t.Key()
		return &plan{json: k.Kind() != reflect.String || has(k, unmarshalText)}
	case reflect.Array:
		return &plan{json: true}
	case reflect.Struct:
		return structPlan(t)
	}
	return &plan{}
}

// has tells whether a type, or a pointer to it, has the methods of an interface.
func has(t, methods reflect.Type) bool {
	return t.Implements(methods) || t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(methods)
}

func structPlan(t reflect.Type) *plan {
	p := &plan{fields: make(map[string]*field)}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, skip := jsonName(f)
		if f.Anonymous || strings.Contains(options, "string") {
			return &plan{json: true}
		}
		if skip {
			continue
		}
		if p.fields[name] != nil { // neither is encoding/json's
			return &plan{json: true}
		}
		p.fields[name] = &field{name, i}
		p.list = append(p.list, p.fields[name])
	}
	return p
}

// jsonName returns what encoding/json calls a field, and the options of its tag.
func jsonName(f reflect.StructField) (name, options string, skip bool) {
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

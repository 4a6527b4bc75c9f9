package typed

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/turncore/turncore/host/internal/wire"
)

// encodes are the methods of types that say themselves how they are encoded.
var encodes = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[wire.Former](),
	reflect.TypeFor[codecMethods](), reflect.TypeFor[time.Time](),
}

// Encodable tells what is wrong with a type of results: that a value of it has no encoding, or has one only as long as
// a part of it is empty. Interfaces may hold what has one.
func Encodable(t reflect.Type) error {
	return (&results{seen: make(map[place]bool)}).visit(t, "", false)
}

// results finds the types that cannot be encoded.
type results struct{ seen map[place]bool }

// place is a type, as a part of a struct or not: the parts of structs are encoded by encoding/json.
type place struct {
	t    reflect.Type
	part bool
}

func (r *results) visit(t reflect.Type, path string, part bool) error {
	if r.seen[place{t, part}] {
		return nil
	}
	r.seen[place{t, part}] = true
	if slices.ContainsFunc(encodes, func(methods reflect.Type) bool {
		return t == methods || methods.Kind() == reflect.Interface && has(t, methods)
	}) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return r.visit(t.Elem(), path, part)
	case reflect.Slice, reflect.Array:
		return r.visit(t.Elem(), path+"[]", part)
	case reflect.Map:
		if k := t.Key(); k.Kind() != reflect.String && (!part || !keyOfJSON(k)) {
			return &Error{Field: path, Reason: t.String() + " has keys that are no strings"}
		}
		return r.visit(t.Elem(), member(path, "*"), part)
	case reflect.Struct:
		return r.fields(t, path)
	case reflect.Func, reflect.Chan, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return &Error{Field: path, Reason: "a " + t.String() + " cannot be encoded"}
	}
	return nil
}

func (r *results) fields(t reflect.Type, path string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, skip := JSONName(f)
		at := member(path, name)
		if tagged, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.Anonymous && tagged == "" {
			skip, at = !f.IsExported() && f.Type.Kind() != reflect.Struct, path
		}
		if skip {
			continue
		}
		if err := r.visit(f.Type, at, true); err != nil {
			return err
		}
	}
	return nil
}

// keyOfJSON tells whether encoding/json writes the keys of a kind.
func keyOfJSON(k reflect.Type) bool {
	return k.Kind() >= reflect.Int && k.Kind() <= reflect.Uintptr || k.Implements(marshalText)
}

package typed

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/wire"
)

// Codec encodes and decodes values of a type by the methods that the type has for MessagePack.
type Codec struct {
	of    reflect.Type // what its fields are of, without pointers
	shape *shape
}

// codecMethods are what the types of tinylib/msgp have.
type codecMethods interface {
	msgp.Marshaler
	msgp.Unmarshaler
}

// CodecOf returns the codec of a type, nil if it has no methods of its own for MessagePack. It fails if what they write
// is not what encoding/json writes: other names, above all, for the schema and the model know those of JSON.
func CodecOf(t reflect.Type) (*Codec, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Interface || !has(t, reflect.TypeFor[codecMethods]()) {
		return nil, nil
	}
	c := &Codec{of: t, shape: shapeOf(t, make(map[reflect.Type]*shape))}
	err := c.check(true)
	if _, unfit := err.(*Error); err != nil && !unfit {
		err = c.check(false)
	}
	if err != nil {
		if _, unfit := err.(*Error); !unfit {
			err = &Error{Reason: err.Error(), Err: err}
		}
		return nil, err
	}
	return c, nil
}

// Encode appends v, a value of the type or a pointer to one, in the one encoding that values have on the wire.
func (c *Codec) Encode(dst []byte, v any) ([]byte, error) {
	m, ok := v.(msgp.Marshaler)
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
		return value.AppendNil(dst), nil
	}
	if !ok {
		p := reflect.New(reflect.TypeOf(v))
		p.Elem().Set(reflect.ValueOf(v))
		m = p.Interface().(msgp.Marshaler)
	}
	written, err := m.MarshalMsg(nil)
	if err != nil {
		return dst, err
	}
	out, rest, err := canonical(dst, written, c.shape)
	if err == nil && len(rest) > 0 {
		err = &Error{Reason: "bytes follow the value that MarshalMsg wrote"}
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Decode stores an encoded value in what v points to.
func (c *Codec) Decode(raw []byte, v any) error {
	m, ok := v.(msgp.Unmarshaler)
	if !ok { // a pointer to a pointer
		p := reflect.ValueOf(v).Elem()
		p.Set(reflect.New(p.Type().Elem()))
		return c.Decode(raw, p.Interface())
	}
	var rest []byte
	var err error
	adapted := c.shape.adapts()
	if !adapted {
		rest, err = m.UnmarshalMsg(raw)
	}
	if adapted || err != nil { // which may be because of a null
		if raw, _, err = adapt(nil, raw, c.shape); err != nil {
			return err
		}
		reflect.ValueOf(v).Elem().SetZero()
		rest, err = m.UnmarshalMsg(raw)
	}
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes were left unread", len(rest))
	}
	if err != nil {
		reason, at, _ := strings.Cut(err.Error(), " at ")
		return &Error{strings.ReplaceAll(at, "/", "."), reason, err}
	}
	return nil
}

// shape is what matters of a type where MessagePack and the wire differ.
type shape struct {
	kind   shapeKind
	fields map[string]*shape // of a struct, by JSON name
	elem   *shape            // of a list or map
	self   bool              // adapts, or one of its parts does; known after a first look
	looked bool
}

type shapeKind uint8

const (
	plainShape shapeKind = iota
	structShape
	listShape
	mapShape
	float64Shape
	float32Shape
	bytesShape
	timeShape
)

func shapeOf(t reflect.Type, seen map[reflect.Type]*shape) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s := seen[t]; s != nil {
		return s
	}
	s := &shape{}
	seen[t] = s
	switch {
	case t == reflect.TypeFor[time.Time]():
		s.kind = timeShape
	case t.Kind() == reflect.Float64:
		s.kind = float64Shape
	case t.Kind() == reflect.Float32:
		s.kind = float32Shape
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		s.kind = bytesShape
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		s.kind, s.elem = listShape, shapeOf(t.Elem(), seen)
	case t.Kind() == reflect.Map:
		s.kind, s.elem = mapShape, shapeOf(t.Elem(), seen)
	case t.Kind() == reflect.Struct:
		s.kind, s.fields = structShape, make(map[string]*shape)
		for _, f := range reflect.VisibleFields(t) {
			if name, _, skip := JSONName(f); !skip && !f.Anonymous {
				s.fields[name] = shapeOf(f.Type, seen)
			}
		}
	}
	return s
}

// adapts tells whether values of the shape are other bytes to an UnmarshalMsg than they are on the wire.
func (s *shape) adapts() bool {
	if s == nil || s.looked {
		return s != nil && s.self
	}
	s.looked = true
	s.self = s.kind >= float64Shape || s.elem.adapts()
	for _, f := range s.fields {
		s.self = f.adapts() || s.self
	}
	return s.self
}

// part is the shape of a member.
func (s *shape) part(name []byte) *shape {
	switch {
	case s == nil:
		return nil
	case s.kind == structShape:
		return s.fields[string(name)]
	}
	return s.elem
}

// canonical appends a value that an MarshalMsg wrote as the wire has it: numbers in their shortest form, members of
// structs as they come, other members sorted by their keys, of equal keys the last.
func canonical(dst, b []byte, s *shape) (out, rest []byte, err error) {
	switch kind := msgp.NextType(b); kind {
	case msgp.NilType:
		rest, err = msgp.ReadNilBytes(b)
		return value.AppendNil(dst), rest, err
	case msgp.BoolType:
		v, rest, err := msgp.ReadBoolBytes(b)
		return value.AppendBool(dst, v), rest, err
	case msgp.IntType:
		n, rest, err := msgp.ReadInt64Bytes(b)
		if err == nil && (n > maxInt || n < -maxInt) {
			err = &Error{Reason: fmt.Sprintf("integer %d is beyond 2^53-1", n)}
		}
		return value.AppendInt(dst, n), rest, err
	case msgp.UintType:
		n, rest, err := msgp.ReadUint64Bytes(b)
		if err == nil && n > maxInt {
			err = &Error{Reason: fmt.Sprintf("integer %d is beyond 2^53-1", n)}
		}
		return value.AppendInt(dst, int64(n)), rest, err
	case msgp.Float32Type, msgp.Float64Type:
		f, rest, err := msgp.ReadFloat64Bytes(b)
		switch {
		case math.IsNaN(f) || math.IsInf(f, 0):
			return dst, rest, &Error{Reason: fmt.Sprintf("%v has no encoding", f)}
		case isInt(f):
			return value.AppendInt(dst, int64(f)), rest, err
		}
		return value.AppendFloat(dst, f), rest, err
	case msgp.StrType:
		text, rest, err := msgp.ReadStringZC(b)
		return value.AppendString(dst, string(text)), rest, err
	case msgp.BinType:
		data, rest, err := msgp.ReadBytesZC(b)
		return msgp.AppendBytes(dst, data), rest, err
	case msgp.ArrayType:
		return canonicalList(dst, b, s)
	case msgp.MapType:
		return canonicalMap(dst, b, s)
	case msgp.TimeType:
		at, rest, err := msgp.ReadTimeUTCBytes(b)
		return value.AppendString(dst, at.Format(time.RFC3339Nano)), rest, err
	default:
		return dst, nil, &Error{Reason: "MessagePack of the kind " + kind.String() + " has no encoding"}
	}
}

// maxInt is the largest integer of the wire.
const maxInt = 1<<53 - 1

func canonicalList(dst, b []byte, s *shape) (out, rest []byte, err error) {
	n, rest, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil {
		return dst, nil, err
	}
	out = value.AppendListHeader(dst, int(n))
	for i := range int(n) {
		if out, rest, err = canonical(out, rest, s.part(nil)); err != nil {
			return dst, nil, within(element("", i), err)
		}
	}
	return out, rest, nil
}

func canonicalMap(dst, b []byte, s *shape) (out, rest []byte, err error) {
	n, rest, err := msgp.ReadMapHeaderBytes(b)
	if err != nil {
		return dst, nil, err
	}
	type entry struct {
		key   string
		value []byte
	}
	entries := make([]entry, 0, min(n, 1024))
	places := make(map[string]int, min(n, 1024))
	for range n {
		key, after, err := msgp.ReadMapKeyZC(rest)
		if err != nil {
			return dst, nil, err
		}
		e := entry{key: string(key)}
		if e.value, rest, err = canonical(nil, after, s.part(key)); err != nil {
			return dst, nil, within(e.key, err)
		}
		if place, again := places[e.key]; again {
			entries[place] = e
			continue
		}
		places[e.key] = len(entries)
		entries = append(entries, e)
	}
	if s == nil || s.kind != structShape {
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	}
	out = value.AppendMapHeader(dst, len(entries))
	for _, e := range entries {
		out = append(value.AppendString(out, e.key), e.value...)
	}
	return value.OrderMap(out, len(dst)), rest, nil
}

// within puts a step in front of the path of an error.
func within(step string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return &Error{step, err.Error(), err}
	}
	path := step
	switch {
	case strings.HasPrefix(e.Field, "["):
		path += e.Field
	case e.Field != "":
		path = member(step, e.Field)
	}
	return &Error{path, e.Reason, e.Err}
}

// adapt appends a value of the wire as the UnmarshalMsg of a type wants it. A field that is null is left out, which is
// the same to encoding/json.
func adapt(dst, b []byte, s *shape) (out, rest []byte, err error) {
	kind := msgp.NextType(b)
	if s == nil {
		s = &shape{}
	}
	switch s.kind {
	case float64Shape, float32Shape:
		f, rest, ok := readNumber(b, kind)
		switch {
		case !ok:
			return dst, nil, misfit(b, "a number")
		case s.kind == float32Shape:
			return msgp.AppendFloat32(dst, float32(f)), rest, nil
		default:
			return msgp.AppendFloat64(dst, f), rest, nil
		}
	case bytesShape:
		if kind == msgp.BinType {
			break
		}
		if kind != msgp.StrType {
			return dst, nil, misfit(b, "base64")
		}
		text, rest, err := msgp.ReadStringZC(b)
		if err != nil {
			return dst, nil, err
		}
		data, err := base64.StdEncoding.AppendDecode(nil, text)
		if err != nil {
			return dst, nil, &Error{Reason: "is not base64", Err: err}
		}
		return msgp.AppendBytes(dst, data), rest, nil
	case timeShape:
		if kind != msgp.StrType {
			return dst, nil, misfit(b, "a time")
		}
		text, rest, err := msgp.ReadStringZC(b)
		if err != nil {
			return dst, nil, err
		}
		var at time.Time
		if err := at.UnmarshalText(text); err != nil {
			return dst, nil, &Error{Reason: err.Error(), Err: err}
		}
		return msgp.AppendTime(dst, at), rest, nil
	case listShape:
		if kind != msgp.ArrayType {
			break
		}
		n, rest, err := msgp.ReadArrayHeaderBytes(b)
		dst = msgp.AppendArrayHeader(dst, n)
		for i := 0; i < int(n) && err == nil; i++ {
			if dst, rest, err = adapt(dst, rest, s.elem); err != nil {
				err = within(element("", i), err)
			}
		}
		return dst, rest, err
	case structShape, mapShape:
		if kind != msgp.MapType {
			break
		}
		n, rest, err := msgp.ReadMapHeaderBytes(b)
		var members []byte
		left := n
		for ; n > 0 && err == nil; n-- {
			var key []byte
			if key, rest, err = msgp.ReadMapKeyZC(rest); err != nil {
				break
			}
			if s.kind == structShape && msgp.IsNil(rest) {
				rest, err = msgp.ReadNilBytes(rest)
				left--
				continue
			}
			name := string(key)
			members = msgp.AppendString(members, name)
			if members, rest, err = adapt(members, rest, s.part(key)); err != nil {
				err = within(name, err)
			}
		}
		return append(msgp.AppendMapHeader(dst, left), members...), rest, err
	}
	rest, err = msgp.Skip(b) // plain, or of another type, as UnmarshalMsg says
	return append(dst, b[:len(b)-len(rest)]...), rest, err
}

func misfit(b []byte, want string) error {
	return &Error{Reason: show(b) + " is not " + want}
}

// check compares the codec with encoding/json, on a value with something in every field, or on the zero value. An
// *Error says how they differ; any other error, that the value cannot be encoded.
func (c *Codec) check(filled bool) error {
	v := reflect.New(c.of)
	if filled {
		fill(v.Elem(), 0)
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return err
	}
	wire, err := wire.FromJSON(nil, text)
	if err != nil {
		return err
	}
	written, err := v.Interface().(msgp.Marshaler).MarshalMsg(nil)
	if err != nil {
		return err
	}
	mine, _, err := canonical(nil, written, c.shape)
	if err != nil {
		return err
	}
	if path, reason := difference(wire, mine); reason != "" {
		return &Error{Field: path, Reason: reason}
	}
	read := reflect.New(c.of)
	if err := c.Decode(wire, read.Interface()); err != nil {
		return &Error{Reason: "its UnmarshalMsg does not read what encoding/json writes: " + err.Error(), Err: err}
	}
	again, err := c.Encode(nil, read.Interface())
	if err != nil {
		return err
	}
	if path, reason := difference(wire, again); reason != "" {
		return &Error{Field: path, Reason: "its UnmarshalMsg does not read what encoding/json writes: " + reason}
	}
	return nil
}

// difference says how what MessagePack has differs from what JSON has.
func difference(wire, mine []byte) (path, reason string) {
	a, err := plain(wire)
	b, other := plain(mine)
	if err = errors.Join(err, other); err != nil {
		return "", err.Error()
	}
	return differ(a, b)
}

// plain is a value as encoding/json has it.
func plain(raw []byte) (v any, err error) {
	text, err := wire.JSON(raw)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	return v, err
}

func differ(a, b any) (path, reason string) {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return "", "encoding/json writes an object, its MarshalMsg something else"
		}
		const none = "none of them"
		if inJSON, inMsg := without(a, b), without(b, a); inJSON != "" || inMsg != "" {
			return "", "the names differ: JSON has " + cmp.Or(inJSON, none) + ", its MarshalMsg has " + cmp.Or(inMsg, none)
		}
		for _, name := range slices.Sorted(maps.Keys(a)) {
			if path, reason = differ(a[name], b[name]); reason != "" {
				if path == "" || path[0] == '[' {
					return name + path, reason
				}
				return name + "." + path, reason
			}
		}
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return "", "encoding/json writes a list, its MarshalMsg something else"
		}
		for i := range a {
			if path, reason = differ(a[i], b[i]); reason != "" {
				if path != "" && path[0] != '[' {
					path = "." + path
				}
				return element("", i) + path, reason
			}
		}
	default:
		if !reflect.DeepEqual(a, b) {
			return "", fmt.Sprintf("encoding/json writes %v, its MarshalMsg %v", a, b)
		}
	}
	return "", ""
}

// without are the names in one object that are not in the other.
func without(a, b map[string]any) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if _, in := b[name]; !in {
			names = append(names, `"`+name+`"`)
		}
	}
	return strings.Join(names, ", ")
}

// deepest is how many levels of a type are filled.
const deepest = 6

// fill puts something into every field.
func fill(v reflect.Value, depth int) {
	if depth > deepest {
		return
	}
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.UnixMilli(1).UTC()))
		return
	case jsonNumber:
		v.SetString("1")
		return
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`"x"`))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	case reflect.String:
		v.SetString("x")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(elem, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, elem)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(f, depth+1)
			}
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf("x"))
		}
	}
}

package toolgen

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

var (
	unmarshalText = reflect.TypeFor[encoding.TextUnmarshaler]()
	marshalText   = reflect.TypeFor[encoding.TextMarshaler]()
	unmarshalJSON = reflect.TypeFor[json.Unmarshaler]()
	marshalJSON   = reflect.TypeFor[json.Marshaler]()
	rawJSON       = reflect.TypeFor[json.RawMessage]()
	anything      = reflect.TypeFor[any]()
)

// has reports whether a type or a pointer to it has the methods of an interface.
func has(t, methods reflect.Type) bool {
	return t.Implements(methods) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(methods)
}

// typeName is a type as the file writes it.
func (g *generator) typeName(t reflect.Type) (string, error) {
	if t == anything {
		return "any", nil
	}
	if name := t.Name(); name != "" {
		switch {
		case strings.ContainsRune(name, '['):
			return "", fmt.Errorf("nothing can be generated for %s, a type with parameters", t)
		case t.PkgPath() == "" || t.PkgPath() == g.pkg:
			return name, nil
		case name[0] < 'A' || name[0] > 'Z':
			return "", fmt.Errorf("%s is not exported by its package", t)
		}
		return g.uses(t.PkgPath()) + "." + name, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		name, err := g.typeName(t.Elem())
		return "*" + name, err
	case reflect.Slice:
		name, err := g.typeName(t.Elem())
		return "[]" + name, err
	case reflect.Map:
		key, err := g.typeName(t.Key())
		if err != nil {
			return "", err
		}
		name, err := g.typeName(t.Elem())
		return "map[" + key + "]" + name, err
	}
	return "", fmt.Errorf("nothing can be generated for %s: give the type a name", t)
}

// basic returns the function of package codec for a type without parts, empty for others.
func basic(t reflect.Type) string {
	switch kind := t.Kind(); kind {
	case reflect.String:
		return "String"
	case reflect.Bool:
		return "Bool"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "Int"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "Uint"
	case reflect.Float32, reflect.Float64:
		return "Float"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "Bytes"
		}
	}
	return ""
}

// decode is the call that decodes v into what dst, an expression, points to.
func (g *generator) decode(t reflect.Type, dst, v string) (string, error) {
	codec := g.uses(codecPath)
	switch {
	case t == rawJSON:
		return fmt.Sprintf("%s.JSON(%s, %s)", codec, dst, v), nil
	case t == anything:
		return fmt.Sprintf("%s.Any(%s, %s)", codec, dst, v), nil
	case t.Kind() == reflect.Pointer:
	case has(t, unmarshalText):
		return fmt.Sprintf("%s.Text(%s, %s)", codec, dst, v), nil
	case has(t, unmarshalJSON):
		return fmt.Sprintf("%s.Unmarshal(%s, %s)", codec, dst, v), nil
	case basic(t) != "":
		return fmt.Sprintf("%s.%s(%s, %s)", codec, basic(t), dst, v), nil
	}
	switch t.Kind() {
	case reflect.Struct:
		if t.Name() == "" {
			return "", fmt.Errorf("nothing can be generated for %s: give the type a name", t)
		}
		return fmt.Sprintf("decode%s(%s, %s)", g.function(t), dst, v), nil
	case reflect.Slice, reflect.Map, reflect.Pointer:
		read, err := g.decoder(t.Elem())
		if err != nil {
			return "", err
		}
		name := map[reflect.Kind]string{reflect.Slice: "List", reflect.Map: "Map", reflect.Pointer: "Pointer"}[t.Kind()]
		return fmt.Sprintf("%s.%s(%s, %s, %s)", codec, name, dst, v, read), nil
	}
	return "", fmt.Errorf("nothing can be generated for %s", t)
}

// decoder is the function that decodes a type.
func (g *generator) decoder(t reflect.Type) (string, error) {
	call, err := g.decode(t, "z", "v")
	if err != nil {
		return "", err
	}
	name, err := g.typeName(t)
	if err != nil {
		return "", err
	}
	if function, ok := strings.CutSuffix(call, "(z, v)"); ok && strings.HasPrefix(function, "decode") || t == anything {
		return function, nil
	}
	return fmt.Sprintf("func(z *%s, v []byte) error { return %s }", name, call), nil
}

// encode is the call that appends z, an expression, to b, and whether it returns an error too.
func (g *generator) encode(t reflect.Type, z string) (call string, fails bool, err error) {
	codec, val := g.uses(codecPath), g.uses(valuePath)
	switch {
	case t == rawJSON:
		return fmt.Sprintf("%s.AppendJSON(b, %s)", codec, z), true, nil
	case t == anything:
		return fmt.Sprintf("%s.AppendAny(b, %s)", codec, z), true, nil
	case t.Kind() == reflect.Pointer:
	case has(t, marshalJSON) && !has(t, marshalText):
		return fmt.Sprintf("%s.Marshal(b, &%s)", codec, z), true, nil
	case has(t, marshalText):
		return fmt.Sprintf("%s.AppendText(b, &%s)", codec, z), true, nil
	}
	if t.Kind() != reflect.Pointer {
		switch basic(t) {
		case "String":
			return fmt.Sprintf("%s.AppendString(b, %s)", val, converted("string", t, z)), false, nil
		case "Bool":
			return fmt.Sprintf("%s.AppendBool(b, %s)", val, converted("bool", t, z)), false, nil
		case "Int", "Uint":
			return fmt.Sprintf("%s.AppendInt(b, %s)", val, converted("int64", t, z)), false, nil
		case "Float":
			return fmt.Sprintf("%s.AppendNumber(b, %s)", val, converted("float64", t, z)), false, nil
		case "Bytes":
			return fmt.Sprintf("%s.AppendBase64(b, %s)", codec, z), false, nil
		}
	}
	switch t.Kind() {
	case reflect.Struct:
		if t.Name() == "" {
			return "", false, fmt.Errorf("nothing can be generated for %s: give the type a name", t)
		}
		return fmt.Sprintf("append%s(b, &%s)", g.function(t), z), true, nil
	case reflect.Slice, reflect.Map, reflect.Pointer:
		put, err := g.encoder(t.Elem())
		if err != nil {
			return "", false, err
		}
		name := map[reflect.Kind]string{reflect.Slice: "List", reflect.Map: "Map", reflect.Pointer: "Pointer"}[t.Kind()]
		return fmt.Sprintf("%s.Append%s(b, %s, %s)", codec, name, z, put), true, nil
	}
	return "", false, fmt.Errorf("nothing can be generated for %s", t)
}

// encoder is the function that encodes a type.
func (g *generator) encoder(t reflect.Type) (string, error) {
	if t.Kind() == reflect.Struct && t.Name() != "" && !has(t, marshalJSON) && !has(t, marshalText) {
		return "append" + g.function(t), nil
	}
	call, fails, err := g.encode(t, "(*z)")
	if err != nil {
		return "", err
	}
	name, err := g.typeName(t)
	if err != nil {
		return "", err
	}
	call = strings.ReplaceAll(call, "&(*z)", "z")
	if !fails {
		call += ", nil"
	}
	return fmt.Sprintf("func(b []byte, z *%s) ([]byte, error) { return %s }", name, call), nil
}

package typed

import (
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Described is a type that says its JSON Schema itself: JSON text, or anything that marshals to it.
type Described interface{ JSONSchema() any }

var described = reflect.TypeFor[Described]()

// Schema describes a type that arguments are decoded into.
func Schema(t reflect.Type) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !has(t, described) && t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		return nil, &Error{Reason: t.String() + " is neither a struct nor a map: arguments are an object"}
	}
	d := describer{schemas: make(map[reflect.Type]*jsonschema.Schema)}
	if err := d.visit(t, ""); err != nil {
		return nil, err
	}
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: d.schemas})
	if err != nil {
		return nil, &Error{Reason: err.Error(), Err: err}
	}
	if err := annotate(t, schema, d.schemas, ""); err != nil {
		return nil, err
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, &Error{Reason: err.Error(), Err: err}
	}
	return text, nil
}

// describer finds the types that the library cannot describe, or not as encoding/json writes them.
type describer struct {
	schemas map[reflect.Type]*jsonschema.Schema
	inside  []reflect.Type
}

// written are types whose JSON is not what their kind says.
var written = map[reflect.Type]jsonschema.Schema{
	reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[json.Number]():     {Type: "number"},
	reflect.TypeFor[big.Int]():         {Type: "integer"},
}

func (d *describer) visit(t reflect.Type, path string) error {
	if t.Kind() == reflect.Pointer {
		return d.visit(t.Elem(), path)
	}
	if _, known := d.schemas[t]; known {
		return nil
	}
	own, err := d.own(t, path)
	if err != nil || own != nil {
		if own != nil {
			d.schemas[t] = own
		}
		return err
	}
	switch t.Kind() {
	case reflect.Struct:
		if slices.Contains(d.inside, t) {
			return &Error{Field: path, Reason: t.String() + " contains itself: give it a method JSONSchema() any"}
		}
		d.inside = append(d.inside, t)
		defer func() { d.inside = d.inside[:len(d.inside)-1] }()
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, skip := JSONName(f)
			if f.Anonymous && f.Tag.Get("json") != "-" {
				if tagged, _, _ := strings.Cut(f.Tag.Get("json"), ","); tagged != "" {
					return &Error{Field: member(path, tagged), Reason: "is the name of an embedded field: make it a field with a name"}
				}
				if err := d.visit(f.Type, path); err != nil {
					return err
				}
				continue
			}
			if skip {
				continue
			}
			if err := d.visit(f.Type, member(path, name)); err != nil {
				return err
			}
		}
	case reflect.Map:
		if k := t.Key(); k.Kind() != reflect.String && !(has(k, unmarshalText) && k.Implements(marshalText)) {
			return &Error{Field: path, Reason: t.String() + " has keys that are no strings"}
		}
		return d.visit(t.Elem(), member(path, "*"))
	case reflect.Slice, reflect.Array:
		return d.visit(t.Elem(), path+"[]")
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return &Error{Field: path, Reason: t.String() + " has methods: nothing can be decoded into it"}
		}
	case reflect.Func, reflect.Chan, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return &Error{Field: path, Reason: "nothing can be decoded into a " + t.String()}
	}
	return nil
}

// own is the schema of a type that has one whatever its kind; nil if its kind says it.
func (d *describer) own(t reflect.Type, path string) (*jsonschema.Schema, error) {
	if s, ok := written[t]; ok {
		return &s, nil
	}
	switch {
	case t.Kind() != reflect.Interface && has(t, described):
		given := reflect.New(t).Interface().(Described).JSONSchema()
		text, isText := given.(string)
		if raw, isRaw := given.(json.RawMessage); isRaw {
			text, isText = string(raw), true
		}
		if !isText {
			b, err := json.Marshal(given)
			if err != nil {
				return nil, &Error{path, t.String() + ".JSONSchema: " + err.Error(), err}
			}
			text = string(b)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return nil, &Error{path, t.String() + ".JSONSchema: " + err.Error(), err}
		}
		return &s, nil
	case has(t, unmarshalJSON):
		return nil, &Error{Field: path, Reason: t.String() + " has an UnmarshalJSON of its own: give it a method JSONSchema() any"}
	case has(t, unmarshalText):
		return &jsonschema.Schema{Type: "string"}, nil
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return &jsonschema.Schema{Types: []string{"null", "string"}, ContentEncoding: "base64"}, nil
	}
	return nil, nil
}

// annotate adds what the tags enum, default and json's string say of fields.
func annotate(t reflect.Type, s *jsonschema.Schema, own map[reflect.Type]*jsonschema.Schema, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if own[t] != nil || s == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Map:
		return annotate(t.Elem(), s.AdditionalProperties, own, member(path, "*"))
	case reflect.Slice, reflect.Array:
		return annotate(t.Elem(), s.Items, own, path+"[]")
	case reflect.Struct:
	default:
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, skip := JSONName(f)
		p := s.Properties[name]
		if skip || f.Anonymous || p == nil {
			continue
		}
		at := member(path, name)
		if err := annotate(f.Type, p, own, at); err != nil {
			return err
		}
		if slices.Contains(strings.Split(options, ","), "string") {
			p.Type, p.Types, p.Minimum, p.Maximum = "string", nil, nil, nil
		}
		if tag, ok := f.Tag.Lookup("enum"); ok {
			to, of := p, f.Type
			if p.Items != nil {
				to, of = p.Items, f.Type.Elem()
			}
			for _, word := range strings.Split(tag, ",") {
				v, err := constant(of, word)
				if err != nil {
					return &Error{at, "enum: " + err.Error(), err}
				}
				to.Enum = append(to.Enum, v)
			}
			if slices.Contains(to.Types, "null") {
				to.Enum = append(to.Enum, nil)
			}
		}
		if tag, ok := f.Tag.Lookup("default"); ok {
			v, err := constant(f.Type, tag)
			if err == nil {
				p.Default, err = json.Marshal(v)
			}
			if err != nil {
				return &Error{at, "default: " + err.Error(), err}
			}
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		}
	}
	return nil
}

// constant is a value of a type as a tag has it: a text as it is, anything else as JSON.
func constant(t reflect.Type, text string) (any, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.String || has(t, unmarshalText) {
		return text, nil
	}
	v := reflect.New(t)
	if err := json.Unmarshal([]byte(text), v.Interface()); err != nil {
		return nil, err
	}
	return v.Elem().Interface(), nil
}

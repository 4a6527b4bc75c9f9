package conformance

import (
	"encoding/json"
	"maps"
	"slices"
)

// fields reads the members of an argument and rejects unknown ones.
type fields struct {
	of   any
	left map[string]any
}

func fieldsOf(arg any) *fields {
	m, ok := arg.(map[string]any)
	if !ok {
		panic(malformed("%s is no object", appendValue(nil, arg)))
	}
	return &fields{arg, maps.Clone(m)}
}

func (f *fields) has(name string) bool {
	_, there := f.left[name]
	return there
}

func (f *fields) take(name string) (any, bool) {
	v, there := f.left[name]
	delete(f.left, name)
	return v, there
}

func (f *fields) any(name string) any {
	v, _ := f.take(name)
	return v
}

func (f *fields) str(name, fallback string) string {
	v, there := f.take(name)
	if !there {
		return fallback
	}
	return str(v)
}

func (f *fields) truth(name string) bool {
	v, _ := f.take(name)
	return v == true
}

func (f *fields) end() {
	if len(f.left) > 0 {
		panic(malformed("%s has members that mean nothing: %v", appendValue(nil, f.of), sortedKeys(f.left)))
	}
}

func str(v any) string {
	s, ok := v.(string)
	if !ok {
		panic(malformed("%s is no string", appendValue(nil, v)))
	}
	return s
}

func list(v any) []any {
	l, ok := v.([]any)
	if !ok {
		panic(malformed("%s is no list", appendValue(nil, v)))
	}
	return l
}

func strs(v any) []string {
	var all []string
	for _, item := range list(v) {
		all = append(all, str(item))
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// decode reads plain data into what a pointer points to.
func decode(v, into any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		panic(malformed("%v", err))
	}
}

func scriptOf(v any) (s Script) {
	decode(v, &s)
	return s
}

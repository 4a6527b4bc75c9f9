package codec

import (
	"encoding"
	"encoding/base64"
	"slices"

	"github.com/turncore/turncore/abi/value"
)

// AppendText appends the text that a type's own method makes.
func AppendText(b []byte, t encoding.TextMarshaler) ([]byte, error) {
	s, err := t.MarshalText()
	if err != nil {
		return b, &Error{Reason: err.Error(), Err: err}
	}
	return value.AppendText(b, s), nil
}

// AppendBase64 appends bytes as base64, nil as nil.
func AppendBase64(b, data []byte) []byte {
	if data == nil {
		return value.AppendNil(b)
	}
	return value.AppendString(b, base64.StdEncoding.EncodeToString(data))
}

// AppendJSON appends the value of a JSON text; nothing is nil.
func AppendJSON(b, text []byte) ([]byte, error) {
	if len(text) == 0 {
		return value.AppendNil(b), nil
	}
	out, err := value.FromJSON(b, text)
	if err != nil {
		return b, &Error{Reason: err.Error(), Err: err}
	}
	return out, nil
}

// AppendList appends a list, each element by put; nil is nil.
func AppendList[T any](b []byte, list []T, put func([]byte, *T) ([]byte, error)) ([]byte, error) {
	if list == nil {
		return value.AppendNil(b), nil
	}
	b = value.AppendListHeader(b, len(list))
	for i := range list {
		var err error
		if b, err = put(b, &list[i]); err != nil {
			return b, In("[]", err)
		}
	}
	return b, nil
}

// AppendMap appends a map in the order of the encoding, each value by put; nil is nil.
func AppendMap[K ~string, T any](b []byte, m map[K]T, put func([]byte, *T) ([]byte, error)) ([]byte, error) {
	if m == nil {
		return value.AppendNil(b), nil
	}
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	start := len(b)
	b = value.AppendMapHeader(b, len(m))
	for _, k := range keys {
		t := m[k]
		var err error
		if b, err = put(value.AppendString(b, string(k)), &t); err != nil {
			return b, In(string(k), err)
		}
	}
	return value.OrderMap(b, start), nil
}

// AppendPointer appends what a pointer points to; nil is nil.
func AppendPointer[T any](b []byte, p *T, put func([]byte, *T) ([]byte, error)) ([]byte, error) {
	if p == nil {
		return value.AppendNil(b), nil
	}
	return put(b, p)
}

// AppendAny appends what [Any] decodes, and integers.
func AppendAny(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return value.AppendNil(b), nil
	case bool:
		return value.AppendBool(b, v), nil
	case string:
		return value.AppendString(b, v), nil
	case []byte:
		return AppendBase64(b, v), nil
	case float64:
		return value.AppendNumber(b, v), nil
	case int:
		return value.AppendInt(b, int64(v)), nil
	case int64:
		return value.AppendInt(b, v), nil
	case []any:
		return AppendList(b, v, func(b []byte, v *any) ([]byte, error) { return AppendAny(b, *v) })
	case map[string]any:
		return AppendMap(b, v, func(b []byte, v *any) ([]byte, error) { return AppendAny(b, *v) })
	}
	return b, &Error{Reason: "is of a type that only the host can encode: use a struct, or those that decoding gives"}
}

// Marshal appends the value of the JSON that a type's own method makes.
func Marshal(b []byte, t interface{ MarshalJSON() ([]byte, error) }) ([]byte, error) {
	text, err := t.MarshalJSON()
	if err != nil {
		return b, &Error{Reason: err.Error(), Err: err}
	}
	return AppendJSON(b, text)
}

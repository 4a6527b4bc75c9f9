package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/turncore/turncore/abi"
)

type valueVector struct {
	Name, Hex, Only, Refused string
	Source                   json.RawMessage
}

// TestValueVectors writes and reads every vector.
func TestValueVectors(t *testing.T) {
	var vectors []valueVector
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "abi", "testdata", "values.json"))
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		want := expand(t, v.Hex)
		if v.Only == "read" && v.Refused != "" {
			if got, err := Read(want); err == nil {
				t.Errorf("%s: read as %v", v.Name, got)
			}
			continue
		}
		source := sourceValue(t, v.Source)
		if v.Only != "read" {
			got, err := Append([]byte{1}, source, "v")
			if v.Refused != "" {
				var e *Error
				if !errors.As(err, &e) || e.Field != v.Refused || len(got) != 1 {
					t.Errorf("%s: %v, %d bytes, want %s to be refused", v.Name, err, len(got), v.Refused)
				}
				continue
			}
			if err != nil || string(got[1:]) != string(want) {
				t.Errorf("%s: %x, %v, want %x", v.Name, got, err, want)
			}
		}
		if v.Only != "write" {
			value, err := Read(want)
			if err != nil {
				t.Errorf("%s: %v", v.Name, err)
				continue
			}
			again, err := Append(nil, value, "v")
			if written, _ := Append(nil, unordered(source), "v"); err != nil || string(again) != string(written) {
				t.Errorf("%s: read as %v, %v", v.Name, value, err)
			}
		}
	}
	t.Logf("%d vectors", len(vectors))
}

// expand reads the notation of the vectors.
func expand(t *testing.T, s string) []byte {
	var out []byte
	for part := range strings.FieldsSeq(s) {
		digits, times, _ := strings.Cut(part, "*")
		n, err := strconv.Atoi(times)
		if times == "" {
			n, err = 1, nil
		}
		raw, err2 := hex.DecodeString(digits)
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		for range n {
			out = append(out, raw...)
		}
	}
	return out
}

// sourceValue is the Go value that a vector's source stands for.
func sourceValue(t *testing.T, text json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := parseNext(dec)
	if err != nil {
		t.Fatal(err)
	}
	return untag(t, v)
}

// parseNext reads JSON text into what Append takes; the members of objects keep their order.
func parseNext(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Number:
		f, err := t.Float64()
		if n := int64(f); float64(n) == f && n <= abi.MaxInt && n >= -abi.MaxInt {
			return n, err
		}
		return f, err
	case json.Delim:
		list, m := []any{}, Map{}
		for dec.More() {
			v, err := parseNext(dec)
			if err == nil && t == '{' {
				member := Member{Key: v.(string)}
				member.Value, err = parseNext(dec)
				m = append(m, member)
			}
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		if t == '{' {
			return m, err
		}
		return list, err
	}
	return token, nil
}

// unordered is a value with Go's maps in the place of every Map, as Read returns it.
func unordered(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = unordered(v[i])
		}
		return list
	case Map:
		m := make(map[string]any, len(v))
		for _, e := range v {
			m[e.Key] = unordered(e.Value)
		}
		return m
	}
	return v
}

// get returns the value of a member.
func (m Map) get(key string) (any, bool) {
	for _, e := range m {
		if e.Key == key {
			return e.Value, true
		}
	}
	return nil, false
}

func untag(t *testing.T, v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = untag(t, v[i])
		}
	case Map:
		if tag, ok := v.get("$"); ok {
			if tag, ok := tag.(string); ok {
				return tagValue(t, tag, v)
			}
		}
		out := Map{}
		for _, m := range v {
			if x := untag(t, m.Value); x != (undefined{}) {
				out = append(out, Member{m.Key, x})
			}
		}
		return out
	}
	return v
}

// undefined is what Go has no value for: it is left out of maps and nil elsewhere.
type undefined struct{}

func (undefined) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

func tagValue(t *testing.T, tag string, v Map) any {
	get := func(key string) any {
		x, _ := v.get(key)
		return x
	}
	times := func(key string) int { return int(get(key).(int64)) }
	switch tag {
	case "undefined":
		return undefined{}
	case "number":
		f, err := strconv.ParseFloat(get("text").(string), 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	case "bigint":
		if n, err := strconv.ParseInt(get("text").(string), 10, 64); err == nil {
			return n
		}
		n, err := strconv.ParseUint(get("text").(string), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	case "time":
		return time.UnixMilli(get("ms").(int64))
	case "bytes":
		return append([]byte{}, expand(t, get("hex").(string))...)
	case "units":
		var units []uint16
		for _, u := range get("hex").([]any) {
			n, err := strconv.ParseUint(u.(string), 16, 16)
			if err != nil {
				t.Fatal(err)
			}
			units = append(units, uint16(n))
		}
		return string(utf16.Decode(units))
	case "repeat":
		return strings.Repeat(get("text").(string), times("times"))
	case "list":
		list := make([]any, times("times"))
		for i := range list {
			list[i] = get("of")
		}
		return list
	case "numbered":
		m := Map{}
		for i := range times("times") {
			m = append(m, Member{fmt.Sprint(get("prefix"), i), i})
		}
		return m
	case "map":
		m := Map{}
		for _, e := range get("entries").([]any) {
			m = append(m, Member{e.([]any)[0].(string), untag(t, e.([]any)[1])})
		}
		return m
	case "nest":
		var inner any
		for range times("levels") {
			if get("kind") == "map" {
				inner = Map{{"a", inner}}
			} else {
				inner = []any{inner}
			}
		}
		return inner
	case "function":
		return func() {}
	}
	t.Fatalf("unknown tag %s", tag)
	return nil
}

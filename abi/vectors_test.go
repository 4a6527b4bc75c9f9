package abi

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func readVectors(t testing.TB, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

type frameVector struct {
	Name, Type, Hex string
	Op              int
	Fields          json.RawMessage
}

// TestFrameVectors decodes and encodes every vector: the bytes stay the same, the fields are those in the JSON, and
// encoding the JSON's fields gives the bytes.
func TestFrameVectors(t *testing.T) {
	var vectors []frameVector
	readVectors(t, "frames.json", &vectors)
	seen := map[string]int{}
	for _, v := range vectors {
		seen[v.Type]++
		want, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		e := entryOf(t, v.Type)
		if int(e.op) != v.Op {
			t.Errorf("%s: op %d, want %d", v.Name, e.op, v.Op)
		}
		decoded, err := e.roundTrip(want)
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		fresh := reflect.New(e.typ)
		setFields(t, fresh.Elem(), v.Fields)
		for from, p := range map[string]reflect.Value{"the bytes": pointerTo(decoded), "the fields": fresh} {
			got := p.Interface().(interface{ Append(b []byte) []byte }).Append(nil)
			if hex.EncodeToString(got) != v.Hex {
				t.Errorf("%s: %s encode to\n%x, want\n%s", v.Name, from, got, v.Hex)
			}
		}
		if v.Op != 0 {
			if op, frame, rest, err := Next(want, Limits{}); err != nil || int(op) != v.Op || len(frame) != len(want) || len(rest) != 0 {
				t.Errorf("%s: Next gives op %d, %v", v.Name, op, err)
			}
		}
	}
	for _, e := range registry {
		if seen[e.name] < 2 {
			t.Errorf("%s has %d vectors", e.name, seen[e.name])
		}
	}
}

func entryOf(t *testing.T, name string) entry {
	for _, e := range registry {
		if e.name == name {
			return e
		}
	}
	t.Fatalf("no type %s", name)
	return entry{}
}

func pointerTo(v any) reflect.Value {
	p := reflect.New(reflect.TypeOf(v))
	p.Elem().Set(reflect.ValueOf(v))
	return p
}

// setFields fills a tuple from a vector's JSON.
func setFields(t *testing.T, v reflect.Value, text json.RawMessage) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	if len(fields) != v.NumField() {
		t.Fatalf("%s: %d fields", v.Type(), len(fields))
	}
	for name, text := range fields {
		f := v.FieldByNameFunc(func(s string) bool { return strings.EqualFold(s, name) })
		if !f.IsValid() {
			t.Fatalf("%s has no field %s", v.Type(), name)
		}
		field, _ := v.Type().FieldByNameFunc(func(s string) bool { return strings.EqualFold(s, name) })
		setField(t, f, field.Name, text)
	}
}

func setField(t *testing.T, f reflect.Value, name string, text json.RawMessage) {
	unquoted := func() []byte {
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	switch {
	case string(text) == "null":
	case f.Type() == reflect.TypeFor[Text]():
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		f.SetBytes([]byte(s))
	case f.Type() == reflect.TypeFor[Raw]() && (name == "Data" || name == "Block" || name == "Body"):
		f.SetBytes(Bytes(unquoted()))
	case f.Type() == reflect.TypeFor[Raw](), f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Uint8:
		f.SetBytes(unquoted())
	case f.Kind() == reflect.Struct:
		setFields(t, f, text)
	case f.Kind() == reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		setField(t, f.Elem(), name, text)
	case f.Kind() == reflect.Slice:
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		f.Set(reflect.MakeSlice(f.Type(), len(list), len(list)))
		for i := range list {
			setField(t, f.Index(i), name, list[i])
		}
	default:
		if err := json.Unmarshal(text, f.Addr().Interface()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFramesByHand pins some frames to bytes that were derived by hand.
func TestFramesByHand(t *testing.T) {
	for want, f := range map[string]Frame{
		"97010200" + "0f" + "96000000000000" + "920000" + "c402abcd": &Hello{Major: 2, Features: 15, Seed: []byte{0xab, 0xcd}},
		"930b0105":             &Tick{Turn: 1, Elapsed: 5},
		"97060102cd012c0106c0": &Call{Turn: 1, Call: 2, Elapsed: 300, Context: 1, Method: MethodAck},
		"95220102c0c0":         &Reply{Turn: 1, Call: 2},
		"932701cd03e8":         &Timer{Turn: 1, Due: 1000},
		"93250103":             &Cancel{Turn: 1, Effect: 3},
		"9528010002c0":         &End{Turn: 1, Iterations: 2},
		"9826010103" + "00" + "ccc8" + "00" + "c40101": &Sync{
			Turn: 1, Context: 1, Collection: CollectionMessages, Handle: 200, Data: Bytes([]byte{1}),
		},
	} {
		if got := hex.EncodeToString(Append(nil, f)); got != want {
			t.Errorf("%s %s: %s, want %s", reflect.TypeOf(f).Elem().Name(), mustJSON(f), got, want)
		}
	}
}

package wire

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/netip"
	"strings"
	"testing"
)

type settings struct {
	Zoom  int             `json:"zoom"`
	Alpha string          `json:"alpha"`
	Extra json.RawMessage `json:"extra,omitempty"`
}

// TestGoTypes encodes what the vectors cannot say.
func TestGoTypes(t *testing.T) {
	one := 1
	var none *int
	for _, tt := range []struct {
		name string
		v    any
		want string
	}{
		{"uint8", uint8(200), "\xcc\xc8"},
		{"named string", json.Delim('x').String(), "\xa1x"},
		{"float32", float32(0.5), "\xcb\x3f\xe0\x00\x00\x00\x00\x00\x00"},
		{"pointer", &one, "\x01"},
		{"nil pointer", none, "\xc0"},
		{"nil bytes", []byte(nil), "\xc0"},
		{"nil slice", []string(nil), "\xc0"},
		{"strings", []string{"a", "b"}, "\x92\xa1a\xa1b"},
		{"array", [2]int{1, 2}, "\x92\x01\x02"},
		{"byte array", [2]byte{1, 2}, "\xc4\x02\x01\x02"},
		{"plain map is sorted", map[string]int{"b": 1, "a": 2, "10": 3, "9": 4}, "\x84\xa19\x04\xa210\x03\xa1a\x02\xa1b\x01"},
		{"map of any", map[string]any{"b": nil, "a": true}, "\x82\xa1a\xc3\xa1b\xc0"},
		{"repeated member", Map{{"a", 1}, {"b", 2}, {"a", 3}}, "\x82\xa1a\x03\xa1b\x02"},
		{"struct in the order of its fields", settings{Zoom: 1, Alpha: "x"}, "\x82\xa4zoom\x01\xa5alpha\xa1x"},
		{"pointer to a struct", &settings{Extra: json.RawMessage(`{"z":1,"a":[1.0]}`)}, "\x83\xa4zoom\x00\xa5alpha\xa0\xa5extra\x82\xa1z\x01\xa1a\x91\x01"},
		{"JSON text", json.RawMessage(`[1e2, -0, "é"]`), "\x93d\x00\xa2é"},
		{"JSON number", json.Number("12"), "\x0c"},
		{"text of its own", []any{netip.AddrFrom4([4]byte{10, 0, 0, 1}), new(big.Float)}, "\x92\xa810.0.0.1\xa10"},
		{"empty struct", struct{}{}, "\x80"},
		{"text that is not UTF-8", "a\xffb", "\xa5a\xef\xbf\xbdb"},
	} {
		got, err := Append(nil, tt.v, "v")
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %x, %v, want %x", tt.name, got, err, tt.want)
		}
	}
}

type circle struct{}

func (c *circle) MarshalJSON() ([]byte, error) { return nil, errors.New("no") }

func TestRefusedGoTypes(t *testing.T) {
	var loop any
	loop = &loop
	for name, tt := range map[string]struct {
		v     any
		field string
	}{
		"channel":       {make(chan int), "v"},
		"complex":       {[]any{1i}, "v[0]"},
		"integer keys":  {Map{{"m", map[int]int{1: 1}}}, "v.m"},
		"uint64":        {map[string]uint64{"n": 1 << 53}, "v.n"},
		"struct fields": {struct{ C chan int }{}, "v"},
		"opaque":        {[]any{errors.New("x")}, "v[0]"},
		"marshaler":     {Map{{"a", &circle{}}}, "v.a"},
		"JSON text":     {Map{{"j", json.RawMessage(`{`)}}, "v.j"},
		"circle":        {loop, "v"},
	} {
		got, err := Append([]byte("kept"), tt.v, "v")
		var e *Error
		if !errors.As(err, &e) || e.Field != tt.field || string(got) != "kept" {
			t.Errorf("%s: %q, %v, want %s to be refused", name, got, err, tt.field)
		}
	}
}

// What names a part in errors costs nothing while there are none. A pool may be emptied meanwhile.
func TestAppendAllocations(t *testing.T) {
	var v any = Map{{"a", 1}, {"b c", []any{true, Map{{"d", "x"}}}}}
	room := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() { _, _ = Append(room, v, "v") }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func TestFromJSON(t *testing.T) {
	for _, text := range []string{
		"", "1 2", "{", "[1,]", `{"a":1,}`, "nope", strings.Repeat("[", 61) + strings.Repeat("]", 61), strings.Repeat("[", 1000),
		"[" + strings.Repeat("1,", 8192) + "1]",
	} {
		if got, err := FromJSON([]byte("x"), []byte(text)); err == nil || string(got) != "x" {
			t.Errorf("%.40q: %v, %.20q", text, err, got)
		}
	}
	for _, text := range []string{
		"[" + strings.TrimSuffix(strings.Repeat("1,", 8192), ",") + "]", strings.Repeat("[", 60) + strings.Repeat("]", 60), ` {"b": 1, "a": -0} `,
	} {
		want, err := Append(nil, json.RawMessage(text), "v")
		if err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
		if got, err := FromJSON([]byte("x"), []byte(text)); err != nil || string(got) != "x"+string(want) {
			t.Errorf("%.40q: %v, %.20q", text, err, got)
		}
		for _, within := range []any{Map{{"m", json.RawMessage(text)}}, []any{json.RawMessage(text)}} {
			_, err := Append(nil, within, "v")
			if fits := text[1] != '['; (err == nil) != fits {
				t.Errorf("%.40q one level down: %v", text, err)
			}
		}
	}
}

func TestJSON(t *testing.T) {
	for v, want := range map[string]string{"": "", "\xc0": "null", "\x82\xa1b\x01\xa1a\x91\xc4\x02hi": `{"b":1,"a":["aGk="]}`} {
		if text, err := JSON([]byte(v)); err != nil || string(text) != want {
			t.Errorf("%x: %s, %v, want %s", v, text, err, want)
		}
	}
	if text, err := JSON([]byte{0xc1}); err == nil {
		t.Errorf("a value that cannot be encoded: %s", text)
	}
	for v, want := range map[string]bool{"": true, "\xc0": true, "\x00": false, "\xc2": false, "\x80": false} {
		if got := IsNil([]byte(v)); got != want {
			t.Errorf("IsNil(%x): %v", v, got)
		}
	}
}

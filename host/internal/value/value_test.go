package value

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	general "github.com/turncore/turncore/abi/value"
)

// JSON text is encoded as the general codec encodes what it says.
func TestFromJSON(t *testing.T) {
	texts := []string{
		`null`, ` true `, `false`, `0`, `-1`, `-32`, `-33`, `127`, `128`, `-129`, `65535`, `-32769`, `4294967296`, `-2147483649`, `9007199254740991`,
		`9007199254740992`, `1.5`, `1e3`, `-0`, `1e21`, `""`, `"é\n\u0041\ud83d\ude00"`, `"\ud800"`, `[]`, `[1,[2,{"a":3}]]`, `{}`,
		`{"b":1,"a":{"x":[true,null]},"2":1,"1":2}`, `{"a":1,"b":2,"a":3}`, `{"a":1,"a":2,"a":3,"c":{"d":1,"d":2}}`,
		`[` + strings.TrimSuffix(strings.Repeat(`"x",`, 300), ",") + `]`, `"` + strings.Repeat("y", 70000) + `"`,
		`{` + strings.TrimSuffix(strings.Repeat(`"long key of a member":1,`, 1), ",") + `}`,
	}
	for _, text := range texts {
		got, err := FromJSON([]byte("x"), []byte(text))
		if err != nil {
			t.Errorf("%.40s: %v", text, err)
			continue
		}
		want, err := general.Append([]byte("x"), json.RawMessage(text), "v")
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%.40s: got %.80x, want %.80x", text, got, want)
		}
		if rest, err := Skip(got[1:]); err != nil || len(rest) != 0 {
			t.Errorf("%.40s: skip left %d bytes, %v", text, len(rest), err)
		}
	}
	for _, text := range []string{``, `{`, `[1,]`, `nul`, `1 2`, strings.Repeat("[", 61) + strings.Repeat("]", 61), `[` + strings.Repeat("1,", 8192) + `1]`} {
		if got, err := FromJSON([]byte("x"), []byte(text)); err == nil || string(got) != "x" {
			t.Errorf("%.40q: %v, %.20q", text, err, got)
		}
	}
}

// Every vector of the ABI survives the way through JSON text, bytes apart, which JSON does not have.
func TestVectors(t *testing.T) {
	var vectors []struct{ Name, Hex, Only, Refused string }
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "abi", "testdata", "values.json"))
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, v := range vectors {
		raw, err := hex.DecodeString(strings.ReplaceAll(v.Hex, " ", ""))
		if err != nil || v.Refused != "" || v.Only != "" || len(raw) == 0 {
			continue
		}
		text, err := AppendJSON(nil, raw)
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		if !json.Valid(text) {
			t.Errorf("%s: %s is no JSON", v.Name, text)
		}
		again, err := FromJSON(nil, text)
		if err != nil || string(again) != string(raw) && !strings.Contains(v.Name, "byte") && !holdsBytes(raw) {
			t.Errorf("%s: %s became %x, %v, want %x", v.Name, text, again, err, raw)
		}
		checked++
	}
	if checked < 50 {
		t.Errorf("%d of %d vectors checked", checked, len(vectors))
	}
}

// holdsBytes tells values with byte strings in them.
func holdsBytes(raw []byte) bool {
	v, err := general.Read(raw)
	if err != nil {
		return false
	}
	var holds func(v any) bool
	holds = func(v any) bool {
		switch v := v.(type) {
		case []byte:
			return true
		case []any:
			for _, e := range v {
				if holds(e) {
					return true
				}
			}
		case general.Map:
			for _, e := range v {
				if holds(e.Value) {
					return true
				}
			}
		}
		return false
	}
	return holds(v)
}

func TestJSONNumbers(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -1.5: "-1.5", 1e20: "100000000000000000000", 1e21: "1e+21", 1e-6: "0.000001",
		1e-7: "1e-7", 1.5e-10: "1.5e-10", 5e-324: "5e-324", math.MaxFloat64: "1.7976931348623157e+308", math.NaN(): "null", math.Inf(1): "null",
		9007199254740991: "9007199254740991", 123456.789: "123456.789",
	} {
		if got := string(AppendJSONNumber(nil, f)); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
}

func TestJSONStrings(t *testing.T) {
	const s = "\"\\\b\f\n\r\t\x01\x1f\u2028é😀</>"
	want := `"\"\\\b\f\n\r\t\u0001\u001f` + "\u2028é😀</>\""
	if got := string(AppendJSONString(nil, s)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Whatever bytes come out of a core, nothing here panics.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x82, 0xa1, 'a', 0x01, 0xa1, 'b', 0x92, 0xc4, 0x01, 0x00, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{0xdd, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, v []byte) {
		text, err := AppendJSON(nil, v)
		if err == nil && !json.Valid(text) {
			t.Errorf("%x became %s", v, text)
		}
		_, _ = Decode(v)
		_, _ = Member(v, "a")
		if rest, err := Skip(v); err == nil && len(rest) > len(v) {
			t.Error("skip went backwards")
		}
	})
}

// Members are sorted by the UTF-16 code units of their keys.
func TestAppendCanonical(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":[{"z":1,"a":null}],"a":-0.0}`:               `{"a":0,"b":[{"a":null,"z":1}]}`,
		`{"\ud83d\ude00":1,"\ufb01":2,"a":3,"":4,"a2":5}`: `{"":4,"a":3,"a2":5,"😀":1,"ﬁ":2}`,
		`{"\ud83d\ude00":1,"\ud83d\ude01":2,"\ud7ff":3}`:  "{\"\ud7ff\":3,\"😀\":1,\"😁\":2}",
		`[]`: `[]`, `"x"`: `"x"`, `1e21`: `1e+21`,
	} {
		v, err := FromJSON(nil, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := AppendCanonical([]byte(">"), v)
		if string(got) != ">"+want || err != nil {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, bad := range []string{"\x81\x01\x02", "\x81\xa1a", "\x92\x01", "\x01\x02", "\xc1"} {
		if got, err := AppendCanonical([]byte(">"), []byte(bad)); err == nil || string(got) != ">" {
			t.Errorf("%x: %s", bad, got)
		}
	}
}

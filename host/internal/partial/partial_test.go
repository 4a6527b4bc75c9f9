package partial

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/wire"
)

var texts = []string{
	`{}`, `[]`, `""`, `0`, `-1`, `12.50`, `1e5`, `-0.1E-12`, `true`, `false`, `null`, ` [ ] `, "\n{\n}\t\r",
	`{"a":1,"b":[1,2.5,-3e+7,0],"c":{"d":"x","e":true,"f":null},"g":""}`,
	`[true,false,null,[[]],[{}],{"a":[{"b":{}}]}]`,
	`{"key with \"quotes\" \u00e9 \\":"a\nb\t\/\b\f\r\"\\"}`,
	`{"é":"日本 Ünder 😀","":" "}`,
	`["\u00e9","\ud83d\ude00","\ud83d","\ud83dx","\ud83d\n","\ud83d\ud83d\ude00","\ude00","\ud83d\u0041\uD83D\uDE00"]`,
	`["{","[","\"",",",":","}"]`,
	` { "a" : [ 1 , "b" , { } ] , "c" : 12 } `,
	"[\"\xff\",\"\xc3\",\"\xe6\x97\",\"\xe6\x97a\"]",
}

var malformed = []string{
	``, ` `, `{`, `[1`, `[1,`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `"a`, `"\`, `"\u12`, `tru`, `-`, `1.`, `1e`, `1e+`, "\"\xe6",
	`}`, `]`, `,`, `:`, `[1}`, `{"a":1]`, `[,1]`, `[1,]`, `{,}`, `{"a":1,}`, `{a:1}`, `{"a" 1}`, `{1:2}`, `[1 2]`, `"\x"`, `"\u12g4"`, "\"\n\"", "\"a\x00\"",
	`01`, `-a`, `1.a`, `1ea`, `+1`, `.5`, `0x1`, `1.2.3`, `1e5e5`, `truE`, `nul `, `[truefalse]`, `1 2`, `{}{}`, `"a""b"`, `nan`, `'a'`, `//`, `"\ud83d\u12"`, `--1`, `1-`,
}

// read gives a reader a text in parts of n bytes.
func read(t *testing.T, text string, n int) *Reader {
	t.Helper()
	r := &Reader{}
	var before []byte
	for len(text) > 0 {
		part := []byte(text[:min(n, len(text))])
		text = text[len(part):]
		if r.Write(part) != nil {
			break
		}
		clear(part) // it keeps nothing of it
		now, _ := r.Value()
		if !bytes.HasPrefix(now, before) {
			t.Fatalf("what was %q is %q", before, now)
		}
		before = append(before[:0], now...)
	}
	return r
}

// within tells whether a value is the start of another one. Only what stands last may be less than what it will be.
func within(part, whole any, last bool) bool {
	switch whole := whole.(type) {
	case string:
		s, ok := part.(string)
		return ok && (s == whole || last && strings.HasPrefix(whole, s))
	case []any:
		list, ok := part.([]any)
		if !ok || len(list) > len(whole) || len(list) < len(whole) && !last {
			return false
		}
		for i := range list {
			if !within(list[i], whole[i], last && i == len(list)-1) {
				return false
			}
		}
		return true
	case map[string]any:
		object, ok := part.(map[string]any)
		if !ok || len(object) > len(whole) || len(object) < len(whole) && !last {
			return false
		}
		unequal := 0
		for key, v := range object {
			full, known := whole[key]
			if !known || !within(v, full, last) {
				return false
			}
			if !reflect.DeepEqual(v, full) {
				unequal++
			}
		}
		return unequal <= 1
	}
	return reflect.DeepEqual(part, whole)
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// At each place of each text, the value so far is JSON, and the start of the whole value.
func TestEachSplit(t *testing.T) {
	for _, text := range texts {
		whole := decode(t, []byte(text))
		for i := range len(text) + 1 {
			r := read(t, text[:i], len(text)+1)
			so := r.AppendValue(nil)
			if one := read(t, text[:i], 1).AppendValue(nil); !bytes.Equal(one, so) {
				t.Errorf("%q: %q byte by byte, %q at once", text[:i], one, so)
			}
			if r.Err() != nil {
				t.Errorf("%q: %v", text[:i], r.Err())
			}
			if len(so) == 0 {
				continue
			}
			if part := decode(t, so); !utf8.ValidString(text) && i < len(text) {
				continue // encoding/json replaces what is not UTF-8
			} else if !within(part, whole, true) && !strings.Contains(text, `\ud83d`) {
				t.Errorf("%q: %q is not the start of %q", text[:i], so, text)
			}
		}
		r := read(t, text, 1)
		if err := r.End(); err != nil || !r.Complete() {
			t.Errorf("%q: %v", text, err)
		}
		if got := decode(t, r.AppendValue(nil)); !reflect.DeepEqual(got, whole) {
			t.Errorf("%q is read as %v, want %v", text, got, whole)
		}
	}
}

func TestShown(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{``, ``},
		{` `, ``},
		{`{`, `{}`},
		{`{"ci`, `{}`},
		{`{"city"`, `{}`},
		{`{"city": `, `{}`},
		{`{"city": "`, `{"city":""}`},
		{`{"city": "Os`, `{"city":"Os"}`},
		{`{"city": "Oslo"`, `{"city":"Oslo"}`},
		{`{"city": "Oslo",`, `{"city":"Oslo"}`},
		{`{"a": 1`, `{}`},
		{`{"a": 12 `, `{"a":12}`},
		{`{"a":1,"b":tru`, `{"a":1}`},
		{`{"a":true`, `{"a":true}`},
		{`[1`, `[]`},
		{`[1,`, `[1]`},
		{`[1,2]`, `[1,2]`},
		{`[1.`, `[]`},
		{`[[`, `[[]]`},
		{`{"a":[{"b":"`, `{"a":[{"b":""}]}`},
		{`"a\`, `"a"`},
		{`"a\u00e`, `"a"`},
		{`"a\u00e9`, `"a\u00e9"`},
		{`"\ud83d`, `""`},
		{`"\ud83d\u`, `""`},
		{`"\ud83d\ude00`, `"\ud83d\ude00"`},
		{`"\ud83dx`, `"\ud83dx"`},
		{"\"\xe6\x97", `""`},
		{"\"\xe6\x97\xa5", `"日"`},
		{`12`, ``},
		{`tru`, ``},
		{`true`, `true`},
		{`[1 2`, `[1]`},
		{`[1}`, `[1]`},
		{`{"a":"b"]`, `{"a":"b"}`},
		{`{"a":x`, `{}`},
	} {
		if got := read(t, tt.text, 1).AppendValue(nil); string(got) != tt.want {
			t.Errorf("%s is shown as %s, want %s", tt.text, got, tt.want)
		}
	}
	r := &Reader{}
	_ = r.Write([]byte("12"))
	if err := r.End(); err != nil || string(r.AppendValue(nil)) != "12" {
		t.Errorf("12: %s, %v", r.AppendValue(nil), err)
	}
}

func TestMalformed(t *testing.T) {
	for _, text := range malformed {
		for _, n := range []int{1, len(text) + 1} {
			r := read(t, text, n)
			err := r.End()
			var e *Error
			if !errors.As(err, &e) || e.Offset > len(text) || r.Write([]byte("1")) != err {
				t.Errorf("%q: %v", text, err)
			}
			if so := r.AppendValue(nil); len(so) > 0 && !json.Valid(so) {
				t.Errorf("%q: shown as %q", text, so)
			}
		}
	}
	var e *Error
	r := &Reader{}
	if err := r.Write([]byte(`{"a": [1, x]}`)); !errors.As(err, &e) || e.Offset != 10 || e.Error() != "partial: unexpected character at byte 10" {
		t.Errorf("got %v", err)
	}
	r = &Reader{}
	err := r.Write(bytes.Repeat([]byte("["), 10_000))
	if err == nil || !json.Valid(r.AppendValue(nil)) {
		t.Errorf("10,000 brackets: %v", err)
	}
}

// Reading costs the same for each byte, and what is shown is not built anew.
func TestLinear(t *testing.T) {
	var r Reader
	for _, c := range []byte(`{"a":"`) {
		_ = r.Write([]byte{c})
	}
	part := []byte("x")
	if n := testing.AllocsPerRun(1_000_000, func() {
		_ = r.Write(part)
		_, _ = r.Value()
	}); n != 0 {
		t.Errorf("%v allocations for a byte", n)
	}
	if text, closing := r.Value(); len(text) != len(`{"a":"`)+1_000_001 || string(closing) != `"}` {
		t.Errorf("%d bytes, closed by %q", len(text), closing)
	}
}

// FuzzPartial checks that it takes what the scanner of JSON takes, and that what it shows is JSON at each place.
func FuzzPartial(f *testing.F) {
	for _, text := range append(texts, malformed...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1000 {
			return
		}
		r := &Reader{}
		for i := range text {
			if r.Write(text[i:i+1]) != nil {
				break
			}
			so := r.AppendValue(nil)
			s := value.NewScanner(so)
			if len(so) > 0 && s.End() != nil {
				t.Fatalf("%q is shown as %q: %v", text[:i+1], so, s.Err())
			}
		}
		whole := &Reader{}
		_ = whole.Write(text)
		if got, want := whole.AppendValue(nil), r.AppendValue(nil); !bytes.Equal(got, want) {
			t.Fatalf("%q: %q at once, %q byte by byte", text, got, want)
		}
		s := value.NewScanner(text)
		want, got := s.End(), r.End()
		if (want == nil) != (got == nil) {
			t.Fatalf("%q: %v, the scanner says %v", text, got, want)
		}
		if got != nil {
			return
		}
		a, err := wire.FromJSON(nil, text)
		b, err2 := wire.FromJSON(nil, r.AppendValue(nil))
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Fatalf("%q is read as %q", text, r.AppendValue(nil))
		}
	})
}

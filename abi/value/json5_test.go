package value_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
)

func TestFromJSON5(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: `{}`,
		"// c\n{a:1,'b':\"c\",/* d */$e_1:[1,2,],}": `{"a":1,"b":"c","$e_1":[1,2]}`,
		"[/**/]//": `[]`,
		`[+1,-1,.5,5.,0x1F,-0XaB,1e3,1E-2,0,-0,+.5e+1]`: `[1,-1,0.5,5,31,-171,1000,0.01,0,0,5]`,
		`[Infinity,-Infinity,NaN,+NaN,1e999]`:           `[null,null,null,null,null]`,
		`[0x20000000000000,9007199254740993]`:           `[9007199254740992,9007199254740992]`,
		`'a"b'`:                                         `"a\"b"`,
		`"a'b"`:                                         `"a'b"`,
		"'a\\\nb\\\r\nc\\\u2028d'":                      `"abcd"`,
		`'\'\"\\\/\b\f\n\r\t\v\0\x41\u00e9\ud83d\ude00\ud800\q'`: "\"'\\\"\\\\/\\b\\f\\n\\r\\t\\u000b\\u0000Aé😀\ufffdq\"",
		"'\u2028\t'": "\"\u2028\\t\"",
		"\ufeff\u00a0\v\f [\u3000null,true,false]": `[null,true,false]`,
		`{ünï:1,\u0061b:2,a:3}`:                    `{"ünï":1,"ab":2,"a":3}`,
		`{b:1,1:2}`:                                ``,
		`{b:1,'1':2,b:3,"0":4}`:                    `{"0":4,"1":2,"b":3}`,
		`{null:1,true:2,Infinity:3}`:               `{"null":1,"true":2,"Infinity":3}`,
		"'\xff'":                                   "\"\ufffd\"",
		`[1,,2]`:                                   ``, `[,]`: ``, `{,}`: ``, `{a}`: ``, `{a:}`: ``, `{a:1 b:2}`: ``, `[1 2]`: ``, `01`: ``, `0x`: ``, `0xg`: ``, `.`: ``, `+`: ``, `1e`: ``, `1.e+`: ``, `--1`: ``, `- 1`: ``, `1a`: ``,
		``: ``, ` `: ``, `//`: ``, `/*`: ``, `/* *`: ``, `/`: ``, `1 1`: ``, `'a`: ``, "'a\nb'": ``, `'\1'`: ``, `'\01'`: ``, `'\x1'`: ``, `'\u12'`: ``, `'\`: ``, `{\x61:1}`: ``, `tru`: ``, `TRUE`: ``, `undefined`: ``, `{a-b:1}`: ``, `[`: ``, `{`: ``, `]`: ``,
	} {
		prefix := []byte{0xc0}
		v, err := value.FromJSON5(prefix, []byte(text))
		if want == "" {
			var typed *value.SyntaxError
			if !errors.As(err, &typed) || typed.Offset < 0 || typed.Offset > len(text) || len(v) != 1 {
				t.Errorf("%q: %x, %v", text, v, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got, err := value.AppendJSON(nil, v[1:])
		if err != nil || string(got) != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestFromJSON5Depth(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := value.FromJSON5(nil, nested(value.MaxDepth)); err != nil {
		t.Error(err)
	}
	for _, text := range [][]byte{nested(value.MaxDepth + 1), bytes.Repeat([]byte("["), 1<<20), bytes.Repeat([]byte("{a:"), 1<<20)} {
		if _, err := value.FromJSON5(nil, text); !errors.Is(err, value.ErrTooDeep) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}

func ExampleFromJSON5() {
	v, err := value.FromJSON5(nil, []byte("{\n  // retries\n  count: 0x3,\n  hosts: ['a', 'b',],\n}"))
	if err != nil {
		panic(err)
	}
	text, _ := value.AppendJSON(nil, v)
	fmt.Println(string(text))
	// Output: {"count":3,"hosts":["a","b"]}
}

// JSON texts mean the same in JSON5, and every value read is well-formed.
func FuzzFromJSON5(f *testing.F) {
	for _, text := range []string{`{a:1,'b':[0x1,.5,],/**/c:"\u00e9"}`, "// x\n[+1,NaN]", `{"a":[1,2,{"b":null}],"1":true}`, "'a\\\nb'", `"\ud800\x41"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := value.FromJSON5(nil, text)
		if err == nil {
			if err := value.Check(v); err != nil {
				t.Fatalf("%q: %x: %v", text, v, err)
			}
		}
		strict, strictErr := value.FromJSON(nil, text)
		if strictErr == nil && (err != nil || !bytes.Equal(v, strict)) {
			t.Fatalf("%q: %x, %v, want %x", text, v, err, strict)
		}
	})
}

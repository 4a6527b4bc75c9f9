package schema

import (
	"testing"

	"github.com/turncore/turncore/abi/value"
)

func TestIsMultiple(t *testing.T) {
	for _, c := range []struct {
		f, d float64
		want bool
	}{
		{0.3, 0.1, true},
		{0.35, 0.1, false},
		{-7, 7, true},
		{0, 3, true},
		{1e308, 0.5, true},
		{1e308, 0.123456789, false},
		{1e-300, 1e300, false},
		{4.02, 0.01, true},
		{1.1, 0.1, true},
		{19.99, 0.01, true},
		{9007199254740993, 2, true},
		{5e-324, 5e-324, true},
		{1e21, 7, false},
		{7e21, 7, true},
	} {
		if isMultiple(c.f, c.d) != c.want {
			t.Errorf("%v of %v is not %v", c.f, c.d, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	const base = "http://a/b/c/d;p?q"
	for ref, want := range map[string]string{ // RFC 3986, section 5.4
		"g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g", "//g": "http://g", "?y": "http://a/b/c/d;p?y",
		"g?y": "http://a/b/c/g?y", ";x": "http://a/b/c/;x", "": base, ".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/", "../g": "http://a/b/g",
		"../..": "http://a/", "../../../g": "http://a/g", "/./g": "http://a/g", "/../g": "http://a/g", "g;x=1/../y": "http://a/b/c/y", "g?y/./x": "http://a/b/c/g?y/./x",
	} {
		if got := resolve(base, ref); got != want {
			t.Errorf("%s: %s, want %s", ref, got, want)
		}
	}
	for _, c := range [][3]string{{"", "a.json", "a.json"}, {"dir/a.json", "b.json", "dir/b.json"}, {"http://a", "b", "http://a/b"}, {"urn:x:y", "", "urn:x:y"}} {
		if got := resolve(c[0], c[1]); got != c[2] {
			t.Errorf("%s from %s: %s, want %s", c[1], c[0], got, c[2])
		}
	}
}

func FuzzValidate(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/x","default":{}}},"$defs":{"x":{"$id":"y","$dynamicAnchor":"z","anyOf":[{"$dynamicRef":"#z"},true]}}}`, `{"a":1}`},
		{`{"prefixItems":[{"format":"date-time"}],"items":{"multipleOf":0.1},"uniqueItems":true,"contains":{"not":{"const":3}},"unevaluatedItems":false}`, `["2020-01-01T00:00:00Z",0.3]`},
		{`{"if":{"required":["a"]},"then":{"dependentRequired":{"a":["b"]}},"patternProperties":{"^x":false},"propertyNames":{"maxLength":3},"unevaluatedProperties":false}`, `{"a":1,"xy":2}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, source, text []byte) {
		compiled, err := value.FromJSON(nil, source)
		if err != nil {
			return
		}
		s, err := Compile(compiled)
		if err != nil {
			return
		}
		args, err := value.FromJSON(nil, text)
		if err != nil {
			_, _ = s.Validate(text)
			return
		}
		out, violations := s.Validate(args)
		if violations != nil {
			if &out[0] != &args[0] {
				t.Fatal("invalid arguments were changed")
			}
			return
		}
		if err := value.Check(out); err != nil {
			t.Fatalf("%s with defaults is %x: %v", text, out, err)
		}
	})
}

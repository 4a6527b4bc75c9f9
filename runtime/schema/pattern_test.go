package schema

import (
	"math/rand"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turncore/turncore/runtime/value"
)

func matches(t *testing.T, source, text string) bool {
	t.Helper()
	p, err := parsePattern(source)
	if err != nil {
		t.Fatalf("%s: %s", source, err.reason)
	}
	budget := 1 << 20
	return p.match([]byte(text), &budget)
}

// What ECMA-262 says, where it differs from Go's regexp and where it does not.
func TestPattern(t *testing.T) {
	for _, c := range []struct {
		source   string
		yes, not string // texts, separated by commas
	}{
		{`abc`, "abc,xabcx", "ab,ABC"},
		{`^a|b$`, "ax,xb", "xa,bx"},
		{`^(a|bc|)d$`, "ad,bcd,d", "bd,abcd"},
		{`^a{2,3}$`, "aa,aaa", "a,aaaa"},
		{`^a{2}$`, "aa", "a,aaa"},
		{`^(ab){2,}$`, "abab,ababab", "ab,aba"},
		{`^(a*)*$`, ",aaa", "b"},
		{`^(a+)+$`, "aaa", ",b"},
		{`^a{0}b$`, "b", "ab"},
		{`^[a-c\d_-]+$`, "a1_-", "d,é"},
		{`^[^a-c]$`, "d,é", "a"},
		{`^[]$`, "", "a"},
		{`^[^]$`, "a,\n", "ab"},
		{`^[\w-z]$`, "a,-,z", "!"},
		{`^[\b]$`, "\b", "b"},
		{`^.$`, "a,é,😀,\u0085", "\n,\r,\u2028"},
		{`^\d$`, "5", "٣"},
		{`^\w$`, "a,_", "é"},
		{`^\W$`, "é, ", "a"},
		{`^\s$`, " ,\t,\v,\ufeff,\u00a0,\u2029", "\u200b,\u0085"},
		{`^\S$`, "a", " "},
		{`\bfoo\b`, "foo,a foo b,-foo-", "food,xfoo,foo_"},
		{`a\Bb`, "ab", "a b"},
		{`^\u00e9\x41\u{1F600}\ud83d\ude00$`, "éA😀😀", "e"},
		{`^\cA\0\t$`, "\x01\x00\t", "A"},
		{`^\p{L}+$`, "aé日", "1"},
		{`^\P{Lu}$`, "a", "A"},
		{`^[\p{Nd}x]$`, "٣,x", "a"},
		{`^\p{Script=Greek}\p{gc=P}$`, "α!", "a!"},
		{`^\p{Any}\p{ASCII}$`, "éa", "aé"},
		{`^[^\P{Lu}]$`, "A", "a"},
		{`^(?:a)(?<name>b)$`, "ab", "a"},
		{`^a+?b??$`, "aa,aab", "b"},
		{`a{,2}`, "a{,2}", "aa"},
		{`^\/\.\-\@$`, "/.-@", "a"},
		{`^🐲*$`, ",🐲,🐲🐲", "🐉"},
		{`^$`, "", "a,\n"},
		{`x*`, ",a", ""},
	} {
		for i, texts := range []string{c.yes, c.not} {
			for _, text := range strings.Split(texts, ",") {
				if i == 1 && texts == "" {
					continue
				}
				if c.source == `a{,2}` { // the comma is the text's own
					text = texts
				}
				if c.source == `^[]$` && i == 0 {
					continue
				}
				if matches(t, c.source, text) != (i == 0) {
					t.Errorf("%s on %q is not %v", c.source, text, i == 0)
				}
			}
		}
	}
}

func TestPatternErrors(t *testing.T) {
	for source, want := range map[string]string{
		`(`: "missing )", `)`: "unmatched )", `a**`: "nothing to repeat", `*`: "nothing to repeat", `^*`: "nothing to repeat", `[a`: "missing ]",
		`[b-a]`: "range out of order in a class", `a{3,2}`: "numbers out of order in a quantifier", `\`: `\ at the end`, `\a`: `unknown escape \a`, `\Z`: `unknown escape \Z`,
		`[\B]`: `unknown escape \B`, `\x1`: "escape cut short", `\u12g4`: "not a hexadecimal digit", `\u{}`: `invalid \u{`, `\u{110000}`: "no such character",
		`\c1`: `invalid \c`, `\01`: "octal escape", `\p`: `invalid \p`, `\p{L`: `invalid \p`, `(?<>a)`: "invalid group name", `(?P<a>b)`: "invalid group", `(?`: "invalid group",
		`(?=a)`: "look-around", `(?!a)`: "look-around", `(?<=a)`: "look-around", `(?<!a)`: "look-around", `\1`: "a back reference", `\k<a>`: "a back reference",
		`(?i:a)`: "a group with flags", `a{10001}`: "a pattern that large", strings.Repeat("(", 101): "a pattern with groups that deep", `[\ud83d-\u`: "escape cut short",
	} {
		if _, err := parsePattern(source); err == nil || err.reason != want {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
}

// Where the dialects agree, the matcher is held against the standard library's.
func TestPatternAgainstRegexp(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var build func(depth int) string
	build = func(depth int) string {
		switch n := r.Intn(12); {
		case n < 4 || depth == 0:
			return string("ab"[r.Intn(2)])
		case n == 4:
			return []string{".", "[ab]", "[^a]", "^", "$", `\b`, `\w`, `[^\W]`, `\B`}[r.Intn(9)]
		case n == 5:
			return "(" + build(depth-1) + "|" + build(depth-1) + ")"
		case n == 6:
			return "(" + build(depth-1) + "|)"
		case n < 9:
			return "(" + build(depth-1) + ")" + []string{"*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}", "*?", "{0}"}[r.Intn(9)]
		default:
			return build(depth-1) + build(depth-1)
		}
	}
	compared, matched := 0, 0
	for range 4000 {
		source := build(4)
		std := regexp.MustCompile(source)
		for range 6 {
			text := make([]byte, r.Intn(6))
			for i := range text {
				text[i] = "aab "[r.Intn(4)]
			}
			want := std.Match(text)
			if matches(t, source, string(text)) != want {
				t.Fatalf("%s on %q is not %v", source, text, want)
			}
			compared++
			if want {
				matched++
			}
		}
	}
	t.Logf("%d comparisons, %d matches", compared, matched)
}

func TestPatternBudget(t *testing.T) {
	p, _ := parsePattern("((a?){30}){30}b")
	budget := 1000
	if p.match([]byte(strings.Repeat("a", 1000)), &budget) || budget >= 0 {
		t.Errorf("the budget is %d", budget)
	}
}

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

func FuzzPattern(f *testing.F) {
	f.Add(`^(a|b{2,3})*[^\d-x]\p{L}\u{61}$`, "abba")
	f.Fuzz(func(t *testing.T, source, text string) {
		p, err := parsePattern(source)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		budget := 1 << 20
		p.match([]byte(text), &budget)
	})
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

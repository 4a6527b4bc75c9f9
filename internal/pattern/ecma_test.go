package pattern

import (
	"errors"
	"math/rand"
	"regexp"
	"strings"
	"testing"
)

func matches(t *testing.T, source, text string) bool {
	t.Helper()
	p, err := ECMA(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	budget := 1 << 20
	return p.Match([]byte(text), &budget)
}

// What ECMA-262 says, where it differs from Go's regexp and where it does not.
func TestECMA(t *testing.T) {
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

func TestECMAErrors(t *testing.T) {
	for source, want := range map[string]string{
		`(`: "missing )", `)`: "unmatched )", `a**`: "nothing to repeat", `*`: "nothing to repeat", `^*`: "nothing to repeat", `[a`: "missing ]",
		`[b-a]`: "range out of order in a class", `a{3,2}`: "numbers out of order in a quantifier", `\`: `\ at the end`, `\a`: `unknown escape \a`, `\Z`: `unknown escape \Z`,
		`[\B]`: `unknown escape \B`, `\x1`: "escape cut short", `\u12g4`: "not a hexadecimal digit", `\u{}`: `invalid \u{`, `\u{110000}`: "no such character",
		`\c1`: `invalid \c`, `\01`: "octal escape", `\p`: `invalid \p`, `\p{L`: `invalid \p`, `(?<>a)`: "invalid group name", `(?P<a>b)`: "invalid group", `(?`: "invalid group",
		`(?=a)`: "look-around", `(?!a)`: "look-around", `(?<=a)`: "look-around", `(?<!a)`: "look-around", `\1`: "a back reference", `\k<a>`: "a back reference",
		`(?i:a)`: "a group with flags", `a{10001}`: "a pattern that large", strings.Repeat("(", 101): "a pattern with groups that deep", `[\ud83d-\u`: "escape cut short",
	} {
		var typed *Error
		if _, err := ECMA(source); !errors.As(err, &typed) || typed.Reason != want {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
}

// Where the dialects agree, the matcher is held against the standard library's.
func TestECMAAgainstRegexp(t *testing.T) {
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

func TestBudget(t *testing.T) {
	p, _ := ECMA("((a?){30}){30}b")
	budget := 1000
	if p.Match([]byte(strings.Repeat("a", 1000)), &budget) || budget >= 0 {
		t.Errorf("the budget is %d", budget)
	}
}

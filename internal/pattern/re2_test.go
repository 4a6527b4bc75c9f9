package pattern

import (
	"errors"
	"math/rand"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"
)

// re2Agrees holds a pattern of RE2 against the standard library's on some texts, and tells whether both took it.
func re2Agrees(t *testing.T, source, flags string, texts ...string) bool {
	t.Helper()
	p, err := RE2(source, flags)
	prefix := ""
	if flags = strings.ReplaceAll(flags, "u", ""); flags != "" {
		prefix = "(?" + flags + ")"
	}
	std, stdErr := regexp.Compile(prefix + source)
	var ours *Error
	if err != nil && !errors.As(err, &ours) {
		t.Fatalf("%q: an error of no type: %v", source, err)
	}
	if (err == nil) != (stdErr == nil) {
		// What only one takes: our limits of size and depth, theirs on nested counts, and names of scripts.
		var theirs *syntax.Error
		switch {
		case stdErr == nil && ours.Unsupported && (strings.Contains(ours.Reason, "that large") || strings.Contains(ours.Reason, "that deep")):
			return false
		case stdErr != nil && errors.As(stdErr, &theirs) && (theirs.Code == syntax.ErrInvalidRepeatSize || theirs.Code == syntax.ErrLarge || theirs.Code == syntax.ErrNestingDepth):
			return false
		case stdErr != nil && theirs.Code == syntax.ErrInvalidCharRange && strings.Contains(theirs.Expr, "_"):
			return false
		}
		t.Fatalf("%q: %v, and regexp says %v", source, err, stdErr)
	}
	if err != nil {
		if ours.Offset < 0 || ours.Offset > len(source) {
			t.Fatalf("%q: the offset of %v", source, err)
		}
		return false
	}
	m := p.Matcher()
	for _, text := range texts {
		budget := 1 << 30
		want := std.MatchString(text)
		if m.Match([]byte(text), &budget) != want {
			t.Fatalf("%q with %q on %q is not %v", source, flags, text, want)
		}
		if p.Match([]byte(text), &budget) != want {
			t.Fatalf("%q with %q on %q is not %v without a Matcher", source, flags, text, want)
		}
	}
	return true
}

var re2Sources = []string{
	``, `a`, `^a$`, `a|b`, `(a|)b`, `a*`, `a+?b??`, `(?:ab){2,3}`, `a{,2}`, `a{01}`, `a{2}{3}`, `a**`, `*`, `^*`, `$+`, `\b+a`, `(|a)*`, `(*)`, `|*`, `a|*`,
	`(?i)straße`, `(?i)[k]`, `(?i)K`, `(?i)ſ`, `(?i)[^k]`, `(?i)\w`, `(?i)\W`, `(?i)[\W]`, `(?i)[^\W]`, `(?i)\p{Lu}`, `(?i)\P{Lu}`, `(?i)[^\P{Lu}x]`, `(?i)[a-z]`, `(?i)[[:upper:]]`,
	`(?i)[[:^upper:]]`, `(?i)\p{Greek}`, `(?i)σ`, `(?i)\x{1C4}`, `(?i)\QAb\E*`, `a(?i)b`, `(?i:a)b`, `(?-i:a)`, `(?i-s:a.)`, `(?s).`, `.`, `(?s-s).`, `(?U)a*`, `(?i`, `(?i-)a`, `(?--i)a`, `(?-)a`, `(?)a`,
	`(?m)^a$`, `(?m)a$`, `^a`, `a$`, `\Aa\z`, `(?m)\Aa\z`, `\bé`, `\Bb`, `[\b]`, `\C`, `\Z`, `\_`, `\-`, `\é`, `\a\f\n\r\t\v`, `\x41\x{e9}`, `\x{}`, `\x{110000}`, `\x4`, `\x{4`, `\12`, `\1`, `\8`, `\08`, `\123`, `\0`, `\777`,
	`\Qa+b\E`, `\Qa+b`, `\Q\E`, `a\Q\E*`, `a*\Q\E*`, `a(?i)*`, `a*(?i)*`, `(?i)*`, `\QAB\E+`,
	`[]a]`, `[^]a]`, `[]`, `[^]`, `[a`, `[a-]`, `[-a]`, `[a-b-c]`, `[--z]`, `[b-a]`, `[\d-z]`, `[a-\d]`, `[^\n]`, `[^a]`, `[[]`, `[[:alpha:]]`, `[[:foo:]]`, `[[:alpha]`, `[[:word:]-]`, `[:alpha:]`, `[\]]`, `[\pL\d]`, `[^\pL]`, `[a&&b]`,
	`\pL`, `\PN`, `\p{^Han}`, `\P{^Han}`, `\p{L}`, `\p{Letter}`, `\p{letter}`, `\p{greek}`, `\p{Lu}\p{Ll}`, `\p{Any}`, `\p{any}`, `\p{ASCII}`, `\p{Assigned}`, `\P{Assigned}`, `\p{Cn}`, `\p{LC}`, `\p{Foo}`, `\p{`, `\p`, `\pq`, `\p{}`, `\p{^}`, `\p{^^L}`,
	`(?P<n>a)`, `(?<n>a)`, `(?P<n`, `(?<>a)`, `(?<a-b>c)`, `(?P<a>b)(?P<a>c)`, `(?'n'a)`, `(?=a)`, `(?!a)`, `(?<=a)`, `(?<!a)`, `(?>a)`, `(?#c)`, `(?P=n)`, `(?P>n)`, `(?P`, `(?`, `(`, `)`, `a)`, `(a`,
	`a{1000}`, `a{1001}`, `a{2,1}`, `a{,}`, `a{1,}`, `{`, `{2}`, `}`, `]`, `a{2`, `a{99999999999}`, `x{2}?`, `x{2}??`, `x{2}+`, `\d{3}-\d{4}`, `(\w+)\s\w+`, `a.c`, `(a+)+$`, `(a?){20}a{20}`, `é+`, `[é-ü]`, `日本`, `\`,
}

var re2Texts = []string{
	"", "a", "b", "ab", "aab", "aaa", "abab", "A", "K", "K", "k", "ſ", "s", "S", "STRASSE", "Straße", "é", "É", "ü", "σςΣ", "ǅ", "\n", "a\n", "\na", "a\nb", "b\na\nb", "\r", " ", "_", "-", "1", "555-1234", "x", "xx", "xxxx",
	"]", "[", "{", "}", "{2}", "a{2}", "a{,2}", "a{01}", "a+b", "AB", "ABB", "\x00", "\x07", "\b", "日本", "日", "α", "Ω", "\u0378", "😀", "foo bar", "a^b", "*", "\\", ":", "alpha", "\u2028", "\xff", "a\xffb", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
}

func TestRE2AgreesWithRegexp(t *testing.T) {
	compared := 0
	for _, source := range re2Sources {
		for _, flags := range []string{"", "i", "m", "s", "u", "imsu"} {
			if re2Agrees(t, source, flags, re2Texts...) {
				compared += len(re2Texts)
			}
		}
	}
	t.Logf("%d comparisons", compared)
}

// Patterns put together at random from what RE2 has.
func TestRE2AgreesAtRandom(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	pieces := []string{
		"a", "b", "A", "é", "K", " ", ".", "^", "$", `\b`, `\B`, `\w`, `\W`, `\d`, `\s`, `\S`, "[ab]", "[^a]", `[\w-]`, "[a-c]", "[[:alpha:]]", `\pL`, `\PL`, `\p{Lu}`, "(", "(?:", "(?i:", "(?i)", "(?-i)", "(?s:", "(?m)",
		"(?P<x>", ")", ")", ")", "|", "*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", `\Qa`, `\E`, `\x41`, `\n`, `\A`, `\z`, "[", "]", `\`,
	}
	taken := 0
	for range 20000 {
		var source strings.Builder
		for range 1 + r.Intn(9) {
			source.WriteString(pieces[r.Intn(len(pieces))])
		}
		texts := make([]string, 4)
		for i := range texts {
			for range r.Intn(6) {
				texts[i] += []string{"a", "b", "A", "é", "K", "k", " ", "\n", "_", "1", "]"}[r.Intn(11)]
			}
		}
		if re2Agrees(t, source.String(), []string{"", "i", "m", "s"}[r.Intn(4)], texts...) {
			taken++
		}
	}
	if taken < 2000 {
		t.Errorf("only %d of the patterns were any", taken)
	}
	t.Logf("%d patterns", taken)
}

func TestRE2Errors(t *testing.T) {
	for _, c := range []struct{ source, flags, want string }{
		{"a(b", "", "pattern: missing ) at byte 3"},
		{"ab)", "", "pattern: unmatched ) at byte 2"},
		{"a**", "", "pattern: nothing to repeat at byte 2"},
		{"[z-a]", "", "pattern: range out of order in a class at byte 2"},
		{"x(?=a)", "", "pattern: look-around is not supported at byte 4"},
		{`(a)\1`, "", "pattern: a back reference is not supported at byte 3"},
		{`\p{Klingon}`, "", "pattern: the Unicode property Klingon is not supported at byte 2"},
		{`ab\y`, "", `pattern: unknown escape \y at byte 2`},
		{"a", "ig", "pattern: flag g is none of i, m, s and u at byte 0"},
		{"a\xff", "", "pattern: text that is not UTF-8 at byte 0"},
		{"a{1001}", "", "pattern: number above 1000 in a quantifier at byte 1"},
		{"((a{1000}){1000}){1000}", "", "pattern: a pattern that large is not supported at byte 16"},
		{strings.Repeat("(", 101) + "a" + strings.Repeat(")", 101), "", "pattern: a pattern with groups that deep is not supported at byte 101"},
		{strings.Repeat("(a{1000}){0}", 100), "", "pattern: a pattern that large is not supported at byte 476"},
	} {
		if _, err := RE2(c.source, c.flags); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.source, err, c.want)
		}
	}
}

func TestIRegexp(t *testing.T) {
	for _, c := range []struct{ source, whole, part, not string }{
		{`a.*`, "a,ab", "xab", "b"},
		{`a|b`, "a,b", "ab,xa", "c"},
		{`[a-c-]+`, "a-c", "xax", "d"},
		{`[-a]+`, "-a", "x-", "b"},
		{`[^\p{Lu}\n]`, "a,1", "A1", "A"},
		{`\P{Lu}`, "a", "Aa", "A"},
		{`\(\)\*\+\-\.\?\[\\\]\^\{\|\}\n\r\t`, "()*+-.?[\\]^{|}\n\r\t", "", ""},
		{`(ab){2,3}c?`, "abab,ababc,ababab", "xabab", "ab"},
		{`.`, "a,\u2028", "ab", "\n,\r"},
		{`^ab`, "ab", "abc", "xab"},
		{`[^^$]`, "a", "ab", "^,$"},
	} {
		budget := 1 << 20
		whole, err := IRegexp(c.source, true, &budget)
		part, err2 := IRegexp(c.source, false, &budget)
		if err != nil || err2 != nil {
			t.Errorf("%s: %v, %v", c.source, err, err2)
			continue
		}
		for i, texts := range []string{c.whole, c.part, c.not} {
			for _, text := range strings.Split(texts, ",") {
				if text != "" && (whole.Match([]byte(text), &budget) != (i == 0) || part.Match([]byte(text), &budget) != (i < 2)) {
					t.Errorf("%s on %q", c.source, text)
				}
			}
		}
	}
	for _, source := range []string{`\d`, `\w`, `\b`, `a*?`, `a{,2}`, `{`, `}`, `]`, `[]`, `[^]`, `[a-b-c]`, `[[]`, `[a-\p{L}]`, `(?:a)`, `(?i)a`, `\p{Latin}`, `\pL`, `\p{lu}`, `\x41`, `\u0041`, `a**`, `(`, `)`, `[b-a]`, `\`, "\xff"} {
		budget := 1 << 20
		if p, err := IRegexp(source, false, &budget); err == nil {
			t.Errorf("%s is taken: %v", source, p.prog)
		}
		if budget >= 1<<20 {
			t.Errorf("%s costs nothing", source)
		}
	}
}

// The work grows with pattern times text and no faster, whatever the pattern.
func TestMatchingIsLinear(t *testing.T) {
	for _, source := range []string{`(a*)*b`, `(a|a)*b`, `(a?){30}a{30}b`, `(.*)(.*)(.*)(.*)x`, `(\w+\s?)+$!`, `([[:^upper:]]+)+B`, `(?i)(k|K)*z`} {
		p, err := RE2(source, "")
		if err != nil {
			t.Fatal(err)
		}
		steps := func(n int) int {
			budget := 1 << 40
			p.Match([]byte(strings.Repeat("a", n)), &budget)
			return 1<<40 - budget
		}
		few, many := steps(1000), steps(10000)
		if many > 11*few || many > 10001*(p.Size()+2) {
			t.Errorf("%s: %d steps for 1,000 characters, %d for 10,000", source, few, many)
		}
	}
}

func FuzzECMA(f *testing.F) {
	f.Add(`^(a|b{2,3})*[^\d-x]\p{L}\u{61}$`, "abba")
	f.Fuzz(func(t *testing.T, source, text string) {
		p, err := ECMA(source)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		budget := 1 << 20
		p.Match([]byte(text), &budget)
	})
}

func FuzzRE2(f *testing.F) {
	for i, source := range re2Sources {
		f.Add(source, []string{"", "i", "m", "s"}[i%4], re2Texts[i%len(re2Texts)])
	}
	f.Fuzz(func(t *testing.T, source, flags, text string) {
		if len(source) > 200 || len(text) > 200 || strings.Trim(flags, "ims") != "" || len(flags) > 3 {
			return
		}
		re2Agrees(t, source, flags, text)
	})
}

func FuzzIRegexp(f *testing.F) {
	f.Add(`(ab|[^\p{Lu}-]){2,}\.`, "abb.")
	f.Fuzz(func(t *testing.T, source, text string) {
		budget := 1 << 20
		p, err := IRegexp(source, len(text)%2 == 0, &budget)
		if err == nil {
			p.Match([]byte(text), &budget)
		}
	})
}

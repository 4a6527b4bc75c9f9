package markdown_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/internal/jsonpath"
	"github.com/turncore/turncore/runtime/internal/markdown"
)

func parse(t testing.TB, source string) *markdown.Document {
	t.Helper()
	d, err := markdown.Parse([]byte(source), 0, -1)
	if err != nil {
		t.Fatalf("%.60q: %v", source, err)
	}
	return d
}

func text(t testing.TB, v []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := value.Check(v); err != nil {
		t.Fatalf("%x: %v", v, err)
	}
	out, err := value.AppendJSON(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// outline writes a tree in short form: nested types with their most important fields.
func outline(t testing.TB, node []byte) string {
	t.Helper()
	kind, _ := value.Get(node, "type")
	name, _ := value.String(kind)
	out := string(name)
	_ = value.Each(node, func(key, v []byte) bool {
		switch string(key) {
		case "value", "depth", "ordered", "start", "spread", "checked", "lang", "meta", "url", "title", "alt", "identifier", "align":
			if k := value.KindOf(v); k == value.KindNil || k == value.KindBool && v[0] == 0xc2 && string(key) != "checked" {
				return true
			}
			out += " " + string(key) + "=" + text(t, v, nil)
		}
		return true
	})
	if children, ok := value.Get(node, "children"); ok {
		var all []string
		_ = value.EachItem(children, func(_ int, child []byte) bool {
			all = append(all, outline(t, child))
			return true
		})
		out += "(" + strings.Join(all, ", ") + ")"
	}
	return out
}

func TestBlocks(t *testing.T) {
	for source, want := range map[string]string{
		"":                                         `root()`,
		"\n\n":                                     `root()`,
		"a\nb\n\nc":                                `paragraph(text value="a\nb"), paragraph(text value="c")`,
		"# A\n###### B ##\n#C":                     `heading depth=1(text value="A"), heading depth=6(text value="B"), paragraph(text value="#C")`,
		"A\n=\nB\nC\n---":                          `heading depth=1(text value="A"), heading depth=2(text value="B\nC")`,
		"---\n***\n_ _ _\n- -":                     `thematicBreak, thematicBreak, thematicBreak, list(listItem(list(listItem())))`,
		"> a\nb\n> > c\n\nd":                       `blockquote(paragraph(text value="a\nb"), blockquote(paragraph(text value="c"))), paragraph(text value="d")`,
		"- a\n- b\n\n  c\n* d":                     `list(listItem(paragraph(text value="a")), listItem spread=true(paragraph(text value="b"), paragraph(text value="c"))), list(listItem(paragraph(text value="d")))`,
		"3) a\n4) b\n\n5) c":                       `list ordered=true start=3 spread=true(listItem(paragraph(text value="a")), listItem(paragraph(text value="b")), listItem(paragraph(text value="c")))`,
		"- a\n  - b\n    - c\n- d":                 `list(listItem(paragraph(text value="a"), list(listItem(paragraph(text value="b"), list(listItem(paragraph(text value="c")))))), listItem(paragraph(text value="d")))`,
		"- [ ] a\n- [x] b\n- [y] c":                `list(listItem checked=false(paragraph(text value="a")), listItem checked=true(paragraph(text value="b")), listItem(paragraph(text value="[y] c")))`,
		"a\n- b\n2. c":                             `paragraph(text value="a"), list(listItem(paragraph(text value="b"))), list ordered=true start=2(listItem(paragraph(text value="c")))`,
		"-\n  a\n-\n\n  b":                         `list(listItem(paragraph(text value="a")), listItem()), paragraph(text value="b")`,
		"```go x=1\na\n\n  b\n``\n````\nc":         `code lang="go" meta="x=1" value="a\n\n  b\n` + "``" + `", paragraph(text value="c")`,
		"~~~\n```\na":                              "code value=\"```\\na\"",
		"> ```\n> a\nb":                            `blockquote(code value="a"), paragraph(text value="b")`,
		"  ```\n   a\n  b\n c\n  ```":              `code value=" a\nb\nc"`,
		"    a\n\n      b\n\nc":                    `code value="a\n\n  b", paragraph(text value="c")`,
		"a\n    b":                                 `paragraph(text value="a\nb")`,
		"\ta\n- \tb":                               `code value="a", list(listItem(paragraph(text value="b")))`,
		"<div>\n*a*\n\nb":                          `html value="<div>\n*a*", paragraph(text value="b")`,
		"<!-- a\n\nb -->\nc":                       `html value="<!-- a\n\nb -->", paragraph(text value="c")`,
		"<script>\n\na\n</SCRIPT> b\nc":            `html value="<script>\n\na\n</SCRIPT> b", paragraph(text value="c")`,
		"<x-y a=1>\nb\n\n<a>b":                     `html value="<x-y a=1>\nb", paragraph(html value="<a>", text value="b")`,
		"a\n<b>\n<div>":                            `paragraph(text value="a\n", html value="<b>"), html value="<div>"`,
		"|a|b|\n|-|:-:|\n|1|2|\n3\n\nc":            `table align=[null,"center"](tableRow(tableCell(text value="a"), tableCell(text value="b")), tableRow(tableCell(text value="1"), tableCell(text value="2")), tableRow(tableCell(text value="3"))), paragraph(text value="c")`,
		"a | b\n:- | -:\n*c* \\| d | e\n> f":       `table align=["left","right"](tableRow(tableCell(text value="a"), tableCell(text value="b")), tableRow(tableCell(emphasis(text value="c"), text value=" | d"), tableCell(text value="e"))), blockquote(paragraph(text value="f"))`,
		"a | b\n- | - | -":                         `paragraph(text value="a | b"), list(listItem(paragraph(text value="| - | -")))`,
		"[a]: /b 'c'\n[d]: <e f>\ng\n\n[a] [h][D]": `definition identifier="a" url="/b" title="c", definition identifier="d" url="e f", paragraph(text value="g"), paragraph(link url="/b" title="c"(text value="a"), text value=" ", link url="e f"(text value="h"))`,
		"[a]: /b c\n[a]":                           `paragraph(text value="[a]: /b c\n[a]")`,
		"[a]: /b\n===\n\n[a]: /c\n\n[a]":           `definition identifier="a" url="/b", paragraph(text value="==="), definition identifier="a" url="/c", paragraph(link url="/b"(text value="a"))`,
		"---\na: 1\n---\nb":                        `yaml value="a: 1", paragraph(text value="b")`,
		"---\n---\n":                               `yaml value=""`,
		"---\na: 1":                                `thematicBreak, paragraph(text value="a: 1")`,
		"> - a\n>   b\n> - c":                      `blockquote(list(listItem(paragraph(text value="a\nb")), listItem(paragraph(text value="c"))))`,
		"- a\n\nb":                                 `list(listItem(paragraph(text value="a"))), paragraph(text value="b")`,
		"1. a\n\n   ```\n   b\n   ```\n2. c":       `list ordered=true start=1(listItem spread=true(paragraph(text value="a"), code value="b"), listItem(paragraph(text value="c")))`,
		"a\r\nb\r\n\r\n# c\r\n":                    `paragraph(text value="a\nb"), heading depth=1(text value="c")`,
	} {
		tree, err := parse(t, source).Tree()
		if text(t, tree, err); want != "root()" {
			want = "root(" + want + ")"
		}
		if got := outline(t, tree); got != want {
			t.Errorf("%q:\n got %s\nwant %s", source, got, want)
		}
	}
}

func TestInline(t *testing.T) {
	for source, want := range map[string]string{
		"*a* _b_ **c** __d__ ~e~ ~~f~~":        `emphasis(text value="a"), text value=" ", emphasis(text value="b"), text value=" ", strong(text value="c"), text value=" ", strong(text value="d"), text value=" ", delete(text value="e"), text value=" ", delete(text value="f")`,
		"***a*** **b*c*d**":                    `emphasis(strong(text value="a")), text value=" ", strong(text value="b", emphasis(text value="c"), text value="d")`,
		"a*b*c a_b_c * d *":                    `text value="a", emphasis(text value="b"), text value="c a_b_c * d *"`,
		"**a *b** c*":                          `emphasis(emphasis(text value="a ", emphasis(text value="b")), text value=" c")`,
		"*a **b* c**":                          `emphasis(text value="a ", emphasis(emphasis(text value="b"), text value=" c"))`,
		"*foo**bar*":                           `emphasis(text value="foo**bar")`,
		"a ~~~b~~~ ~~c~":                       `text value="a ~~~b~~~ ~~c~"`,
		"`a` ``b`c`` ` d ` `e":                 "inlineCode value=\"a\", text value=\" \", inlineCode value=\"b`c\", text value=\" \", inlineCode value=\"d\", text value=\" `e\"",
		"`a\nb` ``":                            "inlineCode value=\"a b\", text value=\" ``\"",
		`\*a\* \a &amp;&#65;&#x42;&nope; &#0;`: `text value="*a* \\a &AB&nope; ` + "\ufffd" + `"`,
		"a  \nb\\\nc \nd":                      `text value="a", break, text value="b", break, text value="c\nd"`,
		"[a](/b) [c](<d e> 'f') [](g) [h]( /i \"j\" )":          `link url="/b"(text value="a"), text value=" ", link url="d e" title="f"(text value="c"), text value=" ", link url="g"(), text value=" ", link url="/i" title="j"(text value="h")`,
		"[a](b(c)d) [a](b(c) [a]":                               `link url="b(c)d"(text value="a"), text value=" [a](b(c) [a]"`,
		"[a [b](c) d](e)":                                       `text value="[a ", link url="c"(text value="b"), text value=" d](e)"`,
		"[![a](b)](c) ![[d](e) *f*](g 'h')":                     `link url="c"(image url="b" alt="a"), text value=" ", image url="g" title="h" alt="d f"`,
		"*[a*](b) [*a](b)*":                                     `emphasis(link url="b"(text value="a*"), text value=" ", link url="b"(text value="*a"))`,
		"<http://a.b?c> <d@e.f> <g>h</g> <!-- i --> < j>":       `link url="http://a.b?c"(text value="http://a.b?c"), text value=" ", link url="mailto:d@e.f"(text value="d@e.f"), text value=" ", html value="<g>", text value="h", html value="</g>", text value=" ", html value="<!-- i -->", text value=" < j>"`,
		"www.a.b, (http://c.d/(e)). xhttp://f https://g?h=1&i*": `link url="http://www.a.b"(text value="www.a.b"), text value=", (", link url="http://c.d/(e)"(text value="http://c.d/(e)"), text value="). xhttp://f ", link url="https://g?h=1&i"(text value="https://g?h=1&i"), text value="*"`,
		"[http://a.b](c)":                                       `link url="c"(text value="http://a.b")`,
		"[a] [b][a] [a][] ![A] [c][d]\n\n[a]: /x":               `link url="/x"(text value="a"), text value=" ", link url="/x"(text value="b"), text value=" ", link url="/x"(text value="a"), text value=" ", image url="/x" alt="A", text value=" [c][d]"`,
		"!a ! [b] ]":  `text value="!a ! [b] ]"`,
		"日*本*語 «*a*»": `text value="日", emphasis(text value="本"), text value="語 «", emphasis(text value="a"), text value="»"`,
	} {
		tree, err := parse(t, source).Tree()
		text(t, tree, err)
		got := strings.TrimPrefix(outline(t, tree), "root(paragraph(")
		got, _, _ = strings.Cut(got, "), definition")
		if got = strings.TrimSuffix(got, "))"); strings.HasSuffix(want, "()") {
			got += "))"
		}
		if got != want && got+"))" != want && got+")" != want {
			t.Errorf("%q:\n got %s\nwant %s", source, got, want)
		}
	}
}

const page = `---
title: Guide
---
# Guide

See [the site](https://a.b "Site") and [docs][d], or <https://c.d>.

![Logo *one*](logo.png) ![two][d]

## Install

1. Run ` + "`make`" + `
2. Then **go**

| Name | Link |
|------|------|
| x    | [y](z) |

` + "```sh\nmake\n```" + `

<p align="center">Bye</p>

[d]: https://docs.e 'Docs'
`

func TestLinksAndImages(t *testing.T) {
	d := parse(t, page)
	links, err := d.Links()
	if got, want := text(t, links, err), `[{"text":"the site","url":"https://a.b","title":"Site"},{"text":"docs","url":"https://docs.e","title":"Docs"},{"text":"https://c.d","url":"https://c.d"},{"text":"y","url":"z"}]`; got != want {
		t.Errorf("links are %s, want %s", got, want)
	}
	images, err := d.Images()
	if got, want := text(t, images, err), `[{"alt":"Logo one","url":"logo.png"},{"alt":"two","url":"https://docs.e","title":"Docs"}]`; got != want {
		t.Errorf("images are %s, want %s", got, want)
	}
	some, err := markdown.Parse([]byte(page), 5, 6) // the definition is not in these lines
	if err != nil {
		t.Fatal(err)
	}
	links, err = some.Links()
	if got, want := text(t, links, err), `[{"text":"the site","url":"https://a.b","title":"Site"},{"text":"docs","url":"https://docs.e","title":"Docs"},{"text":"https://c.d","url":"https://c.d"}]`; got != want {
		t.Errorf("links of line 5 are %s, want %s", got, want)
	}
}

func TestText(t *testing.T) {
	v, err := parse(t, page).Text()
	if err != nil {
		t.Fatal(err)
	}
	got, _ := value.String(v)
	if want := "Guide\nSee the site and docs, or https://c.d.\nLogo one two\nInstall\nRun make\nThen go\nName\tLink\nx\ty\nmake\nBye"; string(got) != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{0, -1, `root(paragraph(text value="a"), heading depth=1(text value="b"), paragraph(text value="c"))`},
		{1, 3, `root(heading depth=1(text value="b"))`},
		{0, 1, `root(paragraph(text value="a"))`},
		{3, 99, `root(paragraph(text value="c"))`},
		{4, 2, `root()`},
		{99, 100, `root()`},
	} {
		d, err := markdown.Parse([]byte("a\n# b\n\nc"), c.from, c.to)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := d.Tree()
		if text(t, tree, err); outline(t, tree) != c.want {
			t.Errorf("lines %d to %d: %s, want %s", c.from, c.to, outline(t, tree), c.want)
		}
	}
	d, _ := markdown.Parse([]byte("x\n\n> a\n> b\n\n- c\n\n\n  d\n"), 2, -1)
	tree, err := d.Tree()
	q, _ := jsonpath.Parse(`$..[?@.startLine]['type','startLine','endLine']`)
	nodes, _ := q.Select(tree)
	var got []string
	for _, node := range nodes {
		got = append(got, text(t, node, err))
	}
	if want := `"blockquote" 2 3 "list" 5 8 "paragraph" 2 3 "listItem" 5 8 "paragraph" 5 5 "paragraph" 8 8`; strings.Join(got, " ") != want {
		t.Errorf("lines: %v, want %s", got, want)
	}
}

// Endless nesting is an error, not a stack overflow.
func TestDepth(t *testing.T) {
	for source, want := range map[string]error{
		strings.Repeat(">", 90) + "a":                                                       nil,
		strings.Repeat(">", 100000) + "a":                                                   markdown.ErrTooDeep,
		strings.Repeat("- ", 100000) + "a":                                                  markdown.ErrTooDeep,
		strings.Repeat("1. > ", 100000):                                                     markdown.ErrTooDeep,
		"a" + strings.Repeat("*", 180) + "b" + strings.Repeat("*", 180):                     nil,
		"a" + strings.Repeat("*", 100000) + "b" + strings.Repeat("*", 100000):               markdown.ErrTooDeep,
		strings.Repeat("*a _b ", 5000) + strings.Repeat("b_ a* ", 5000):                     markdown.ErrTooDeep,
		strings.Repeat("![", 5000) + strings.Repeat("](a)", 5000):                           markdown.ErrTooDeep,
		strings.Repeat(">", 90) + strings.Repeat("*", 180) + "b" + strings.Repeat("*", 180): nil,
	} {
		d, err := markdown.Parse([]byte(source), 0, -1)
		if err == nil {
			var tree []byte
			if tree, err = d.Tree(); err == nil {
				text(t, tree, nil)
			} else if _, err2 := d.Links(); err2 == nil {
				t.Errorf("%.20q: links without an error", source)
			}
		}
		if !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", source, err, want)
		}
	}
	for _, source := range []string{strings.Repeat("a\n\n", markdown.MaxNodes+1), strings.Repeat("|a|\n|-|\n", 1) + strings.Repeat("|a|\n", markdown.MaxNodes), strings.Repeat("*a", markdown.MaxNodes)} {
		d, err := markdown.Parse([]byte(source), 0, -1)
		if err == nil {
			_, err = d.Text()
		}
		if !errors.Is(err, markdown.ErrTooLarge) {
			t.Errorf("%.20q: %v", source, err)
		}
	}
}

// hostile texts are slow for parsers that look ahead, or back, too often. Each is a function of its length.
var hostile = map[string]func(n int) string{
	"brackets":              repeat("["),
	"closing brackets":      repeat("]"),
	"nested brackets":       func(n int) string { return strings.Repeat("[", n/2) + "a" + strings.Repeat("]", n/2) },
	"brackets and links":    func(n int) string { return strings.Repeat("[", n/2) + strings.Repeat("[a](b)", n/12) },
	"brackets with a label": func(n int) string { return "[a]: b\n\n" + strings.Repeat("[a", n/4) + strings.Repeat("]", n/4) },
	"images":                repeat("!["),
	"stars":                 repeat("*"),
	"stars and text":        repeat("*a"),
	"stars, open":           repeat("*a "),
	"stars, both":           repeat("a**b*c_"),
	"stars of all lengths":  repeat("*a **b ***c a* b** c***"),
	"underscores":           repeat("_a__ "),
	"tildes":                repeat("~a ~~b "),
	"emphasis, not closed":  func(n int) string { return strings.Repeat("*a _b", n/10) + strings.Repeat("*a **b", n/12) },
	"backticks": func(n int) string {
		var b strings.Builder
		for i := 1; b.Len() < n; i++ {
			b.WriteString(strings.Repeat("`", i) + "a")
		}
		return b.String()
	},
	"one backtick":          repeat("`a``"),
	"unclosed links":        repeat("[a](<b"),
	"unclosed destinations": repeat("[a](b"),
	"unclosed titles":       repeat("[a](b \"c"),
	"other titles":          repeat("[a](b 'c [a](b \"c [a](b (c"),
	"parentheses":           func(n int) string { return "[a](" + strings.Repeat("(", n) },
	"tags":                  repeat("<a "),
	"attributes":            repeat("<a b='"),
	"mixed attributes":      repeat("<a b='<a b=\""),
	"comments":              repeat("a <!-- "),
	"instructions":          repeat("a <? "),
	"declarations":          repeat("a <!X "),
	"sections":              repeat("a <![CDATA["),
	"addresses":             repeat("<a:"),
	"bare links":            repeat("www.a("),
	"bare links and dots":   func(n int) string { return "www.a" + strings.Repeat(".", n) },
	"bare links and ends":   func(n int) string { return "http://a" + strings.Repeat(")", n) },
	"references":            repeat("&amp"),
	"escapes":               repeat("\\"),
	"definitions":           repeat("[a]: b 'c\n"),
	"many definitions": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[a%d]: b\n", i)
		}
		return b.String()
	},
	"labels":               func(n int) string { return "[" + strings.Repeat("a", n) + "]: b" },
	"long labels":          repeat("[" + strings.Repeat("a", 1100)),
	"quotes":               repeat("> a\n"),
	"lazy lines":           func(n int) string { return strings.Repeat("> ", 90) + "a\n" + strings.Repeat("b\n", n/2) },
	"blank lines in lists": func(n int) string { return strings.Repeat("- ", 90) + "a\n" + strings.Repeat("\n", n) + "b" },
	"blank lines in code":  func(n int) string { return "    a" + strings.Repeat("\n", n) + "    b" },
	"items":                repeat("- a\n"),
	"tables":               repeat("|a|b\n|-|-\n"),
	"wide tables":          func(n int) string { return strings.Repeat("|a", n/4) + "\n" + strings.Repeat("|-", n/4) },
	"underlines":           repeat("a\n===\n"),
	"one paragraph":        repeat("a b c\n"),
	"spaces":               repeat("a   \n"),
	"trailing spaces":      func(n int) string { return "a" + strings.Repeat(" ", n) + "b" },
	"tabs":                 repeat("\t"),
	"fences":               repeat("```\n~~~\n"),
	"an unclosed fence":    func(n int) string { return "```\n" + strings.Repeat("a\n", n/2) },
	"html":                 repeat("<div>\n"),
	"numbers":              repeat("1. 2) "),
	"nul":                  repeat("\x00*\xff"),
}

func repeat(s string) func(int) string {
	return func(n int) string { return strings.Repeat(s, n/len(s)+1)[:n] }
}

// work parses a text and runs every query.
func work(source string) {
	d, err := markdown.Parse([]byte(source), 0, -1)
	if err == nil {
		_, _ = d.Links()
		_, _ = d.Text()
		_, _ = d.Tree()
	}
	var x markdown.Index
	for _, line := range strings.Split(source, "\n") {
		if x.Add([]byte(line)) != nil {
			return
		}
	}
	x.Headings(0)
}

// Sixteen times the text needs about sixteen times the memory, which is the same in every run, and sixteen times the
// work, measured as processor time of the thread: quadratic work would be 256 times as much. A measurement that is too
// high is repeated, since a disturbance seldom affects twenty of them; quadratic work is too high in all.
func TestWorkIsLinear(t *testing.T) {
	const factor = 16
	for name, text := range hostile {
		few, many := text(4<<10), text(factor*4<<10)
		if a, b := allocated(few), allocated(many); b > 2*factor*max(a, 4<<10) {
			t.Errorf("%s: %d bytes for %d of text, %d for %d", name, a, len(few), b, len(many))
		}
		grown := 0.0
		for range 20 {
			work(few)
			a := cpu(func() {
				for range 4 {
					work(few)
				}
			}) / 4
			b := cpu(func() { work(many) })
			if grown = b / max(a, 20e-6); grown < 5*factor {
				break
			}
		}
		if grown >= 5*factor {
			t.Errorf("%s: %.0f times the work for %d times the text", name, grown, factor)
		}
	}
}

// allocated returns how many bytes the parser allocates for a text.
func allocated(text string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work(text)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func ExampleDocument_Links() {
	d, err := markdown.Parse([]byte("See [the docs][1].\n\n[1]: https://example.org/docs"), 0, -1)
	if err != nil {
		panic(err)
	}
	links, err := d.Links()
	if err != nil {
		panic(err)
	}
	text, _ := value.AppendJSON(nil, links)
	fmt.Println(string(text))
	// Output: [{"text":"the docs","url":"https://example.org/docs"}]
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(page), 0, -1)
	for _, text := range hostile {
		f.Add([]byte(text(100)), 1, 3)
	}
	f.Fuzz(func(t *testing.T, source []byte, from, to int) {
		d, err := markdown.Parse(source, from, to)
		if err != nil {
			return
		}
		for _, ask := range []func() ([]byte, error){d.Tree, d.Text, d.Links, d.Images} {
			v, err := ask()
			if err != nil {
				return
			}
			if err := value.Check(v); err != nil {
				t.Fatalf("%q: %x: %v", source, v, err)
			}
		}
	})
}

package markdown_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/internal/markdown"
)

func index(t testing.TB, source string) *markdown.Index {
	t.Helper()
	var x markdown.Index
	for _, line := range strings.Split(source, "\n") {
		if err := x.Add([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	return &x
}

const guide = `---
title: x
# no heading
---
# One

## Two ##
text
` + "```go" + `
# no heading
` + "```" + `
### Three
##Four
## Five
  ~~~~ text
~~~
` + "```" + `
# no heading
   ~~~~~
# Six
#
#	Seven
` + "``` js\n"

func TestHeadings(t *testing.T) {
	x := index(t, guide)
	if got, want := text(t, x.Headings(0), nil), `[{"depth":1,"text":"One","startLine":4,"endLine":18},{"depth":2,"text":"Two ##","startLine":6,"endLine":12},`+
		`{"depth":3,"text":"Three","startLine":11,"endLine":12},{"depth":2,"text":"Five","startLine":13,"endLine":18},{"depth":1,"text":"Six","startLine":19,"endLine":20},`+
		`{"depth":1,"text":"Seven","startLine":21,"endLine":23}]`; got != want {
		t.Errorf("headings are %s, want %s", got, want)
	}
	if got, want := text(t, x.Headings(3), nil), `[{"depth":3,"text":"Three","startLine":11,"endLine":12}]`; got != want {
		t.Errorf("headings of depth 3 are %s, want %s", got, want)
	}
	if got, want := text(t, x.Sections(2), nil), `[{"depth":2,"heading":"Two ##","headingLine":6,"bodyStartLine":7,"bodyEndLine":12},`+
		`{"depth":2,"heading":"Five","headingLine":13,"bodyStartLine":14,"bodyEndLine":18}]`; got != want {
		t.Errorf("sections of depth 2 are %s, want %s", got, want)
	}
}

func TestCodeBlocks(t *testing.T) {
	x := index(t, guide)
	all := []string{`{"lang":"go","startLine":8,"endLine":10}`, `{"lang":null,"startLine":14,"endLine":18}`, `{"lang":null,"startLine":22,"endLine":23}`}
	if got, want := text(t, x.CodeBlocks("", false), nil), "["+strings.Join(all, ",")+"]"; got != want {
		t.Errorf("code blocks are %s, want %s", got, want)
	}
	if got, want := text(t, x.CodeBlocks("go", true), nil), "["+all[0]+"]"; got != want {
		t.Errorf("code blocks in go are %s, want %s", got, want)
	}
	if got, want := text(t, x.CodeBlocks("", true), nil), "["+all[1]+","+all[2]+"]"; got != want {
		t.Errorf("code blocks without a language are %s, want %s", got, want)
	}
	if got := text(t, x.CodeBlocks("rust", true), nil); got != "[]" {
		t.Errorf("code blocks in rust are %s", got)
	}
}

func TestFrontMatter(t *testing.T) {
	for source, want := range map[string]string{
		guide:                     "title: x\n# no heading",
		"---\n---":                "",
		"--- \r\na: 1\r\n---\r\n": "a: 1\r",
		"---\na":                  "none",
		"\n---\na\n---":           "none",
		"a\n---\n---":             "none",
		"":                        "none",
		"---\n" + strings.Repeat("a\n", 198) + "---": strings.TrimSuffix(strings.Repeat("a\n", 198), "\n"),
		"---\n" + strings.Repeat("a\n", 199) + "---": "none",
	} {
		got, ok := index(t, source).FrontMatter()
		if ok != (want != "none") || ok && string(got) != want {
			t.Errorf("%.20q: %q, %v, want %q", source, got, ok, want)
		}
	}
	// Unclosed front matter is text.
	if got, want := text(t, index(t, "---\n# a\n```").Headings(0), nil), `[{"depth":1,"text":"a","startLine":1,"endLine":2}]`; got != want {
		t.Errorf("headings are %s, want %s", got, want)
	}
	if got := text(t, index(t, "---\n"+strings.Repeat("# a\n", 300)).Headings(0), nil); strings.Count(got, "depth") != 300 {
		t.Errorf("%d headings", strings.Count(got, "depth"))
	}
}

func TestIndexIsBounded(t *testing.T) {
	var x markdown.Index
	var err error
	for n := 0; err == nil && n < 2*markdown.MaxNodes; n++ {
		err = x.Add([]byte("# a"))
	}
	if !errors.Is(err, markdown.ErrTooLarge) {
		t.Error(err)
	}
	var empty markdown.Index
	if got := text(t, empty.Headings(0), nil) + text(t, empty.CodeBlocks("", false), nil); got != "[][]" {
		t.Errorf("an empty text has %s", got)
	}
}

func ExampleIndex() {
	var x markdown.Index
	for _, line := range []string{"# Guide", "", "## Use", "```sh", "make", "```"} {
		if err := x.Add([]byte(line)); err != nil {
			panic(err)
		}
	}
	sections, _ := value.AppendJSON(nil, x.Sections(2))
	fmt.Println(string(sections))
	// Output: [{"depth":2,"heading":"Use","headingLine":2,"bodyStartLine":3,"bodyEndLine":5}]
}

func FuzzIndex(f *testing.F) {
	f.Add(guide)
	f.Add(page)
	f.Fuzz(func(t *testing.T, source string) {
		x := index(t, source)
		for _, v := range [][]byte{x.Headings(0), x.Sections(1), x.CodeBlocks("", true)} {
			if err := value.Check(v); err != nil {
				t.Fatalf("%q: %x: %v", source, v, err)
			}
		}
		lines := strings.Count(source, "\n") + 1
		last := -1
		_ = value.EachItem(x.Headings(0), func(_ int, h []byte) bool {
			v, _ := value.Get(h, "startLine")
			start, _ := value.Int(v)
			v, _ = value.Get(h, "endLine")
			end, _ := value.Int(v)
			if int(start) <= last || end < start || int(end) >= lines {
				t.Fatalf("%q: a section from %d to %d", source, start, end)
			}
			last = int(start)
			return true
		})
	})
}

// A byte order mark is not part of the text.
func TestByteOrderMark(t *testing.T) {
	const heading = `[{"depth":1,"text":"One","startLine":0,"endLine":0}]`
	if got, _ := value.AppendJSON(nil, index(t, "\ufeff# One").Headings(0)); string(got) != heading {
		t.Errorf("%s", got)
	}
	if text, ok := index(t, "\ufeff---\ntitle: x\n---\n").FrontMatter(); !ok || string(text) != "title: x" {
		t.Errorf("%q, %v", text, ok)
	}
	for source, want := range map[string]string{"\ufeff# One": `"heading"`, "\ufeff---\ntitle: x\n---\n": `"yaml"`} {
		d, err := markdown.Parse([]byte(source), 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		tree, _ := d.Tree()
		if got, _ := value.AppendJSON(nil, tree); !strings.Contains(string(got), want) {
			t.Errorf("%q: %s", source, got)
		}
	}
}

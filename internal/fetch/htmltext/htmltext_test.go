package htmltext

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func text(page string) string {
	return string(Append([]byte("before|"), []byte(page), 1<<20, func(ref string) string {
		if strings.HasPrefix(ref, "#") {
			return ""
		}
		return "https://h/" + ref
	}))[len("before|"):]
}

func TestAppend(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"", ""},
		{"plain", "plain"},
		{"  a \n b<b>c</b> <i>d</i>e  ", "a bc de"},
		{"<!DOCTYPE html><html><head><title> The\npage </title><style>p{}</style></head><body><p>One<p>Two</body>", "Title: The page\n\nOne\n\nTwo"},
		{"<h1>A</h1>text<h3>B <em>c</em></h3><p>x", "# A\n\ntext\n\n### B c\n\nx"},
		{"a<br>b<br/><br>c<br><br><br>d", "a\nb\n\nc\n\nd"},
		{"<div>a</div><div><div>b</div></div>c", "a\nb\nc"},
		{"<ul><li>a<li>b<ul><li>c</ul><li></ul>d<ol><li>x</li><li>y</li></ol>", "- a\n- b\n  - c\n\nd\n\n1. x\n2. y"},
		{"<li>loose", "- loose"},
		{"<table><tr><th>a<th>b</tr><tr><td>1</td><td> </td><td>3</td></tr></table>", "a | b\n1 | | 3"},
		{
			`see <a href="x?a=1&amp;b">the  page</a>, <a href='#y'>not</a> <a>none</a> <a href=z><div>block</div><p>two</a>`,
			"see [the page](https://h/x?a=1&b), not none\n[block two](https://h/z)",
		},
		{`<a href="x"></a><a href="y"><img alt="a picture" src=p></a> <img alt=""><img>end`, "[a picture](https://h/y) end"},
		{`<a href="x">one<a href="y">two`, "[one](https://h/x)[two](https://h/y)"},
		{"<pre>\n a\n\n  b &lt;\n</pre>c", "```\n a\n\n  b <\n```\n\nc"},
		{"<pre></pre>c<pre><code>x</code></pre>", "c\n\n```\nx\n```"},
		{"<script>if (a < b && c</b) '<p>'</script>x<SCRIPT src=y></script >y<style></style>z", "xyz"},
		{"<script>never ends <p>x", "never ends\n\nx"},
		{"<svg/>a<svg><text>b</text></svg>c<noscript><p>d</noscript>", "ac"},
		{"a<!-- <p>no -- --> b<!-->c<![CDATA[d]]><?x?>e", "a bce"},
		{"a<!-- never ends", "a"},
		{`<p title="a > b" data-x='"' y=">z">text</p>`, "text"},
		{"<p unterminated", ""},
		{"1 < 2 <3 <> </> & &amp; &lt;p&gt;", "1 < 2 <3 <> </> & & <p>"},
		{"caf&eacute; &Agrave;&yuml;&hellip;&#233;&#xE9;&#xe9 &nbsp;&#160;&copy;&unknown;&#0;&#x110000;&#;&;", "café Àÿ…éé&#xe9 ©&unknown;\uFFFD\uFFFD&#;&;"},
		{"&amp;lt; &amp amp;", "&lt; &amp amp;"},
		{"<ul><li><p>a</p><p>b</p><li><div>c</div></ul>", "- a\n\nb\n\n- c"},
		{strings.Repeat("<ul><li>", 40) + "x", strings.Repeat("  ", 15) + "- x"},
		{"</ul></li></pre></td>x", "x"},
	} {
		if got := text(c.page); got != c.want {
			t.Errorf("%q:\n%q, want\n%q", c.page, got, c.want)
		}
	}
	if got := string(Append(nil, []byte("<a href=x>y</a>"), 100, nil)); got != "y" {
		t.Error(got)
	}
}

// What references grow to does not add up.
func TestLimit(t *testing.T) {
	page := bytes.Repeat([]byte("<a href=x>y</a>"), 10_000)
	long := strings.Repeat("x", 1000)
	if n := len(Append(nil, page, 5000, func(string) string { return long })); n < 5000 || n > 8000 {
		t.Errorf("%d bytes", n)
	}
}

// Pages that are made to take long do not.
func TestLinear(t *testing.T) {
	const size = 1 << 20
	for _, part := range []string{
		"<script>", "<svg><", "<a href='", "<!--", "&", "&#", "<pre>", "<ul><li>", "</", "<p a=\"", "<style></styl", "<td>", "<", "<a href=x>", "\n",
	} {
		page := bytes.Repeat([]byte(part), size/len(part))
		begun := time.Now()
		Append(nil, page, 1<<30, func(ref string) string { return "x" })
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%q: %v", part, took)
		}
	}
}

func FuzzAppend(f *testing.F) {
	for _, s := range []string{
		"<p>a<ul><li>b</ul><pre>\nc</pre><a href=x>d</a>", "<script></script><!-- -->&amp;&#1;", "<table><tr><td>a<td>b", "<a href=\"x><p 'y",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		out := Append([]byte("x"), page, 1<<20, func(string) string { return "y" })
		if out[0] != 'x' && len(page) > 0 {
			t.Errorf("%q", out)
		}
		if utf8.Valid(page) && !utf8.Valid(out) {
			t.Errorf("%q gives %q", page, out)
		}
		if len(out) > 64*(len(page)+2) {
			t.Errorf("%d bytes give %d", len(page), len(out))
		}
	})
}

package fetch

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/fetch/address"
	"github.com/turncore/turncore/runtime/fault"
)

func TestFetchOptions(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{`{"allow":["https://a.example"]}`, ""},
		{`{"allow":["https://a.example/x/"],"methods":["POST"],"maxBytes":1,"maxInline":0,"cut":true,"timeoutMs":600000,"redirects":20}`, ""},
		{``, "`allow` is required"},
		{`[]`, "`allow` is required"},
		{`{"allow":[]}`, "`allow` must be a list of non-empty strings, at least one"},
		{`{"allow":"https://a.example"}`, "`allow` must be a list"},
		{`{"allow":["https://a.example",""]}`, "`allow` must be a list"},
		{`{"allow":["*"]}`, "`allow` has *: an address begins with http:// or https://"},
		{`{"allow":["https://a.example/?q"]}`, "`allow` has https://a.example/?q: a rule has no query"},
		{`{"allow":["https://a.example"],"methods":["get"]}`, "`methods` must be some of GET, HEAD, DELETE, POST, PUT, PATCH"},
		{`{"allow":["https://a.example"],"methods":[]}`, "`methods` must be a list"},
		{`{"allow":["https://a.example"],"maxBytes":0}`, "`maxBytes` must be a whole number from 1 to 8388608"},
		{`{"allow":["https://a.example"],"maxInline":-1}`, "`maxInline` must be a whole number from 0 to 1048576"},
		{`{"allow":["https://a.example"],"timeoutMs":"1"}`, "`timeoutMs` must be a whole number from 1 to 600000"},
		{`{"allow":["https://a.example"],"redirects":21}`, "`redirects` must be a whole number from 0 to 20"},
		{`{"allow":["https://a.example"],"cut":1}`, "`cut` must be a boolean"},
		{`{"allow":["https://a.example"],"alow":1}`, "`alow` is not a known option; did you mean `allow`?"},
		{`{"allow":["https://a.example"],"maxByte":1}`, "`maxByte` is not a known option; did you mean `maxBytes`?"},
		{`{"allow":["x"],"cut":1}`, "https://; `cut` must"},
	} {
		var options []byte
		if c.options != "" {
			options, _ = value.FromJSON(nil, []byte(c.options))
		}
		_, err := New(options)
		switch {
		case c.want == "" && err != nil, c.want != "" && (!fault.Is(err, fault.InvalidInitialToolValue) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", c.options, err, c.want)
		}
	}
}

func TestPageText(t *testing.T) {
	at, _ := address.Parse("https://a.example/x/y")
	long := strings.Repeat("x", maxLink)
	for _, c := range []struct{ contentType, body, want string }{
		{"text/plain", "caf\xc3\xa9 \xff", "café \uFFFD"},
		{"text/plain; charset=\"UTF-8\"; x=y", "\ufeffé", "é"},
		{"text/plain; charset=ISO-8859-1", "caf\xe9 \x80\x9f", "café €Ÿ"},
		{"text/plain; charset=latin1", "\ufeffé", "é"},
		{"text/plain; charset=shift_jis", "x", "problem  in a character set that is not known: shift_jis"},
		{"text/plain; charset=shift_jis", "", "problem  in a character set that is not known: shift_jis"},
		{"Application/JSON", `{"a":1}`, `{"a":1}`},
		{"application/vnd.api+json", `{}`, `{}`},
		{"image/svg+xml", "<svg/>", "<svg/>"},
		{"application/x-yaml", "a: 1", "a: 1"},
		{"application/pdf", "%PDF", "problem , not text"},
		{"application/pdf", "", ""},
		{"application/x", "x", "problem , not text"},
		{"application/octet-stream", "x", "problem , not text"},
		{"json", "x", "problem , not text"},
		{"text/html", `<a href="../z?q#f">z</a><a href="#top">top</a> <a href="mailto:x">m</a><a href="/` + long + `">l</a>`, "[z](https://a.example/z?q)top ml"},
		{"application/xhtml+xml; charset=iso-8859-1", "<p>caf\xe9</p>", "café"},
		{"", "plain \xc3", "plain \uFFFD"},
		{"", "  <!DOCTYPE html><p>x", "x"},
		{"", "a\x00b", "problem , not text"},
		{"", "\xff\xfe\xff\xfe", "problem , not text"},
	} {
		p := page{headers: [][2]string{{"content-type", c.contentType}}, body: []byte(c.body)}
		text, problem := p.text(at, 1<<20)
		got := string(text)
		if problem != "" {
			got = "problem " + problem
		}
		if got != c.want {
			t.Errorf("%s %.20q: %.100q, want %q", c.contentType, c.body, got, c.want)
		}
	}
}

func TestWhole(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"abc", "abc"},
		{"é", "é"},
		{"aé"[:2], "a"},
		{"€"[:2], ""},
		{"x😀"[:4], "x"},
		{"x😀", "x😀"},
		{"\x80\x80\x80", "\x80\x80\x80"},
	} {
		if got := string(whole([]byte(c.text))); got != c.want {
			t.Errorf("%q: %q", c.text, got)
		}
	}
}

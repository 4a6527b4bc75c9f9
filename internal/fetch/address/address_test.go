package address

import (
	"net/url"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"https://example.com", "https://example.com/"},
		{" HTTPS://Example.COM:443/a b?c d#e \n", "https://example.com/a%20b?c%20d"},
		{"http://example.com:80?x", "http://example.com/?x"},
		{"http://example.com:443/", "http://example.com:443/"},
		{"http://example.com:/", "http://example.com/"},
		{"http://example.com:0080/", "http://example.com/"},
		{"http://[::1]:8080/x", "http://[::1]:8080/x"},
		{"http://127.0.0.1/x", "http://127.0.0.1/x"},
		{"https://a_b.example/~x/@y:z;p=1,2", "https://a_b.example/~x/@y:z;p=1,2"},
		{"https://example.com/wiki/Café", "https://example.com/wiki/Caf%C3%A9"},
		{"https://example.com/%zz%4", "https://example.com/%25zz%254"},
		{"https://example.com/a'[|]?q='[a]\\", "https://example.com/a'%5B%7C%5D?q=%27%5Ba%5D%5C"},
		{"https://example.com/a/./b/../c/%2e%2E/d/.", "https://example.com/a/d/"},
		{"https://example.com/../../x/..", "https://example.com/"},
		{"https://example.com//a//../b", "https://example.com//a/b"},
		{"https://example.com/.../a..b/..c", "https://example.com/.../a..b/..c"},
		{"https://example.com/?a=/../b", "https://example.com/?a=/../b"},

		{"", "begins with"},
		{"example.com/x", "begins with"},
		{"//example.com/x", "begins with"},
		{"ftp://example.com/", "begins with"},
		{"javascript://example.com/%0Aalert(1)", "begins with"},
		{"https:/example.com/", "begins with"},
		{"https:///x", "the host"},
		{"https://user@example.com/", "user name"},
		{"https://example.com:pass@evil.example/", "the port"},
		{"https://exämple.com/", "the host"},
		{"https://ex%61mple.com/", "the host"},
		{"https://example.com\\@evil.example/", "user name"},
		{"https://example.com\\.evil.example/", "the host"},
		{"https://.example.com/", "the host"},
		{"https://a..example.com/", "the host"},
		{"https://[::1/", "the host"},
		{"https://[x]/", "the host"},
		{"https://example.com:65536/", "the port"},
		{"https://example.com:-1/", "the port"},
		{"https://example.com:8 0/", "the port"},
		{"https://example.com/a\\b", "backslashes"},
		{"https://example.com/a\tb", "control characters"},
		{"https://example.com/a?\x00", "control characters"},
	} {
		a, err := Parse(c.text)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, want %s", c.text, err, c.want)
			}
			continue
		}
		if a.String() != c.want {
			t.Errorf("%q: %s, want %s", c.text, a, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	base, _ := Parse("https://example.com/a/b/c?d")
	for _, c := range []struct{ ref, want string }{
		{"", "https://example.com/a/b/c?d"},
		{"#f", "https://example.com/a/b/c?d"},
		{"?x", "https://example.com/a/b/c?x"},
		{"?", "https://example.com/a/b/c?"},
		{"x", "https://example.com/a/b/x"},
		{"../x", "https://example.com/a/x"},
		{"./", "https://example.com/a/b/"},
		{"..", "https://example.com/a/"},
		{"../../../x", "https://example.com/x"},
		{" /x?y#z ", "https://example.com/x?y"},
		{"//other.example/x", "https://other.example/x"},
		{"http://other.example", "http://other.example/"},
		{"x:y", "begins with"},
		{"mailto:a@b", "begins with"},
		{"1:y", "https://example.com/a/b/1:y"},
		{"./x:y", "https://example.com/a/b/x:y"},
		{"https:x", "begins with"},
		{"\\\\other.example/x", "backslashes"},
		{"/\\other.example/x", "backslashes"},
	} {
		a, err := base.Resolve(c.ref)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, want %s", c.ref, err, c.want)
			}
			continue
		}
		if a.String() != c.want {
			t.Errorf("%q: %s, want %s", c.ref, a, c.want)
		}
	}
}

func TestRule(t *testing.T) {
	for _, c := range []struct{ rule, address, want string }{
		{"https://example.com", "https://example.com/any?thing", "yes"},
		{"https://EXAMPLE.com:443/", "https://example.com/", "yes"},
		{"https://example.com", "http://example.com/", "no"},
		{"https://example.com", "https://example.com:8443/", "no"},
		{"https://example.com", "https://example.com.evil.example/", "no"},
		{"https://example.com", "https://sub.example.com/", "no"},
		{"https://example.com", "https://example.com/a%2fb", "yes"},
		{"https://example.com/docs", "https://example.com/docs", "yes"},
		{"https://example.com/docs", "https://example.com/docs?x", "yes"},
		{"https://example.com/docs", "https://example.com/docs/a", "yes"},
		{"https://example.com/docs", "https://example.com/docs2", "no"},
		{"https://example.com/docs", "https://example.com/", "no"},
		{"https://example.com/docs", "https://example.com/docs/../secret", "no"},
		{"https://example.com/docs", "https://example.com/docs/%2e%2E/secret", "no"},
		{"https://example.com/docs", "https://example.com/docs/..%2fsecret", "no"},
		{"https://example.com/docs", "https://example.com/docs/..%5Csecret", "no"},
		{"https://example.com/docs", "https://example.com/docs/..;a=b/secret", "no"},
		{"https://example.com/docs", "https://example.com/docs/..%3Ba=b/secret", "no"},
		{"https://example.com/docs", "https://example.com/docs/%2e%2E%3b/secret", "no"},
		{"https://example.com/docs", "https://example.com/docs/a;b=c/d", "yes"},
		{"https://example.com/docs", "https://example.com/docs/a%3Bb", "yes"},
		{"https://example.com/docs/", "https://example.com/docs/a", "yes"},
		{"https://example.com/docs/", "https://example.com/docs", "no"},
		{"example.com", "", "begins with"},
		{"*", "", "begins with"},
		{"https://*.example.com", "", "the host"},
		{"https://example.com/?", "", "no query"},
		{"https://example.com/?a", "", "no query"},
		{"https://example.com/#", "", "no query"},
		{"https://example.com/a%2Fb", "", "escaped slashes"},
	} {
		r, err := ParseRule(c.rule)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, want %s", c.rule, err, c.want)
			}
			continue
		}
		a, err := Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		if got := map[bool]string{true: "yes", false: "no"}[r.Allows(a)]; got != c.want {
			t.Errorf("%s allows %s: %s, want %s", c.rule, c.address, got, c.want)
		}
	}
}

// What Parse takes is an address to the standard library too, the same one, and reading it again changes nothing.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"https://example.com/a/../b?c#d", "http://[::1]:80/%2e", "https://a/b", "//x", "https://h/\xff?\xfe"} {
		f.Add("https://example.com/x/", s)
	}
	f.Fuzz(func(t *testing.T, base, ref string) {
		a, err := Parse(base)
		if err != nil {
			return
		}
		for _, text := range []string{"", ref} {
			b, err := a.Resolve(text)
			if err != nil {
				return
			}
			again, err := Parse(b.String())
			if err != nil || again.String() != b.String() {
				t.Errorf("%q: %q, %v", b, again, err)
			}
			u, err := url.Parse(b.String())
			if err != nil {
				if strings.Contains(b.text[:b.path], "://[") {
					return // not every text in brackets is an IP address
				}
				t.Fatal(err)
			}
			if u.String() != b.String() || u.Scheme+"://"+u.Host != b.text[:b.path] || u.EscapedPath() != b.text[b.path:b.query] {
				t.Errorf("%q is %q to net/url", b, u)
			}
			if strings.Contains(b.text[b.path:b.query]+"/", "/../") || strings.Contains(b.text[b.path:b.query]+"/", "/./") {
				t.Errorf("%q has dots", b)
			}
		}
	})
}

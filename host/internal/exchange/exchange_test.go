package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/model"
)

// httpVectors is abi/testdata/http.json.
type httpVectors struct {
	Allowed     []string
	Credentials map[string]struct {
		Header, Value string
		Origins       []string
	}
	Vectors []struct {
		Name    string
		Request struct {
			Method, URL, Body, Credential string
			Headers                       [][]string
			Redirect                      uint8
			Redirects                     uint32
		}
		Responses []struct {
			Status  int
			Headers [][]string
			Body    []string
		}
		Sent    []sentRequest
		Status  int
		Headers [][]string
		Body    string
		Error   string
	}
}

// sentRequest is a request as it left the host.
type sentRequest struct {
	Method, URL, Body string
	Headers           [][]string
}

func (s sentRequest) String() string {
	text, _ := json.Marshal(s)
	return string(text)
}

// transport answers as a function says.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// pieces is a body that comes in given parts.
type pieces struct{ parts []string }

func (p *pieces) Read(dst []byte) (int, error) {
	if len(p.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(dst, p.parts[0])
	if p.parts[0] = p.parts[0][n:]; p.parts[0] == "" {
		p.parts = p.parts[1:]
	}
	return n, nil
}

func (*pieces) Close() error { return nil }

// What a host makes of HTTPArgs is the same in all languages.
func TestHTTPVectors(t *testing.T) {
	text, err := os.ReadFile("../../../abi/testdata/http.json")
	if err != nil {
		t.Fatal(err)
	}
	var all httpVectors
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	credentials := map[string]model.Credential{}
	for name, c := range all.Credentials {
		credentials[name] = model.Credential{Header: c.Header, Value: c.Value, Origins: c.Origins}
	}
	for _, v := range all.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			var sent []sentRequest
			allow := func(origin string) bool {
				return slices.ContainsFunc(all.Allowed, func(o string) bool { return Origin(o) == origin })
			}
			client := Client{
				Credentials: credentials,
				Transport: transport(func(req *http.Request) (*http.Response, error) {
					body, _ := io.ReadAll(req.Body)
					one := sentRequest{Method: req.Method, URL: strings.ToLower(strings.Replace(req.URL.String(), ":443", "", 1)), Body: string(body)}
					one.Headers = headers(req.Header, nil)
					sent = append(sent, one)
					if len(sent) > len(v.Responses) {
						return nil, errors.New("no response is left")
					}
					r := v.Responses[len(sent)-1]
					head := http.Header{}
					for _, pair := range r.Headers {
						head.Add(pair[0], pair[1])
					}
					return &http.Response{StatusCode: r.Status, Header: head, Body: &pieces{slices.Clone(r.Body)}, Request: req}, nil
				}),
			}
			got := struct {
				status  int
				headers [][]string
				body    string
				code    string
			}{}
			in := v.Request
			args := &abi.HTTPArgs{
				Method: in.Method, URL: in.URL, Headers: in.Headers, Credential: in.Credential, Redirect: in.Redirect, Redirects: in.Redirects,
			}
			if in.Body != "" {
				args.Body = abi.Bytes([]byte(in.Body))
			}
			err := client.Do(context.Background(), args, nil, allow, 64, func(c *abi.Chunk) bool {
				if c.Status != 0 {
					got.status, got.headers = int(c.Status), c.Headers
				}
				data, _ := abi.BytesOf(c.Data)
				got.body += string(data)
				return true
			})
			var coded *host.Error
			if errors.As(err, &coded) {
				got.code = string(coded.Code)
			}
			if !slices.EqualFunc(sent, v.Sent, func(a, b sentRequest) bool { return a.String() == b.String() }) {
				t.Errorf("sent %v\nwant %v", sent, v.Sent)
			}
			if got.code != v.Error || got.status != v.Status || got.body != v.Body ||
				!slices.EqualFunc(got.headers, v.Headers, func(a, b []string) bool { return slices.Equal(a, b) }) {
				t.Errorf("%+v (%v)", got, err)
			}
		})
	}
}

// Text that a failure is told with does not hold the secret.
func TestTransportErrorHidesSecret(t *testing.T) {
	const key = "sk-0123456789abcdef"
	client := Client{
		Credentials: map[string]model.Credential{"key": model.Bearer(key, "https://api.test")},
		Transport: transport(func(req *http.Request) (*http.Response, error) {
			return nil, errors.Join(errors.New("cannot send"), errors.New("authorization: "+req.Header.Get("Authorization")))
		}),
	}
	err := client.Do(context.Background(), &abi.HTTPArgs{Method: "GET", URL: "https://api.test/", Credential: "key"}, nil, func(string) bool { return true }, 64, nil)
	text := ""
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		text += inner.Error() + "\n"
	}
	if !errors.Is(err, host.CodeHTTPTransport) || strings.Contains(text, key) || !strings.Contains(text, redacted) {
		t.Errorf("%s", text)
	}
}

// escaped writes a secret as JSON may write it, within so many strings of JSON.
var escaped = map[string]func(secret string) string{
	"as it is": func(s string) string { return s },
	"every character": func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "\\u%04x", c)
		}
		return b.String()
	},
	"the first one": func(s string) string { return fmt.Sprintf("\\u%04X", s[0]) + s[1:] },
	"slashes":       func(s string) string { return strings.ReplaceAll(s, "/", `\/`) },
	"JSON within JSON": func(s string) string {
		return strings.ReplaceAll(fmt.Sprintf("\\u%04x", s[0])+s[1:], `\`, `\\\\`)
	},
}

// The secret does not come back through the escapes of JSON, however a body is cut.
func TestRedactorKnowsEscapes(t *testing.T) {
	for _, secret := range []string{"sk-0123/456+789", "u0u0u0u0", `abc\defgh`, `abc\\defgh`, "sk-é12345"} {
		for name, escape := range escaped {
			if strings.Contains(secret, "é") && name == "every character" {
				continue // is not looked for
			}
			text := escape(secret)
			if strings.Contains(secret, `\`) && name == "as it is" {
				text = strings.ReplaceAll(text, `\`, `\\`)
			}
			body := `{"a":"\n` + text + `\u00e9","b":"` + text + `"}`
			want := `{"a":"\n` + redacted + `\u00e9","b":"` + redacted + `"}`
			for size := 1; size <= len(body); size++ {
				r := newRedactor("Bearer " + secret)
				var got []byte
				for part := range slices.Chunk([]byte(body), size) {
					got = append(got, r.write(part)...)
				}
				if got = append(got, r.rest()...); string(got) != want {
					t.Fatalf("%s, %s, %d bytes at once: %s", secret, name, size, got)
				}
			}
		}
	}
	for _, text := range []string{`sk-\u012`, `\\\\\\`, `sk-0123\u002`, `\u0073\u006b`} {
		r := newRedactor("sk-0123/456")
		if got := string(r.write([]byte(text))) + string(r.rest()); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// A secret with a space is looked for as a whole, and what follows the space as well: the first word may be a scheme.
func TestRedactorOfSpaces(t *testing.T) {
	for _, c := range []struct{ value, body, want string }{
		{"correct-horse-battery x1", "a correct-horse-battery x1 b", "a [redacted] b"},
		{"correct-horse battery-staple", "correct-horse battery-staple", "[redacted]"},
		{"correct-horse battery-staple", "a battery-staple b", "a [redacted] b"},
		{"Key 0123456789", `{"key":"0123456789","all":"Key 0123456789"}`, `{"key":"[redacted]","all":"[redacted]"}`},
		{"Bearer 0123456789", "Bearer 0123456789", "Bearer [redacted]"},
		{"basic 0123456789", "basic 0123456789", "basic [redacted]"},
	} {
		if got := newRedactor(c.value).text(c.body); got != c.want {
			t.Errorf("%s: %s, want %s", c.value, got, c.want)
		}
		for size := 1; size <= len(c.body); size++ {
			r := newRedactor(c.value)
			var got []byte
			for part := range slices.Chunk([]byte(c.body), size) {
				got = append(got, r.write(part)...)
			}
			if got = append(got, r.rest()...); string(got) != c.want {
				t.Errorf("%s, %d bytes at once: %s, want %s", c.value, size, got, c.want)
			}
		}
	}
}

// However a body is cut, the same bytes go on, and no part of them with what came before is the secret.
func TestRedactor(t *testing.T) {
	for _, secret := range []string{"aaaaaaaa", "abababab", "abcabcabd", "sk-0123456789"} {
		body := "x" + strings.Repeat("a", 20) + secret + secret[1:] + "ab" + secret[:len(secret)-1] + secret + "abcabcabcabd" + secret[:3]
		whole := newRedactor(secret)
		want := string(whole.write([]byte(body))) + string(whole.rest())
		if want != strings.ReplaceAll(body, secret, redacted) {
			t.Errorf("%s: %s", secret, want)
		}
		for size := 1; size < len(body); size++ {
			r := newRedactor("Bearer " + secret)
			var got []byte
			for part := range slices.Chunk([]byte(body), size) {
				got = append(got, r.write(part)...)
			}
			if got = append(got, r.rest()...); string(got) != want {
				t.Fatalf("%s, %d bytes at once: %s, want %s", secret, size, got, want)
			}
		}
	}
	for _, value := range []string{"", "Bearer", "Bearer 1234567", "1234567"} {
		if newRedactor(value) != nil {
			t.Errorf("%q is looked for", value)
		}
	}
}

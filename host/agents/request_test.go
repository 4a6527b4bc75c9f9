package agents

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/exchange"
	"github.com/turncore/turncore/host/turns"
)

// sender sends requests as a module with a grant would have them sent.
func sender(t *testing.T, m *Manifest, options Options) func(args abi.HTTPArgs) (body string, err error) {
	t.Helper()
	g, err := options.granted(m)
	if err != nil {
		t.Fatal(err)
	}
	client := exchange.Client{Transport: g.host.HTTP, Credentials: g.host.Credentials, Route: g.guard.Route}
	return func(args abi.HTTPArgs) (string, error) {
		var b strings.Builder
		args.Body, args.Redirect = abi.Bytes([]byte(args.Body)), abi.RedirectFollow
		err := client.Do(context.Background(), &args, nil, g.host.AllowOrigin, 1<<16, func(c *abi.Chunk) bool {
			data, err := abi.BytesOf(c.Data)
			b.Write(data)
			return err == nil
		})
		return b.String(), err
	}
}

var plain = &Manifest{Name: "a", Version: "1.0.0"}

func TestRequestsOfAgent(t *testing.T) {
	var last *http.Request
	var aside atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { aside.Add(1) }))
	defer elsewhere.Close()
	second := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { last = r }))
	defer second.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last = r
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, elsewhere.URL+"/x", http.StatusFound)
		case "/second":
			http.Redirect(w, r, second.URL+"/x", http.StatusTemporaryRedirect)
		case "/file":
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(http.StatusFound)
		case "/user":
			w.Header().Set("Location", strings.Replace(first(r), "http://", "http://u:p@", 1))
			w.WriteHeader(http.StatusFound)
		}
		w.Write([]byte("the secret is opensesame, you know")) //nolint:errcheck // a test's answer
	}))
	defer first.Close()
	send := sender(t, plain, Options{
		Grant: &Grant{
			Agent: "a", HTTP: &GrantHTTP{Origins: []string{first.URL, second.URL}, PrivateAddresses: true},
			Credentials: []GrantCredential{
				{Name: "key", Origins: []string{first.URL}, From: Secret{Env: "X"}},
				{Name: "other", Origins: []string{second.URL}, Header: "x-key", From: Secret{Env: "X"}},
			},
		},
		Secret: func(GrantCredential) (string, error) { return "opensesame", nil },
	})
	for _, c := range []struct {
		name string
		args abi.HTTPArgs
		code host.Code // "" if it goes through
	}{
		{"granted", abi.HTTPArgs{Method: "GET", URL: first.URL}, ""},
		{"with its credential", abi.HTTPArgs{Method: "GET", URL: first.URL, Credential: "key"}, ""},
		{"another origin", abi.HTTPArgs{Method: "GET", URL: elsewhere.URL}, host.CodeHTTPNotAllowed},
		{"a credential for another origin", abi.HTTPArgs{Method: "GET", URL: second.URL, Credential: "key"}, host.CodeCredentialUnknown},
		{"an unknown credential", abi.HTTPArgs{Method: "GET", URL: first.URL, Credential: "none"}, host.CodeCredentialUnknown},
		{"a redirect away", abi.HTTPArgs{Method: "GET", URL: first.URL + "/away", Redirects: 5}, host.CodeHTTPNotAllowed},
		{"a redirect to a granted origin", abi.HTTPArgs{Method: "GET", URL: first.URL + "/second", Redirects: 5, Credential: "key"}, ""},
		{"a redirect to a file", abi.HTTPArgs{Method: "GET", URL: first.URL + "/file", Redirects: 5}, host.CodeHTTPNotAllowed},
		{"a redirect with a password", abi.HTTPArgs{Method: "GET", URL: first.URL + "/user", Redirects: 5}, host.CodeHTTPNotAllowed},
		{"a file", abi.HTTPArgs{Method: "GET", URL: "file:///etc/passwd"}, host.CodeHTTPNotAllowed},
		{"a password", abi.HTTPArgs{Method: "GET", URL: strings.Replace(first.URL, "http://", "http://u:p@", 1)}, host.CodeHTTPNotAllowed},
		{"an origin as a user", abi.HTTPArgs{Method: "GET", URL: first.URL + "@" + strings.TrimPrefix(elsewhere.URL, "http://")}, host.CodeHTTPNotAllowed},
	} {
		t.Run(c.name, func(t *testing.T) {
			last = nil
			body, err := send(c.args)
			if c.code == "" && err != nil || c.code != "" && !errors.Is(err, c.code) {
				t.Fatalf("the error is %v, want %q", err, c.code)
			}
			if c.code == host.CodeCredentialUnknown && last != nil {
				t.Error("a request went out")
			}
			if strings.Contains(body, "opensesame") && c.args.Credential != "" {
				t.Errorf("the secret came back: %s", body)
			}
			switch key := ""; c.name {
			case "with its credential":
				key = "Bearer opensesame"
				fallthrough
			case "granted", "a redirect to a granted origin":
				if got := last.Header.Get("authorization"); got != key {
					t.Errorf("the header is %q, want %q", got, key)
				}
			}
		})
	}
	if n := aside.Load(); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

// first is the address of the server that a request came to.
func first(r *http.Request) string { return "http://" + r.Host }

// names answers every question for an address of IPv4 with the next of a list, the last one again and again.
func names(t *testing.T, addresses ...[4]byte) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		buf := make([]byte, 512)
		asked := 0
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			end := 12
			for end < n && buf[end] != 0 {
				end += int(buf[end]) + 1
			}
			question := append([]byte(nil), buf[12:end+5]...)
			answer := append(append([]byte(nil), buf[:2]...), 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0)
			answer = append(answer, question...)
			if binary.BigEndian.Uint16(question[len(question)-4:]) == 1 { // an address of IPv4
				answer[7] = 1
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				a := addresses[min(asked, len(addresses)-1)]
				answer = append(answer, a[:]...)
				asked++
			}
			server.WriteTo(answer, from) //nolint:errcheck // the question is asked again
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func TestDialledAddresses(t *testing.T) {
	var reached atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	get := func(tr *http.Transport) error {
		send := sender(t, plain, Options{
			Grant: &Grant{Agent: "a", HTTP: &GrantHTTP{Origins: []string{"http://service.example:" + port}}},
			Host:  turns.HostOptions{HTTP: tr},
		})
		_, err := send(abi.HTTPArgs{Method: "GET", URL: "http://service.example:" + port})
		return err
	}
	for _, address := range [][4]byte{{127, 0, 0, 1}, {169, 254, 169, 254}, {10, 0, 0, 1}, {0, 0, 0, 0}, {192, 168, 0, 1}} {
		if err := get(transport(false, names(t, address))); !errors.Is(err, host.CodeHTTPNotAllowed) || !strings.Contains(err.Error(), "is private") {
			t.Errorf("%v: the error is %v", address, err)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
	// The name is resolved once for each connection, and it is that address which is looked at: what the name stands for
	// at another time does not matter.
	if err := get(transport(true, names(t, [4]byte{127, 0, 0, 1}))); err != nil || reached.Load() != 1 {
		t.Errorf("with private addresses granted: %v, %d requests arrived", err, reached.Load())
	}
	rebinding := transport(false, names(t, [4]byte{127, 0, 0, 1}, [4]byte{127, 0, 0, 1}))
	for range 3 {
		if err := get(rebinding); !errors.Is(err, host.CodeHTTPNotAllowed) {
			t.Errorf("the error is %v", err)
		}
	}
	if n := reached.Load(); n != 1 {
		t.Errorf("%d requests arrived", n)
	}
}

func TestRequestsToModel(t *testing.T) {
	var auth []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth = append(auth, r.URL.Path+" "+r.Header.Get("authorization"))
		if r.URL.Path == "/v1/responses" {
			http.Redirect(w, r, "/v1/files", http.StatusTemporaryRedirect)
		}
	}))
	defer server.Close()
	send := sender(t, &Manifest{Name: "a", Version: "1.0.0", Asks: Asks{Models: []Ask{{Name: "small"}}}}, Options{
		Grant: &Grant{Agent: "a", Models: map[string]string{"small": "openai/gpt-4o-mini"}},
		Model: func(provider, name string) (turns.Model, error) {
			return turns.Model{Name: name, BaseURL: server.URL + "/v1", APIKey: "opensesame"}, nil
		},
	})
	for _, c := range []struct {
		name, path, body, credential string
		ok                           bool
	}{
		{"an answer", "/v1/chat/completions", `{"model":"gpt-4o-mini","messages":[]}`, "model small", true},
		{"another model", "/v1/chat/completions", `{"model":"gpt-9"}`, "model small", false},
		{"two models", "/v1/chat/completions", `{"model":"gpt-4o-mini","model":"gpt-9"}`, "model small", false},
		{"two models, one in capitals", "/v1/chat/completions", `{"model":"gpt-4o-mini","MODEL":"gpt-9"}`, "model small", false},
		{"no model", "/v1/chat/completions", `{}`, "model small", false},
		{"no object", "/v1/chat/completions", `["model","gpt-4o-mini"]`, "model small", false},
		{"another path", "/v1/files", `{"model":"gpt-4o-mini"}`, "model small", false},
		{"a path around", "/v1/chat/../files", `{"model":"gpt-4o-mini"}`, "model small", false},
		{"an escaped path", "/v1/chat%2fcompletions", `{"model":"gpt-4o-mini"}`, "model small", false},
		{"a path beside the base", "/v2/chat/completions", `{"model":"gpt-4o-mini"}`, "model small", false},
		{"without the key", "/v1/chat/completions", `{"model":"gpt-4o-mini"}`, "", false},
		{"a redirect to another path", "/v1/responses", `{"model":"gpt-4o-mini"}`, "model small", false},
		{"another model in the path", "/v1/models/gpt-9:generateContent", `{}`, "model small", false},
		{"the model in the path", "/v1/models/gpt-4o-mini:streamGenerateContent?alt=sse", `{}`, "model small", true},
	} {
		_, err := send(abi.HTTPArgs{Method: "POST", URL: server.URL + c.path, Body: abi.Raw(c.body), Credential: c.credential, Redirects: 3})
		if c.ok != (err == nil) || !c.ok && !errors.Is(err, host.CodeHTTPNotAllowed) {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
	want := "/v1/chat/completions Bearer opensesame,/v1/responses Bearer opensesame,/v1/models/gpt-4o-mini:streamGenerateContent Bearer opensesame"
	if got := strings.Join(auth, ","); got != want {
		t.Errorf("the server was asked\n%s\nwant\n%s", got, want)
	}
}

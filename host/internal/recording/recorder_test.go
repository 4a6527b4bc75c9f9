package recording

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const planted = "sk-planted/0123456789"

// proxied starts a recorder in front of a provider, and returns its address and what it tells.
func proxied(t *testing.T, provider http.HandlerFunc, change func(*RecorderOptions)) (r *Recorder, address string, told func() string) {
	t.Helper()
	api := httptest.NewServer(provider)
	t.Cleanup(api.Close)
	target, err := url.Parse(api.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var lines []string
	o := RecorderOptions{Name: "n", Target: target, Told: func(line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}}
	if change != nil {
		change(&o)
	}
	r = NewRecorder(o)
	web := httptest.NewServer(r)
	t.Cleanup(web.Close)
	return r, web.URL, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(lines, "\n")
	}
}

func TestRecorderTakesKeysOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	r, address, told := proxied(t, func(w http.ResponseWriter, in *http.Request) {
		if in.Header.Get("Authorization") != "Bearer "+planted || in.URL.Query().Get("key") != "query-planted" {
			t.Errorf("the provider got %v, %v", in.Header, in.URL)
		}
		if in.Header.Get("Accept-Encoding") != "" {
			t.Errorf("it may compress: %v", in.Header)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Set-Cookie", "a=b")
		_, _ = io.WriteString(w, `data: {"error":"no key `+planted+` or sk-planted\/0123456789, query-planted"}`+"\n\n")
	}, func(o *RecorderOptions) {
		o.Secrets = []string{"a secret of the program's"}
		o.Saved = func(r *Recording) error { return r.Save(path) }
	})
	request, err := http.NewRequest(http.MethodPost, address+"/v1/chat/completions?key=query-planted&a=1", strings.NewReader(`{"model":"m","note":"`+planted+`","other":"a secret of the program's"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+planted)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(body), planted) {
		t.Errorf("what is passed on is not what came: %q, %v", body, err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{planted, "query-planted", "program's", "sk-planted"} {
		if strings.Contains(string(text)+told(), secret) {
			t.Errorf("%s is told: %s\n%s", secret, text, told())
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	again, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Interactions[0]; !strings.HasSuffix(got.Request.URL, "/v1/chat/completions?a=1") || got.Response.Status != 200 || got.Response.ContentType != "text/event-stream" || !strings.HasPrefix(got.Response.Body, `data: {"error":"no key REDACTED or REDACTED`) {
		t.Errorf("%+v", got)
	}
	if n := len(r.Recording().Interactions); n != 1 {
		t.Errorf("%d interactions", n)
	}
}

func TestRecorderAddsItsKeyOnThisMachineOnly(t *testing.T) {
	for _, c := range []struct {
		name, header, value, host string
		want                      string
	}{
		{name: "no key", want: planted},
		{name: "a key of its own", header: "X-Api-Key", value: "another key", want: "another key"},
		{name: "a page that is allowed", header: "Origin", value: "http://localhost:5173", want: planted},
		{name: "another page of this machine", header: "Origin", value: "http://localhost:5174"},
		{name: "the same over TLS", header: "Origin", value: "https://localhost:5173"},
		{name: "a page of another site", header: "Origin", value: "https://evil.example"},
		{name: "a page in a sandbox", header: "Origin", value: "null"},
		{name: "another name of this machine", host: "evil.example"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got string
			_, address, _ := proxied(t, func(_ http.ResponseWriter, in *http.Request) { got = in.Header.Get("X-Api-Key") }, func(o *RecorderOptions) {
				o.Key.Header, o.Key.Value = "X-Api-Key", planted
				o.Origins = []string{"http://localhost:5173"}
			})
			request, err := http.NewRequest(http.MethodPost, address+"/v1/messages", strings.NewReader(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			if c.header != "" {
				request.Header.Set(c.header, c.value)
			}
			request.Host = c.host
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
			if got != c.want {
				t.Errorf("the provider got %q, not %q", got, c.want)
			}
		})
	}
}

func TestRecorderPassesOnWhatItDoesNotRecord(t *testing.T) {
	r, address, told := proxied(t, func(w http.ResponseWriter, in *http.Request) {
		switch in.URL.Path {
		case "/v1/redirect":
			w.Header().Set("Location", "https://elsewhere.example/")
			w.WriteHeader(http.StatusFound)
		case "/v1/binary":
			_, _ = w.Write([]byte{0xff, 0xfe})
		case "/v1/broken":
			_, _ = io.WriteString(w, "data: half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		default:
			_, _ = io.WriteString(w, "ok")
		}
	}, nil)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, path, body string) (status int, text string, err error) {
		request, err := http.NewRequest(method, address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		all, err := io.ReadAll(response.Body)
		return response.StatusCode, string(all), err
	}
	if status, text, err := ask(http.MethodGet, "/v1/models", ""); status != 200 || text != "ok" || err != nil {
		t.Errorf("%d %q %v", status, text, err)
	}
	if status, text, err := ask(http.MethodPost, "/v1/binary", "{}"); status != 200 || text != "\xff\xfe" || err != nil {
		t.Errorf("%d %q %v", status, text, err)
	}
	if _, text, err := ask(http.MethodPost, "/v1/broken", "{}"); err == nil || text != "data: half" {
		t.Errorf("a response that broke off came as %q, %v", text, err)
	}
	if n := len(r.Recording().Interactions); n != 0 {
		t.Errorf("%d interactions", n)
	}
	if status, _, err := ask(http.MethodPost, "/v1/redirect", "{}"); status != http.StatusFound || err != nil {
		t.Errorf("%d %v", status, err)
	}
	for _, want := range []string{"GET /v1/models: 200, 2 bytes; not recorded, as it is no POST", "not text in UTF-8", "broke off", "POST /v1/redirect: 302"} {
		if !strings.Contains(told(), want) {
			t.Errorf("%q is not told:\n%s", want, told())
		}
	}
	if n := len(r.Recording().Interactions); n != 1 {
		t.Errorf("%d interactions", n)
	}
}

func TestRecorderKeepsTheOrderOfRequests(t *testing.T) {
	release := make(chan struct{})
	first := make(chan struct{})
	r, address, _ := proxied(t, func(w http.ResponseWriter, in *http.Request) {
		body, _ := io.ReadAll(in.Body)
		if strings.Contains(string(body), "1") {
			close(first)
			<-release
		}
		_, _ = w.Write(body)
	}, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		post(t, address+"/v1/chat/completions", `{"n":1}`)
	}()
	<-first
	post(t, address+"/v1/chat/completions", `{"n":2}`)
	close(release)
	<-done
	got := r.Recording().Interactions
	if len(got) != 2 || string(got[0].Request.Body) != `{"n":1}` || got[1].Response.Body != `{"n":2}` {
		t.Errorf("%+v", got)
	}
}

func TestRecorderWithoutTarget(t *testing.T) {
	r, address, told := proxied(t, nil, func(o *RecorderOptions) {
		o.Transport = failing{}
		o.Saved = func(*Recording) error { return errors.New("no room") }
		o.Key.Header, o.Key.Value = "Authorization", "Bearer "+planted
	})
	response, body := post(t, address+"/v1/chat/completions", `{}`)
	if response.StatusCode != http.StatusBadGateway || !strings.Contains(body, "no route") || strings.Contains(body+told(), planted) {
		t.Errorf("%d %q %s", response.StatusCode, body, told())
	}
	if n := len(r.Recording().Interactions); n != 0 {
		t.Errorf("%d interactions", n)
	}
}

type failing struct{}

func (failing) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, errors.New("no route with " + r.Header.Get("Authorization"))
}

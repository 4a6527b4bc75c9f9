package turntest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/simulated"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
)

// served is a transport that a handler answers.
type served struct{ http.Handler }

func (s served) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// answering is a provider that gives one answer.
func answering(contentType, body string) served {
	return served{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	})}
}

// send sends a request through a transport and returns the answer.
func send(t *testing.T, transport http.RoundTripper, method, address, body string, header ...string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return fmt.Sprint(response.StatusCode, " ", response.Header.Get("Content-Type"), " ", string(text)), err
}

// A turn with a tool is recorded from a server and replayed without it, with another key and in other pieces.
func TestReplayOfATurn(t *testing.T) {
	const key = "sk-planted-0123456789"
	path := filepath.Join(t.TempDir(), "traffic.json")
	server := httptest.NewServer(&simulated.Provider{})
	defer server.Close()
	turn := func(f turntest.T, key string) string {
		h := turntest.Host(f, turns.HostOptions{
			HTTP:        turntest.Replay(f, path),
			Credentials: map[string]model.Credential{"model": model.OpenAI.Key(key, server.URL)},
		})
		_, result := play(f, turns.Config{Host: h, Model: turns.Model{Name: "m", BaseURL: server.URL + "/v1", APIKey: key}}, "The weather in Oslo, please.")
		if result.Err != nil {
			f.Errorf("%v", result.Err)
		}
		return result.Text
	}
	var first, again string
	updating(t, "true", func() { says(t, reported(func(f *fakeT) { first = turn(f, key) })) })
	server.Close()
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "planted") || strings.Count(string(text), `"method"`) != 2 {
		t.Fatalf("%v, the file has\n%s", err, text)
	}
	updating(t, "false", func() { says(t, reported(func(f *fakeT) { again = turn(f, "none") })) })
	if first == "" || first != again || !strings.Contains(first, "4 degrees in Oslo") {
		t.Errorf("the turn said %q, and %q from the file", first, again)
	}
}

func TestRecordTakesSecretsOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	secrets := []string{
		"sk-header/0123456789", "goog-header-key", "anthropic-header-key", "query-parameter-key", "body-member-key", "token-of-the-answer",
		"the program's own \"secret\"", "basic-secret", "cookie=secret",
	}
	provider := served{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("X-Api-Key") != secrets[2] || r.URL.Query().Get("key") != secrets[3] || !strings.Contains(string(body), secrets[4]) {
			t.Errorf("the provider was sent %v %v %s, %v", r.URL, r.Header, body, err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "session=secret-session")
		_, _ = fmt.Fprintf(w, `{"access_token": %q, "echo": [%q, "sk-header\/0123456789", %q, %q], "text": "said"}`,
			secrets[5], secrets[0], url.QueryEscape(secrets[0]), secrets[3])
	})}
	var answer string
	report := reported(func(f *fakeT) {
		r := turntest.Record(f, path, turntest.TrafficOptions{Secrets: secrets[6:7], Transport: provider})
		for range 2 {
			var err error
			answer, err = send(t, r, "POST", "https://user:pw@api.example/v1?alt=sse&key="+secrets[3], // user and password go, too
				`{"model": "m", "extra": {"api_key": "`+secrets[4]+`", "password": "short"}, "prompt": "my key is `+secrets[4]+`, the program's own \"secret\", token-of-the-answer"}`,
				"Authorization", "Bearer "+secrets[0], "X-Goog-Api-Key", secrets[1], "X-Api-Key", secrets[2], "Cookie", secrets[8],
				"Proxy-Authorization", "Basic "+secrets[7])
			if err != nil {
				t.Error(err)
			}
		}
	})
	says(t, report)
	if !strings.Contains(answer, secrets[0]) || !strings.Contains(answer, secrets[5]) {
		t.Errorf("the program was given %s", answer)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(secrets, "session", "sk-header", `"short"`, "user:pw", "the program") {
		if strings.Contains(string(text), s) {
			t.Errorf("%q is in the file", s)
		}
	}
	says(t, string(text), `"origin": "api.example"`, `"url": "https://api.example/v1?alt=sse"`, `"api_key": "REDACTED"`, `"password": "REDACTED"`,
		`my key is REDACTED, REDACTED, REDACTED`, `\"text\":\"said\"`)

	// The same request with other keys, or none, is the same.
	updating(t, "false", func() {
		says(t, reported(func(f *fakeT) {
			r := turntest.Replay(f, path, turntest.TrafficOptions{Secrets: secrets[6:7]})
			for _, key := range []string{"another-key-of-mine", "x"} {
				_, err := send(t, r, "POST", "https://api.example/v1?key="+key+"&alt=sse",
					`{"prompt": "my key is REDACTED, the program's own \"secret\", REDACTED", "extra": {"password": "", "api_key": "`+key+`"}, "model": "m"}`,
					"Authorization", "Bearer "+key)
				if err != nil {
					f.Errorf("%v", err)
				}
			}
		}))
	})
}

// recorded makes a file of requests with bodies.
func recorded(t *testing.T, bodies ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "folder", "r.json")
	says(t, reported(func(f *fakeT) {
		r := turntest.Record(f, path, turntest.TrafficOptions{Transport: answering("text/plain", "Said.")})
		for _, body := range bodies {
			method := http.MethodPost
			if body == "" {
				method = http.MethodGet
			}
			if _, err := send(t, r, method, "https://api.example/v1", body); err != nil {
				t.Error(err)
			}
		}
	}))
	return path
}

func TestReplayFailsOnWhatIsNotRecorded(t *testing.T) {
	updating(t, "false")
	path := recorded(t, `{"model": "m", "messages": [{"role": "user", "content": "Hello, my friend!"}], "stream": true}`, `{"other": 1}`, "")
	var failure error
	report := reported(func(f *fakeT) {
		r := turntest.Replay(f, path)
		for _, body := range []string{"", `{"other": 1}`} {
			method := http.MethodPost
			if body == "" {
				method = http.MethodGet
			}
			if got, err := send(t, r, method, "https://api.example/v1", body); err != nil || got != "200 text/plain Said." {
				t.Error(got, err)
			}
		}
		_, failure = send(t, r, "POST", "https://api.example/v2", `{"stream":true,"messages":[{"content":"Hello, my fiend!","role":"user"}],"temperature":0.5,"model":"m"}`)
		if _, err := send(t, r, "POST", "https://api.example/v1", `{"stream":true,"messages":[{"content":"Hello, my friend!","role":"user"}],"model":"m","x":null}`); err != nil {
			t.Error(err)
		}
		if _, err := send(t, r, "POST", "https://api.example/v1", `{"other": 1}`); err == nil {
			t.Error("an answer was given twice")
		}
	})
	says(t, report, path+" has no request like POST https://api.example/v2", "from the nearest one, number 1, it differs in:",
		"\n  address: got https://api.example/v2, want https://api.example/v1",
		"\n  /messages/0/content: got \"Hello, my fiend!\", want \"Hello, my friend!\"",
		"\n  /temperature: got 0.5, want nothing\nIf the request is right, go test -update records it.",
		"no request like POST https://api.example/v1: all recorded requests were sent already")
	var unrecorded *turntest.UnrecordedError
	if !errors.As(failure, &unrecorded) || unrecorded.Nearest != 1 || len(unrecorded.Differences) != 3 || unrecorded.File != path {
		t.Errorf("%+v", failure)
	}
}

func TestReplayFailsOnWhatIsNotSent(t *testing.T) {
	updating(t, "false")
	path := recorded(t, `{"n": 1}`, `{"n": 2}`, `{"n": 3}`)
	says(t, reported(func(f *fakeT) {
		if _, err := send(t, turntest.Replay(f, path), "POST", "https://api.example/v1", `{"n": 2}`); err != nil {
			t.Error(err)
		}
	}), path+" has 2 requests that the test did not send (go test -update records it anew):",
		"number 1: POST https://api.example/v1", `{"n":1}`, "number 3:", `{"n":3}`)
}

// A turn with a request that is not recorded ends at once, with the reason.
func TestTurnOfUnrecordedRequest(t *testing.T) {
	updating(t, "false")
	path := recorded(t, `{"n": 1}`)
	report := reported(func(f *fakeT) {
		h := turntest.Host(f, turns.HostOptions{HTTP: turntest.Replay(f, path)})
		_, result := play(f, turns.Config{Host: h, Model: turns.Model{Name: "m", BaseURL: "https://api.example/v1"}}, "Hi!")
		var unrecorded *turntest.UnrecordedError
		if !errors.As(result.Err, &unrecorded) || !errors.Is(result.Err, host.CodeHTTPNotAllowed) {
			f.Errorf("the turn ended with %v", result.Err)
		}
	})
	says(t, report, "no request like POST https://api.example/v1/chat/completions", "/model: got \"m\", want nothing", "/n: got nothing, want 1", "has 1 request that")
	if strings.Count(report, "no request like") != 1 {
		t.Errorf("it was repeated:\n%s", report)
	}
}

func TestReplayOfBadFiles(t *testing.T) {
	updating(t, "false")
	folder := t.TempDir()
	bad := filepath.Join(folder, "bad.json")
	if err := os.WriteFile(bad, []byte(`{"interactions": [{"request": {}, "response": {"status": 99}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(folder, "none.json"): "there is no " + filepath.Join(folder, "none.json") + ": go test -update records it",
		bad:                                "interactions[0].response.status must be a whole number",
	} {
		says(t, reported(func(f *fakeT) { turntest.Replay(f, path) }), "fatal: turntest: ", want)
	}
}

func TestRecordFailsOnWhatAFileCannotHold(t *testing.T) {
	broken := errors.New("broken by planted-key-0123")
	for name, c := range map[string]struct {
		transport http.RoundTripper
		body      string
		want      string
	}{
		"no answer": {fails{broken}, `{}`, "broken by REDACTED"},
		"breaks off": {roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(io.MultiReader(strings.NewReader("a"), failing{broken}))}, nil
		}), `{}`, "broken by REDACTED"},
		"no text": {answering("image/png", "\x89PNG"), `{}`, "its answer is no text in UTF-8"},
		"no JSON": {answering("text/plain", "x"), `a=b`, "its body is no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.json")
			says(t, reported(func(f *fakeT) {
				r := turntest.Record(f, path, turntest.TrafficOptions{Transport: c.transport})
				_, _ = send(t, r, "POST", "https://api.example/v1", c.body, "Authorization", "Bearer planted-key-0123")
			}), path+" cannot hold POST https://api.example/v1: "+c.want, "nothing was said that "+path+" could hold")
			if _, err := os.Stat(path); err == nil {
				t.Error("there is a file")
			}
		})
	}
	path := filepath.Join(t.TempDir(), "r.json")
	says(t, reported(func(f *fakeT) { turntest.Record(f, path) }), "nothing was said that "+path+" could hold")
	says(t, reported(func(f *fakeT) {
		r, err := http.NewRequestWithContext(context.Background(), "GET", "https://api.example/v1", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := turntest.Record(f, path, turntest.TrafficOptions{Transport: answering("text/plain", "Said.")}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response // nobody closes it
	}), "cannot hold GET https://api.example/v1: its answer was not read to the end")
}

type fails struct{ err error }

func (f fails) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

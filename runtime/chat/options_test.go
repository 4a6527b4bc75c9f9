package chat

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/value"
)

func encoded(t testing.TB, text string) []byte {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestOptions(t *testing.T) {
	o, err := parseOptions(encoded(t, `{
		"model": "m", "baseURL": "https://user@gw.example:8443/v1/?api-version=2", "credential": "main", "seed": 7, "temperature": 0.5,
		"tool_choice": "auto", "idleTimeoutMs": 0, "requestTimeoutMs": 9, "thoughts": "reasoning_content", "reasoningFields": ["think"],
		"headers": {"X-Title": "t", "Accept": "*/*"}, "body": {"provider": {"only": ["xai"]}, "transforms": ["middle-out"]},
		"toolExtras": {"get": {"strict": true}}, "max_tokens": null
	}`))
	if err != nil {
		t.Fatal(err)
	}
	if o.url != "https://user@gw.example:8443/v1/chat/completions?api-version=2" || o.provider != "gw.example" {
		t.Errorf("url %q, provider %q", o.url, o.provider)
	}
	if want := `"model":"m","seed":7,"temperature":0.5,"provider":{"only":["xai"]},"transforms":["middle-out"],"stream":true,"stream_options":{"include_usage":true}`; string(o.members) != want {
		t.Errorf("members %s, want %s", o.members, want)
	}
	if string(o.toolMembers) != `,"tool_choice":"auto"` || string(o.extras["get"]) != `,"strict":true` {
		t.Errorf("tool members %s, extras %s", o.toolMembers, o.extras)
	}
	if o.idleTimeout != 0 || o.requestTimeout != 9 || !o.thoughts || len(o.reasoning) != 1 || o.reasoning[0] != "think" || o.credential != "main" {
		t.Errorf("options %+v", o)
	}
	want := [][2]string{{"x-title", "t"}, {"accept", "*/*"}, {"content-type", "application/json"}}
	for i, h := range o.headers {
		if h != want[i] {
			t.Errorf("header %q, want %q", h, want[i])
		}
	}
}

func TestProviderHasNoPort(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:8080/v1": "127.0.0.1", "http://[::1]:8080": "[::1]", "http://[::1]/v1": "[::1]", "https://a.example": "a.example",
	} {
		o, err := parseOptions(encoded(t, `{"model": "m", "baseURL": "`+url+`"}`))
		if err != nil || o.provider != want {
			t.Errorf("%s: provider %q, want %q, %v", url, o.provider, want, err)
		}
	}
}

func TestOptionDefaults(t *testing.T) {
	o, err := parseOptions(encoded(t, `{"model": "m"}`))
	if err != nil {
		t.Fatal(err)
	}
	if o.url != "https://api.openai.com/v1/chat/completions" || !o.stream || o.idleTimeout != 60_000 || o.requestTimeout != 0 || o.provider != "api.openai.com" {
		t.Errorf("options %+v", o)
	}
	o, err = parseOptions(encoded(t, `{"model": "m", "stream": false}`))
	if err != nil {
		t.Fatal(err)
	}
	if string(o.members) != `"model":"m"` || o.headers[0] != [2]string{"accept", "application/json"} {
		t.Errorf("members %s, headers %q", o.members, o.headers)
	}
	o, err = parseOptions(encoded(t, `{"model": "m", "stream_options": {"x": 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	if string(o.members) != `"model":"m","stream_options":{"x":1},"stream":true` {
		t.Errorf("members %s", o.members)
	}
}

func TestOptionErrors(t *testing.T) {
	tests := []struct {
		options string
		want    []string
	}{
		{`null`, []string{"`model` is required"}},
		{`[]`, []string{"must be an object"}},
		{
			`{"model": "", "baseURL": "ftp://x", "credential": 1, "stream": 1, "idleTimeoutMs": -1, "thoughts": "on", "temperature": 3, "top_p": "x", "stop": 1, "n": 2, "max_tokens": 0, "foo": 1}`,
			[]string{
				"`model` must be a non-empty string", "`credential` must be", "`stream` must be a boolean", "`idleTimeoutMs` must be a number of milliseconds",
				"`thoughts` must be one of", "`temperature` must be between 0 and 2", "`top_p` must be a number", "`stop` must be a string or a list", "`n` must be 1",
				"`max_tokens` must be at least 1", "`foo` is not a known option", "`baseURL` must be an http or https URL",
			},
		},
		{
			`{"model": "m", "headers": {"a b": "x", "ok": "a\nb"}, "body": {"messages": [], "n": 2}, "toolExtras": {"t": {"name": "x"}, "u": 1}, "reasoningFields": "x"}`,
			[]string{"`headers` has a name", "`headers.ok` must be", "`body.messages` is set by the executor", "`body.n` must be 1", "`toolExtras.t.name` is set", "`toolExtras.u` must be", "`reasoningFields` must be a list"},
		},
		{`{"model": "m", "seed": 1, "body": {"seed": 2}}`, []string{"`body.seed` is given twice"}},
		{`{"model": "m", "baseURL": "https://"}`, []string{"`baseURL`"}},
		{`{"model": "m", "headers": 1, "body": 1, "toolExtras": 1}`, []string{"`headers` must be an object", "`body` must be an object", "`toolExtras` must be an object"}},
	}
	for _, tt := range tests {
		_, err := parseOptions(encoded(t, tt.options))
		if !errors.Is(err, fault.ChatInvalidOptions) {
			t.Errorf("%s: %v", tt.options, err)
			continue
		}
		rest := err.Error()
		for _, part := range tt.want {
			i := strings.Index(rest, part)
			if i < 0 {
				t.Errorf("%q is not in %q", part, err)
				break
			}
			rest = rest[i:]
		}
	}
	if _, err := parseOptions(encoded(t, `{"model": "m"}`)[:5]); !errors.Is(err, fault.ChatInvalidOptions) {
		t.Errorf("half a map: %v", err)
	}
}

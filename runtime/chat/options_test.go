package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/fault"
)

// sent returns the first request of an executor with options, and how long it waits for the head, for the rest of the
// response, and for the end of a stream that has announced its end. The dispatch has a user's message, and with tools
// the tool get.
func sent(t *testing.T, options string, tool bool) (r *runtime.HTTPRequest, idle []uint64, d *dispatch) {
	t.Helper()
	d = newDispatch(t)
	d.addMessage("user", "hi")
	if tool {
		d.tools = []*runtime.Tool{{Number: 1, Name: "get", InputSchema: fromJSON(t, `{"type":"object"}`)}}
	}
	d.answer = func(given *runtime.HTTPRequest) (runtime.Stream, error) {
		r = given
		r.Body = slices.Clone(given.Body)
		return &waits{Stream: &response{parts: split(sse(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`), 0)}, idle: &idle}, nil
	}
	d.iterate(newExecutor(t, options), 1)
	return r, idle, d
}

// waits records how long a stream waits.
type waits struct {
	runtime.Stream
	idle *[]uint64
}

func (w *waits) Idle(ms uint64) { *w.idle = append(*w.idle, ms) }

func TestOptions(t *testing.T) {
	r, idle, d := sent(t, `{
		"model": "m", "baseURL": "https://user@gw.example:8443/v1/?api-version=2", "credential": "main", "seed": 7, "temperature": 0.5,
		"tool_choice": "auto", "idleTimeoutMs": 0, "requestTimeoutMs": 9, "provider": "openai",
		"headers": {"X-Title": "t", "Accept": "*/*"}, "body": {"provider": {"only": ["xai"]}, "transforms": ["middle-out"]},
		"toolExtras": {"get": {"strict": true}}, "max_tokens": null
	}`, true)
	if r.URL != "https://user@gw.example:8443/v1/chat/completions?api-version=2" || r.Credential != "main" || r.Method != "POST" {
		t.Errorf("request %+v", r)
	}
	if want := `{"model":"m","seed":7,"temperature":0.5,"provider":{"only":["xai"]},"transforms":["middle-out"],"stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"get","description":"","parameters":{"type":"object","properties":{}},"strict":true}}],"tool_choice":"auto","messages":[`; !strings.HasPrefix(string(r.Body), want) {
		t.Errorf("request %s, want %s", r.Body, want)
	}
	if !strings.Contains(d.json(d.stats), `"provider":"gw.example"`) {
		t.Errorf("stats %s", d.json(d.stats))
	}
	if !slices.Equal(idle, []uint64{9, 3_600_000, 1000}) {
		t.Errorf("waits %v", idle)
	}
	want := [][2]string{{"x-title", "t"}, {"accept", "*/*"}, {"content-type", "application/json"}}
	if !slices.Equal(r.Headers, want) {
		t.Errorf("headers %q, want %q", r.Headers, want)
	}
	// Without a tool no member mentions tools.
	if r, _, _ := sent(t, `{"model": "m", "tool_choice": "auto", "toolExtras": {"get": {"strict": true}}}`, false); strings.Contains(string(r.Body), "tool") {
		t.Errorf("request %s", r.Body)
	}
}

func TestEndpointHasNoPort(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:8080/v1": "127.0.0.1", "http://[::1]:8080": "[::1]", "http://[::1]/v1": "[::1]", "https://a.example": "a.example",
	} {
		_, _, d := sent(t, `{"model": "m", "baseURL": "`+url+`"}`, false)
		if !strings.Contains(d.json(d.stats), `"provider":"`+want+`"`) {
			t.Errorf("%s: stats %s, want %q", url, d.json(d.stats), want)
		}
	}
}

func TestOptionDefaults(t *testing.T) {
	r, idle, d := sent(t, `{"model": "m"}`, false)
	if r.URL != "https://api.openai.com/v1/chat/completions" || !slices.Equal(idle, []uint64{600_000, 60_000, 1000}) || !strings.Contains(d.json(d.stats), `"provider":"api.openai.com"`) {
		t.Errorf("request %+v, waits %v, stats %s", r, idle, d.json(d.stats))
	}
	if want := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[`; !strings.HasPrefix(string(r.Body), want) {
		t.Errorf("request %s", r.Body)
	}
	r, _, _ = sent(t, `{"model": "m", "stream": false}`, false)
	if !strings.HasPrefix(string(r.Body), `{"model":"m","messages":[`) || r.Headers[0] != [2]string{"accept", "application/json"} {
		t.Errorf("request %s, headers %q", r.Body, r.Headers)
	}
	r, _, _ = sent(t, `{"model": "m", "stream_options": {"x": 1}}`, false)
	if !strings.HasPrefix(string(r.Body), `{"model":"m","stream_options":{"x":1},"stream":true,"messages":[`) {
		t.Errorf("request %s", r.Body)
	}
	r, _, _ = sent(t, `{"model": "m", "includeUsage": false}`, false)
	if !strings.HasPrefix(string(r.Body), `{"model":"m","stream":true,"messages":[`) {
		t.Errorf("request %s", r.Body)
	}
}

// Bytes are no JSON.
func TestOptionsOfBytes(t *testing.T) {
	for _, name := range []string{"top_p", "stop", "seed"} {
		options := value.AppendString(value.AppendString(value.AppendMapHeader(nil, 2), "model"), "m")
		options = value.AppendBytes(value.AppendString(options, name), []byte{1})
		if _, err := chat.New(options, provider.OpenAI); !errors.Is(err, fault.ChatInvalidOptions) || !strings.Contains(err.Error(), "`"+name+"` must be ") {
			t.Errorf("%s: %v", name, err)
		}
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
			[]string{"`headers` has an invalid header name", "`headers.ok` must be", "`body.messages` is set by the executor", "`body.n` must be 1", "`toolExtras.t.name` is set", "`toolExtras.u` must be", "`reasoningFields` must be a list"},
		},
		{`{"model": "m", "seed": 1, "body": {"seed": 2}}`, []string{"`body.seed` is given twice"}},
		{`{"model": "m", "provider": "other", "x": 1}`, []string{"`provider` must be one of openai", "`x` is not a known option"}},
		{`{"model": "m", "provider": 1}`, []string{"`provider` must be one of openai"}},
		{`{"model": "m", "schema": true, "schemaMode": "x"}`, []string{"`schema` must be a JSON Schema, an object", "`schemaMode` must be one of native, prompt, both"}},
		{`{"model": "m", "schema": {"type": "thing", "items": 1}}`, []string{"`schema` cannot be used: schema: /type"}},
		{`{"model": "m", "baseURL": "https://"}`, []string{"`baseURL`"}},
		{
			`{"model": "m", "media": "image", "maxMediaBytes": -1, "unsupportedMedia": "drop"}`,
			[]string{"`media` must be a list", "`maxMediaBytes` must be a whole number from 0", "`unsupportedMedia` must be one of text, error"},
		},
		{`{"model": "m", "media": ["image", "picture"]}`, []string{"`media` must only contain image, audio, video and document"}},
		{
			`{"model": "m", "thoughts": "loud", "thoughtSurfacing": "none", "replayCompatibility": "x", "bucketOrder": ["memories", "memories"]}`,
			[]string{
				"`thoughts` must be one of off, text, reasoning_content", "`thoughtSurfacing` must be one of all-self, latest-self, all",
				"`replayCompatibility` must be a list", "`bucketOrder` names memories twice", "`bucketOrder` does not name standingInstructions", "`bucketOrder` does not name retrievables",
			},
		},
		{`{"model": "m", "replayCompatibility": ["a", ""], "bucketOrder": {}}`, []string{"`replayCompatibility` must only contain non-empty strings", "`bucketOrder` must be a list"}},
		{`{"model": "m", "bucketOrder": []}`, []string{"`bucketOrder` does not name standingInstructions", "does not name memories", "does not name retrievables"}},
		{
			`{"model": "m", "bucketOrder": ["timeline", "memories"]}`,
			[]string{"`bucketOrder` must have nothing after timeline", "`bucketOrder` does not name standingInstructions"},
		},
		{`{"model": "m", "bucketOrder": ["notes"]}`, []string{"`bucketOrder` must only contain standingInstructions, memories, retrievables and timeline"}},
		{`{"model": "m", "headers": 1, "body": 1, "toolExtras": 1}`, []string{"`headers` must be an object", "`body` must be an object", "`toolExtras` must be an object"}},
	}
	for _, tt := range tests {
		_, err := chat.New(fromJSON(t, tt.options), provider.OpenAI)
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
	if _, err := chat.New(fromJSON(t, `{"model": "m"}`)[:5], provider.OpenAI); !errors.Is(err, fault.ChatInvalidOptions) {
		t.Errorf("half a map: %v", err)
	}
}

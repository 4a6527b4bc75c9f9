package provider_test

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/provider"
)

// A conversation that begins with the assistant's greeting is one that every API takes.
func TestGreetings(t *testing.T) {
	for _, p := range provider.All {
		d := newDispatch(t)
		d.say("assistant", "Hello, how can I help?")
		d.say("user", "hi")
		options := `{"model":"m"}`
		d.play(newExecutor(t, options, p), reply{status: 400})
		body := string(d.requests[0].Body)
		want := ""
		switch p.Protocol().Name {
		case "anthropic":
			want = `"messages":[{"role":"user","content":"."},` +
				`{"role":"assistant","content":[{"type":"text","text":"Hello, how can I help?"}]},` +
				`{"role":"user","content":"hi"}]`
		case "gemini":
			want = `"contents":[{"role":"user","parts":[{"text":"."}]},` +
				`{"role":"model","parts":[{"text":"Hello, how can I help?"}]},{"role":"user","parts":[{"text":"hi"}]}]`
		}
		if !strings.Contains(body, want) || want == "" && strings.Contains(body, `"."`) {
			t.Errorf("%s: %s", p.Protocol().Name, body)
		}
	}
}

// Mistral's API refuses to be asked for token counts, which it gives anyway.
func TestMistralIsNotAskedForUsage(t *testing.T) {
	for base, asks := range map[string]bool{"https://api.mistral.ai/v1": false, "https://api.openai.com/v1": true, "https://mistral.example/v1": true} {
		d := newDispatch(t)
		d.say("user", "hi")
		d.play(newExecutor(t, `{"model":"m","baseURL":"`+base+`"}`, provider.OpenAI), reply{status: 400})
		if got := strings.Contains(string(d.requests[0].Body), "stream_options"); got != asks {
			t.Errorf("%s: %s", base, d.requests[0].Body)
		}
	}
}

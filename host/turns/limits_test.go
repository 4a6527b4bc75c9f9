package turns_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/turns"
)

// With lowered limits an answer crosses in chunks that keep them; a request, or an answer's text, that does not keep them
// ends the turn with a typed error, and the instance goes on.
func TestLoweredLimitsOfTheChatExecutor(t *testing.T) {
	answer := func(text string) hosttest.Response {
		comments := strings.Repeat(": "+strings.Repeat("x", 100)+"\n", 300)
		return hosttest.Response{Body: comments + `data: {"choices":[{"delta":{"content":"` + text + `"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"}
	}
	for _, engine := range hosttest.Engines(t) {
		for name, limits := range map[string]abi.Limits{"string": {String: 8 << 10}, "frame": {Frame: 8 << 10}} {
			t.Run(engine.Name()+"/"+name, func(t *testing.T) {
				provider, err := hosttest.NewProvider(1, answer("short"), answer(strings.Repeat("x", 9<<10)), answer("again"))
				if err != nil {
					t.Fatal(err)
				}
				defer provider.Close() //nolint:errcheck // nothing is read from it any more
				h := turns.NewHost(turns.HostOptions{Engine: engine, Verify: true, Limits: limits})
				defer h.Close(t.Context())
				runner := newRunner(t, turns.TurnRunnerConfig{Chat: &turns.ChatOptions{Model: "m", BaseURL: provider.URL + "/v1"}, Host: h})
				play := func(system, text string, refused bool) {
					t.Helper()
					result, err := runner.Run(t.Context(), turns.TurnInput{SystemPrompt: system, Text: "hi"})
					switch {
					case err != nil:
						t.Errorf("%v", err)
					case refused && !errors.Is(result.Err, host.CodeABILimitExceeded):
						t.Errorf("%+v, want %s", result, host.CodeABILimitExceeded)
					case !refused && (result.Status != turns.Ack || result.Text != text):
						t.Errorf("%+v", result)
					}
				}
				play("test", "short", false)
				play(strings.Repeat("\x01", 2000), "", true) // six bytes each in JSON
				play("test", "", true)
				play("test", "again", false)
				if n := len(provider.Requests()); n != 3 {
					t.Errorf("%d requests", n)
				}
			})
		}
	}
}

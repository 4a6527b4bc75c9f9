package turns_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
)

// With lowered limits an answer crosses in chunks that keep them; a request, or an answer's text, that does not keep
// them ends the turn with a typed error, and the instance goes on.
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
				runner := newRunner(t, turns.TurnRunnerConfig{Chat: &model.ChatOptions{Model: "m", BaseURL: provider.URL + "/v1"}, Host: h})
				play := func(system, text string, refused bool) {
					t.Helper()
					result, err := finished(runner.Run(t.Context(), turns.TurnInput{SystemPrompt: system, Text: "hi"}))
					switch {
					case err != nil:
						t.Errorf("%v", err)
					case refused && !errors.Is(result.Err, host.CodeABILimitExceeded):
						t.Errorf("%+v, want %s", result, host.CodeABILimitExceeded)
					case !refused && (result.Status != event.Ack || result.Text != text):
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

// What an executor passes and no frame can hold is refused with its length and the limit, as in JavaScript; the turn
// goes on.
func TestTooLargeCallSaysHowLarge(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		long := strings.Repeat("x", abi.MaxFrame+1)
		_, result := play(t, h, turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, hs *turns.Helpers) error {
			for what, refused := range map[string]error{
				"a step of 167":   hs.ReportMessage("m", long, true),
				"a record of 167": ctx.StoreMessage(message("m", long)),
			} {
				var e *host.Error
				if !errors.As(refused, &e) || e.Code != host.CodeABILimitExceeded || !strings.Contains(e.Message, what) {
					t.Errorf("%v, want %s", refused, what)
					continue
				}
				details, _ := e.Details.(map[string]any)
				if !strings.Contains(e.Message, fmt.Sprintf("%d bytes is over the limit of %d", details["actual"], details["max"])) || details["limit"] != "frame" {
					t.Errorf("%s, details %v", e.Message, e.Details)
				}
			}
			return ctx.Ack()
		}}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Errorf("%+v", result)
		}
	})
}

// A start that does not fit a frame, or breaks a limit inside of one, names the field that is to blame; the runner goes
// on.
func TestTooLargeStartNamesTheField(t *testing.T) {
	long := strings.Repeat("x", 17<<20)
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			runner := newRunner(t, turns.TurnRunnerConfig{
				Host:     turns.NewHost(turns.HostOptions{Engine: engine, Verify: true}),
				Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() },
			})
			for field, in := range map[string]turns.TurnInput{
				"message":              {SystemPrompt: "s", Text: long},
				"systemPrompt":         {SystemPrompt: long, Text: "hi"},
				"standingInstructions": {SystemPrompt: "s", StandingInstructions: []string{"short", long}},
				"stash":                {SystemPrompt: "s", Stash: map[string]any{"k": []string{long[:9<<20], long[:9<<20]}}},
			} {
				result, err := runner.Run(t.Context(), in)
				var e *host.Error
				if result != nil || !errors.As(err, &e) || e.Code != host.CodeABILimitExceeded {
					t.Errorf("%s: %v, %v", field, result, err)
					continue
				}
				if details, _ := e.Details.(map[string]any); details["field"] != field || !strings.Contains(e.Message, field+" has 1") {
					t.Errorf("%s: %s, %v", field, e.Message, e.Details)
				}
			}
			if result, err := runner.Run(t.Context(), turns.TurnInput{SystemPrompt: "s", Text: "hi"}); err != nil || result.Status != event.Ack {
				t.Errorf("then: %v, %v", result, err)
			}
		})
	}
}

package provider_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// A turn that the API pauses goes on with what the model has said so far, and is an answer when it ends, or has paused
// too often.
func TestPausedTurn(t *testing.T) {
	part := func(text, reason string) reply {
		return reply{body: messages(messageStart, blockStart("0", `{"type":"text","text":""}`),
			blockDelta("0", `{"type":"text_delta","text":"`+text+`"}`), blockStop("0"), stopFor(reason), messageStop)}
	}
	d := newDispatch(t)
	d.say("user", "hi")
	d.play(newExecutor(t, `{"model":"m"}`, provider.Anthropic), part("I search. ", "pause_turn"),
		part("And more.", "pause_turn"), part("Done.", "end_turn"))
	if !d.acked || len(d.requests) != 3 || d.stored(record.Messages) != 4 {
		t.Fatalf("acked %v, nacked by %v, %d requests, %d messages", d.acked, d.nackedBy, len(d.requests),
			d.stored(record.Messages))
	}
	for i, want := range []string{
		`{"role":"user","content":"hi"}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"I search."}]}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"I search."}]},` +
			`{"role":"assistant","content":[{"type":"text","text":"And more."}]}]}`,
	} {
		if body := string(d.requests[i].Body); !strings.HasSuffix(body, want) {
			t.Errorf("request %d does not end in %s:\n%s", i, want, body)
		}
	}

	var parts []reply
	for i := range 12 {
		parts = append(parts, part(fmt.Sprint(i), "pause_turn"))
	}
	d = newDispatch(t)
	d.say("user", "hi")
	d.play(newExecutor(t, `{"model":"m"}`, provider.Anthropic), parts...)
	if !d.acked || len(d.requests) != 11 {
		t.Errorf("acked %v after %d requests", d.acked, len(d.requests))
	}

	d = newDispatch(t)
	d.say("user", "hi")
	d.play(newExecutor(t, `{"model":"m"}`, provider.Anthropic),
		reply{body: messages(messageStart, stopFor("pause_turn"), messageStop)})
	if !errors.Is(d.nackedBy, fault.ChatEmptyResponse) {
		t.Errorf("a pause without a word: %v", d.nackedBy)
	}
}

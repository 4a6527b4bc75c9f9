package provider_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// answers plays one response. It must lead to these events and an ack, or without a code to that error, and then
// nothing is stored.
func answers(t *testing.T, p chat.Provider, reply reply, events []string, code fault.Code, says []string) {
	t.Helper()
	d := newDispatch(t)
	d.say("user", "hi")
	d.play(newExecutor(t, `{"model":"m"}`, p), reply)
	if code == "" {
		if !d.acked || !slices.Equal(d.events, events) {
			t.Errorf("in parts of %d: acked %v, nacked by %v, events %q, want %q", reply.part, d.acked, d.nackedBy,
				d.events, events)
		}
		return
	}
	if !errors.Is(d.nackedBy, code) || d.stored(record.Messages) != 1 || d.stored(record.Thoughts) != 0 {
		t.Errorf("in parts of %d: nacked by %v, want %s; %d messages", reply.part, d.nackedBy, code,
			d.stored(record.Messages))
		return
	}
	for _, words := range says {
		if !strings.Contains(d.nackedBy.Error(), words) {
			t.Errorf("%q does not say %q", d.nackedBy, words)
		}
	}
}

func optionsFail(t *testing.T, p chat.Provider, options, want string) {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(options))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = chat.New(v, p); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %s", options, err, want)
	}
}

// anyBytes plays whatever bytes as a response. The iteration must end in one of the ways it may, and what it stored can
// be sent back.
func anyBytes(t *testing.T, p chat.Provider, body []byte, part uint, ok bool) {
	t.Helper()
	d := newDispatch(t)
	d.say("user", "hi")
	d.offer("get", `{"type":"object"}`, func(args string) (string, error) { return args, nil })
	r := reply{body: string(body), part: int(part % 64)}
	if !ok {
		r.status = 400
	}
	e := newExecutor(t, `{"model":"m"}`, p)
	d.play(e, r)
	if !d.Signalled() && d.stored(record.ToolCalls) == 0 {
		t.Error("neither a signal nor a call")
	}
	if d.Signalled() {
		return
	}
	d.play(e, reply{status: 500})
	for _, sent := range d.requests {
		if !json.Valid(sent.Body) {
			t.Errorf("a request that is not JSON: %s", sent.Body)
		}
	}
}

// streams are answers that come in events, of each provider, with all that it can say.
var streams = []struct {
	provider chat.Provider
	body     string
	end      string // what ends each event
	failure  string // an event that says that the answer failed
}{
	{provider.OpenAI, gatewayTools, "\n\n", messages(`{"error":{"code":502,"message":"Overloaded"}}`)},
	{
		provider.Anthropic, thinkingAndTools, "\n\n",
		messages(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
	},
	{
		provider.Responses, reasoningAndTools, "\n\n",
		messages(`{"type":"error","code":"server_error","message":"Overloaded","param":null}`),
	},
	{provider.Ollama, ollamaTools, "\n", `{"error":"Overloaded"}` + "\n"},
	{
		provider.Gemini, geminiTools, "\r\n\r\n",
		chunks(`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`),
	},
}

// However the bytes of a stream are cut into parts, the same comes of it.
func TestStreamsInParts(t *testing.T) {
	for _, s := range streams {
		var want []string
		for _, part := range []int{0, 1, 2, 3, 5, 17, 40, 100, 1000} {
			d := weatherDispatch(t)
			d.play(newExecutor(t, `{"model":"m"}`, s.provider), reply{body: s.body, part: part})
			if want == nil {
				want = d.events
			}
			if d.Signalled() || d.stored(record.ToolCalls) == 0 || !slices.Equal(d.events, want) {
				t.Errorf("in parts of %d: nacked by %v, events %q, want %q", part, d.nackedBy, d.events, want)
			}
		}
	}
}

// A stream that is cut anywhere before its end is an error, and nothing of it is stored.
func TestStreamsCut(t *testing.T) {
	for _, s := range streams {
		whole := 0
		for n := range len(s.body) {
			d := weatherDispatch(t)
			d.play(newExecutor(t, `{"model":"m"}`, s.provider), reply{body: s.body[:n]})
			switch {
			case d.nackedBy == nil && !d.acked:
				whole++ // the calls have been run
			case whole > 0 || d.acked:
				t.Fatalf("cut at %d of %d: acked %v, nacked by %v", n, len(s.body), d.acked, d.nackedBy)
			case d.stored(record.ToolCalls)+d.stored(record.Thoughts) > 0 || d.stored(record.Messages) > 1:
				t.Fatalf("cut at %d: stored %q", n, d.events)
			case !fault.Is(d.nackedBy, fault.ChatStreamError) && !fault.Is(d.nackedBy, fault.ChatEmptyResponse):
				t.Fatalf("cut at %d: nacked by %v", n, d.nackedBy)
			}
		}
		if whole == 0 || whole > 200 {
			t.Errorf("whole at %d places", whole)
		}
	}
}

// An error may come in the place of any event.
func TestStreamsFail(t *testing.T) {
	for _, s := range streams {
		places := 0
		for at := 0; ; places++ {
			d := weatherDispatch(t)
			d.play(newExecutor(t, `{"model":"m"}`, s.provider), reply{body: s.body[:at] + s.failure + s.body[at:]})
			done := at == len(s.body)
			if !done && (!fault.Is(d.nackedBy, fault.ChatProviderError) || d.stored(record.ToolCalls) > 0) {
				t.Errorf("at %d: nacked by %v, events %q", at, d.nackedBy, d.events)
			}
			next := strings.Index(s.body[at:], s.end)
			if next < 0 {
				break
			}
			at += next + len(s.end)
		}
		if places < 5 {
			t.Errorf("%d places", places)
		}
	}
}

// A request begins as the one before it in the same dispatch: what it adds stands behind that.
func TestRequestsGrow(t *testing.T) {
	for _, s := range streams {
		d := weatherDispatch(t)
		d.play(newExecutor(t, `{"model":"m"}`, s.provider), reply{body: s.body}, reply{status: 500})
		first, ok := strings.CutSuffix(string(d.requests[0].Body), s.provider.Protocol().Close)
		if second := string(d.requests[1].Body); !ok || !strings.HasPrefix(second, first) {
			t.Errorf("%s\nis not the beginning of\n%s", first, second)
		}
	}
}

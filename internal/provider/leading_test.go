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

// inLines is a stream of Ollama's that says a text in pieces of some bytes.
func inLines(text string, size int) reply {
	var body strings.Builder
	for i := 0; i < len(text); i += size {
		piece, _ := json.Marshal(text[i:min(i+size, len(text))])
		body.WriteString(`{"message":{"role":"assistant","content":` + string(piece) + `},"done":false}` + "\n")
	}
	body.WriteString(`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}` + "\n")
	return reply{body: body.String(), mediaType: "application/x-ndjson"}
}

// leadingProviders are those that take reasoning off the beginning of a text, and how their streams say a text.
var leadingProviders = []struct {
	chat.Provider
	says func(text string, size int) reply
}{
	{provider.OpenAI, speaks},
	{openAIInFull, speaks},
	{provider.Ollama, inLines},
}

// What an answer begins with in <think> is a thought, wherever the stream is cut.
func TestReasoningAtTheBeginning(t *testing.T) {
	for _, c := range []struct{ text, message, thought string }{
		{"<think>Hm.</think>Hello.", "Hello.", "Hm."},
		{"\n <think>\nHm. So.\n</think>\n\nHello. ", "Hello. ", "Hm. So."},
		{"<think></think>\n\nHello.", "Hello.", ""},
		{"<think>\n</think>Hello.", "Hello.", ""},
		{"Say <think>Hm.</think>.", "Say <think>Hm.</think>.", ""},
		{"<think>a</think><think>b</think>", "<think>b</think>", "a"},
		{"</think>Hello.", "</think>Hello.", ""},
		{"<think", "<think", ""},
		{" <thin> ", " <thin> ", ""},
	} {
		for _, p := range leadingProviders {
			for _, size := range []int{1, 2, 3, 5, 7, 1000} {
				d := newDispatch(t)
				d.say("user", "hi")
				d.play(newExecutor(t, `{"model":"m"}`, p), p.says(c.text, size))
				thoughts := 0
				if c.thought != "" {
					thoughts = 1
				}
				if !d.acked || shown(d, "message") != c.message || shown(d, "thought") != c.thought || d.stored(record.Thoughts) != thoughts || d.stored(record.Messages) != 2 {
					t.Errorf("%q in pieces of %d: nacked by %v, %q", c.text, size, d.nackedBy, d.events)
				}
			}
		}
	}
}

// Of the stream nothing is held back that cannot be a part of a tag, and a thought comes as it is written.
func TestThoughtsAtTheBeginningStream(t *testing.T) {
	d := newDispatch(t)
	d.say("user", "hi")
	d.play(newExecutor(t, `{"model":"m"}`, provider.OpenAI), speaks("<think>abcdef</think>ghijklmnopqrst", 7))
	want := []string{
		"thought t1 abcdef", "message m2 ghijklm", "message m2 nopqrst", "thought t1 |", "store t1",
		"message m2 |", "store m2",
	}
	if !slices.Equal(d.events, want) {
		t.Errorf("%q, want %q", d.events, want)
	}
}

// An answer in one piece, or with parts as its content, is read in the same way.
func TestReasoningAtTheBeginningOfOnePiece(t *testing.T) {
	for _, body := range []string{
		`{"choices":[{"message":{"role":"assistant","content":"<think>Hm.</think>\n\nHello."},` +
			`"finish_reason":"stop"}]}`,
		`{"choices":[{"message":{"role":"assistant","content":[{"type":"text","text":"<think>Hm.</thi"},` +
			`{"type":"text","text":"nk>Hello."}]},"finish_reason":"stop"}]}`,
	} {
		for _, p := range []chat.Provider{provider.OpenAI, openAIInFull} {
			d := newDispatch(t)
			d.say("user", "hi")
			d.play(newExecutor(t, `{"model":"m","stream":false}`, p), reply{body: body, mediaType: "application/json"})
			if !d.acked || shown(d, "message") != "Hello." || shown(d, "thought") != "Hm." || d.stored(record.Thoughts) != 1 {
				t.Errorf("nacked by %v, %q", d.nackedBy, d.events)
			}
		}
	}
}

// Calls follow a thought as they do without one, and the next answer begins anew. Neither answer goes back with its
// thought.
func TestCallsBehindReasoning(t *testing.T) {
	const call = `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"get_weather",` +
		`"arguments":"{\"city\":\"Oslo\"}"}}]}}]}` + "\n\n"
	for _, text := range []string{"", "So:"} {
		d := asksForWeather(t)
		first := speaks("<think>Hm.</think>\n\n"+text, 4)
		first.body = strings.Replace(first.body, `data: {"choices":[{"delta":{},"finish_reason":"stop"`,
			call+`data: {"choices":[{"delta":{},"finish_reason":"tool_calls"`, 1)
		d.play(newExecutor(t, `{"model":"m"}`, provider.OpenAI), first, speaks("<think>Ah.</think>4.", 2))
		if !d.acked || d.stored(record.ToolCalls) != 1 || d.stored(record.Thoughts) != 2 || shown(d, "message") != text+"4." || shown(d, "thought") != "Hm.Ah." {
			t.Fatalf("nacked by %v, %q", d.nackedBy, d.events)
		}
		if s := string(d.requests[1].Body); strings.Contains(s, "think") || strings.Contains(s, "Hm.") || !strings.Contains(s, `"tool_calls":[`) {
			t.Errorf("request %s", s)
		}
	}
}

// The history is sent unchanged, even with tags in it.
func TestTagsInTheHistory(t *testing.T) {
	d := newDispatch(t)
	d.say("user", "hi")
	d.say("assistant", "<think>Hm.</think>Hello.")
	d.say("user", "<think>?")
	d.play(newExecutor(t, `{"model":"m"}`, provider.OpenAI), speaks("Tags.", 2))
	if s := string(d.requests[0].Body); !d.acked || !strings.Contains(s, `"\u003cthink\u003eHm.`) && !strings.Contains(s, `"<think>Hm.</think>Hello."`) {
		t.Errorf("nacked by %v, request %s", d.nackedBy, s)
	}
}

// Reasoning that no answer follows is no answer, as when it stands in a field.
func TestReasoningAlone(t *testing.T) {
	for _, text := range []string{"<think>Hm.", "<think>Hm.</think>", "<think>Hm.</think>\n"} {
		d := newDispatch(t)
		d.say("user", "hi")
		d.play(newExecutor(t, `{"model":"m"}`, provider.OpenAI), speaks(text, 3))
		if !errors.Is(d.nackedBy, fault.ChatEmptyResponse) || shown(d, "thought") != "Hm." || d.stored(record.Thoughts) != 0 {
			t.Errorf("%q: nacked by %v, %q", text, d.nackedBy, d.events)
		}
	}
	d := newDispatch(t)
	d.say("user", "hi")
	d.play(newExecutor(t, `{"model":"m"}`, provider.OpenAI), speaks("<think></think>", 3))
	if !errors.Is(d.nackedBy, fault.ChatEmptyResponse) || len(d.events) != 0 {
		t.Errorf("nacked by %v, %q", d.nackedBy, d.events)
	}
}

// A thought that is told in a field too is one thought.
func TestReasoningInAFieldAndInTheText(t *testing.T) {
	for _, body := range []string{
		`data: {"choices":[{"delta":{"reasoning_content":"Hm."}}]}` + "\n\n" +
			speaks("<think>\nHm.\n</think>Hello.", 4).body,
		`data: {"choices":[{"delta":{"content":"<think>Hm.","reasoning":"Hm."}}]}` + "\n\n" +
			speaks("</think>Hello.", 4).body,
	} {
		d := newDispatch(t)
		d.say("user", "hi")
		d.play(newExecutor(t, `{"model":"m"}`, provider.OpenAI), reply{body: body})
		if !d.acked || d.stored(record.Thoughts) != 1 || strings.TrimSpace(shown(d, "thought")) != "Hm." || shown(d, "message") != "Hello." {
			t.Errorf("nacked by %v, %q", d.nackedBy, d.events)
		}
	}
	d := newDispatch(t)
	d.say("user", "hi")
	d.play(newExecutor(t, `{"model":"m"}`, provider.OpenAI),
		reply{body: `data: {"choices":[{"delta":{"reasoning_content":"One."}}]}` + "\n\n" +
			speaks("<think>Two.</think>Hello.", 4).body})
	if !d.acked || d.stored(record.Thoughts) != 2 || shown(d, "thought") != "One.Two." {
		t.Errorf("nacked by %v, %q", d.nackedBy, d.events)
	}
}

// The schema is that of the answer, not of what was thought before it.
func TestSchemaBehindReasoning(t *testing.T) {
	for _, p := range leadingProviders {
		d := newDispatch(t)
		d.say("user", "hi")
		d.play(newExecutor(t, `{"model":"m","schema":{"type":"object","required":["a"]}}`, p),
			p.says("<think>{}</think>\n{\"a\":1}", 3))
		if !d.acked || shown(d, "message") != `{"a":1}` || len(d.requests) != 1 {
			t.Errorf("nacked by %v, %q", d.nackedBy, d.events)
		}
	}
}

// A stream that breaks off while all of it is held back is asked for again, and one that has shown something is not.
func TestRetriesBehindHeldText(t *testing.T) {
	for _, c := range []struct {
		text     string
		requests int
	}{
		{" ", 2},
		{"\n<thi", 2},
		{"<think>\n</thi", 2},
		{"<think></think>\n", 2},
		{"<think>H", 1},
		{"<thing", 1},
		{"<think></think>H", 1},
	} {
		for _, failure := range []string{"", `data: {"error":{"message":"Overloaded","code":503}}` + "\n\n"} {
			d := newDispatch(t)
			d.say("user", "hi")
			broken := speaks(c.text, 2)
			broken.body, _, _ = strings.Cut(broken.body, `data: {"choices":[{"delta":{},`)
			broken.body += failure
			options, err := value.FromJSON(nil, []byte(`{"model":"m","retry":{"maxAttempts":2}}`))
			if err != nil {
				t.Fatal(err)
			}
			e, err := chat.New(options, provider.OpenAI)
			if err != nil {
				t.Fatal(err)
			}
			d.play(e, broken, speaks("Hello.", 9))
			if len(d.requests) != c.requests || d.acked != (c.requests == 2) || d.acked && shown(d, "message") != "Hello." {
				t.Errorf("%q%s: %d requests, nacked by %v, %q", c.text, failure, len(d.requests), d.nackedBy, d.events)
			}
		}
	}
}

// Calls in texts are looked for behind the beginning.
func TestReasoningAtTheBeginningBesideCallsInText(t *testing.T) {
	const call = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>"
	for _, size := range []int{1, 4, 1000} {
		d := asksForWeather(t)
		d.play(newExecutor(t, `{"model":"m","toolFormat":"auto"}`, openAIInFull),
			speaks("<think>"+call+"</think>So:\n"+call, size), speaks("<think>Ah.</think>4. <think>", size))
		if !d.acked || d.stored(record.ToolCalls) != 1 || shown(d, "thought") != call+"Ah." || shown(d, "message") != "So:4. <think>" {
			t.Errorf("nacked by %v, %q", d.nackedBy, d.events)
		}
	}
}

func TestOptionsOfReasoningInTexts(t *testing.T) {
	for _, p := range leadingProviders {
		for format, message := range map[string]string{"off": "<think>Hm.</think>Hello.", "leading": "Hello."} {
			d := newDispatch(t)
			d.say("user", "hi")
			d.play(newExecutor(t, `{"model":"m","reasoningFormat":"`+format+`"}`, p),
				p.says("<think>Hm.</think>Hello.", 3))
			if !d.acked || shown(d, "message") != message {
				t.Errorf("%s: nacked by %v, %q", format, d.nackedBy, d.events)
			}
		}
	}
	const known = "`reasoningFormat` must be one of leading, off, auto, think_tag, harmony_analysis, gemma_channel"
	const core = "`reasoningFormat` must be leading or off; any other is not in this module, but in turncore-full.wasm"
	for _, c := range []struct {
		provider      chat.Provider
		options, want string
	}{
		{provider.OpenAI, `"reasoningFormat":"auto"`, core},
		{provider.OpenAI, `"reasoningFormat":"think_tag"`, core},
		{provider.OpenAI, `"reasoningFormat":1`, core},
		{openAIInFull, `"reasoningFormat":""`, known},
		{
			provider.OpenAI, `"reasoningOpened":true`,
			"`reasoningOpened` is not in this module, but in turncore-full.wasm",
		},
		{
			openAIInFull, `"reasoningOpened":true`,
			"`reasoningOpened` needs a reasoningFormat that is neither leading nor off",
		},
		{openAIInFull, `"reasoningOpened":true,"reasoningFormat":"off"`, "`reasoningOpened` needs a reasoningFormat"},
		{provider.Anthropic, `"reasoningFormat":"leading"`, "`reasoningFormat` is not for provider anthropic"},
	} {
		optionsFail(t, c.provider, `{"model":"m",`+c.options+`}`, c.want)
	}
}

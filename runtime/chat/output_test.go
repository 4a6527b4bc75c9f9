package chat_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

const weather = `{"type":"object","properties":{"city":{"type":"string"},"degrees":{"type":"integer","minimum":-90}},"required":["city","degrees"],"additionalProperties":false}`

// tells is a stream of chat completions with a text in pieces of a few bytes, and its usage.
func tells(text, finish string) string {
	var list []string
	for len(text) > 0 {
		n := min(7, len(text))
		quoted, _ := json.Marshal(text[:n])
		list = append(list, `{"choices":[{"delta":{"content":`+string(quoted)+`}}]}`)
		text = text[n:]
	}
	return sse(append(list, `{"choices":[{"delta":{},"finish_reason":"`+finish+`"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`)...)
}

// shaped plays a dispatch whose answers must describe the weather.
func shaped(t *testing.T, options string, replies ...string) *dispatch {
	t.Helper()
	d := newDispatch(t)
	d.prompt = "Be brief."
	d.addMessage("user", "Weather?")
	d.replies(replies...)
	d.iterate(newExecutor(t, `{"model":"m","schema":`+weather+options+`}`), 5)
	if d.open() != nil {
		t.Errorf("open streams %q", d.open())
	}
	return d
}

func (d *dispatch) lastMessage() string {
	list := d.records[record.Messages]
	text, _ := record.Message(list[len(list)-1].body).Content()
	return string(text)
}

func TestOutput(t *testing.T) {
	for _, text := range []string{
		`{"city":"Oslo","degrees":4}`, " \n{\"degrees\":4,\"city\":\"Oslo\"}\n", "```json\n{\"city\":\"Oslo\",\"degrees\":4}\n```", "```\n{\"city\":\"Oslo\",\"degrees\":4.0}\n```\n",
	} {
		d := shaped(t, "", tells(text, "stop"))
		if !d.acked || len(d.requests) != 1 || d.lastMessage() != text {
			t.Errorf("%q: nacked by %v, %d requests, stored %q", text, d.nacked, len(d.requests), d.lastMessage())
		}
	}
}

func TestOutputRepair(t *testing.T) {
	d := shaped(t, "", tells(`{"city":"Oslo","degrees":"four"}`, "stop"), tells(`{"city":"Oslo","degrees":4}`, "stop"))
	if !d.acked || len(d.requests) != 2 || d.lastMessage() != `{"city":"Oslo","degrees":4}` || len(d.records[record.Messages]) != 2 {
		t.Fatalf("nacked by %v, %d requests, stored %q", d.nacked, len(d.requests), d.lastMessage())
	}
	first, second := string(d.requests[0]), string(d.requests[1])
	kept := strings.TrimSuffix(first, "]}")
	rest, ok := strings.CutPrefix(second, kept)
	want := `,{"role":"assistant","content":"{\"city\":\"Oslo\",\"degrees\":\"four\"}"},{"role":"user","content":"Your answer does not match the JSON Schema that it must match: degrees must be integer, not string\nAnswer again, with the whole corrected JSON value and nothing else."}]}`
	if !ok || rest != want {
		t.Errorf("request %s\nends in %s, want %s", second, rest, want)
	}
	if n := strings.Count(strings.Join(d.events, "\n"), "stats"); n != 2 {
		t.Errorf("%d reports of what the answers cost: %q", n, d.events)
	}
	if len(d.logs) != 1 || d.logs[0] != "output-repair: the answer does not match its schema, and the model is told: degrees must be integer, not string" {
		t.Errorf("logs %q", d.logs)
	}
}

// The model is asked again once per dispatch, whatever the fault.
func TestOutputIsRepairedOnce(t *testing.T) {
	for _, c := range []struct{ first, second, finish, want string }{
		{"Oslo has 4 degrees.", "Still words.", "stop", "it is no JSON: "},
		{`{"city":"Oslo"}`, `{"city":"Oslo","degrees":-91}`, "stop", "degrees must be at least -90"},
		{`{"city":"Oslo"}`, `{"city":1,"degrees":"a"}`, "stop", "city must be string, not number; degrees must be integer, not string"},
		{`{"city":"Os`, `{"city":"Osl`, "length", `it ended with finish reason "length"`},
		{"x", `{"city":"Oslo","degrees":4} and more`, "stop", "it is no JSON"},
		{"```", "```json\n{}", "stop", `city is required; degrees is required`},
	} {
		d := shaped(t, "", tells(c.first, c.finish), tells(c.second, c.finish))
		var f *fault.Error
		if !errors.As(d.nacked, &f) || f.Code != fault.ChatInvalidOutput || !strings.Contains(f.Message, c.want) || len(d.requests) != 2 || len(d.records[record.Messages]) != 1 {
			t.Errorf("%q: %v, %d requests, want %q", c.second, d.nacked, len(d.requests), c.want)
			continue
		}
		text, _ := value.Get(f.Details, "text")
		if s, _ := value.String(text); string(s) != c.second {
			t.Errorf("kept %q of %q", s, c.second)
		}
		if list, _ := value.Get(f.Details, "violations"); value.KindOf(list) != value.KindList || value.Len(list) == 0 {
			t.Errorf("details %s", d.json(f.Details))
		}
	}
	long := strings.Repeat("x", 100_000)
	d := shaped(t, "", tells(long, "stop"), tells(long, "stop"))
	var f *fault.Error
	if !errors.As(d.nacked, &f) || len(f.Details) > 66<<10 {
		t.Errorf("%v keeps %d bytes", d.nacked, len(f.Details))
	}
}

// Answers with calls are not checked. The one after the last results is, with another description.
func TestOutputWithTools(t *testing.T) {
	d := newDispatch(t)
	d.addMessage("user", "Weather?")
	d.tools = []*runtime.Tool{{Number: 1, Name: "get", InputSchema: fromJSON(t, `{"type":"object"}`)}}
	d.run = func(*runtime.Tool, []byte) ([]byte, error) { return value.AppendString(nil, "4"), nil }
	call := sse(`{"choices":[{"delta":{"content":"Let me see."}}]}`, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"get","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)
	again := strings.ReplaceAll(call, `"c"`, `"d"`)
	d.replies(call, tells("words", "stop"), again, tells(`{"city":"Oslo","degrees":4}`, "stop"))
	d.iterate(newExecutor(t, `{"model":"m","schema":`+weather+`}`), 5)
	if !d.acked || len(d.requests) != 4 || len(d.records[record.ToolCalls]) != 2 || d.lastMessage() != `{"city":"Oslo","degrees":4}` {
		t.Fatalf("nacked by %v, %d requests", d.nacked, len(d.requests))
	}
	if s := string(d.requests[3]); strings.Contains(s, "words") || !strings.Contains(s, `"response_format":{"type":"json_schema"`) {
		t.Errorf("request %s", s)
	}
	// No second repair.
	d = newDispatch(t)
	d.tools = []*runtime.Tool{{Number: 1, Name: "get", InputSchema: fromJSON(t, `{"type":"object"}`)}}
	d.run = func(*runtime.Tool, []byte) ([]byte, error) { return value.AppendString(nil, "4"), nil }
	d.replies(tells("words", "stop"), call, sse(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`))
	d.iterate(newExecutor(t, `{"model":"m","schema":`+weather+`}`), 5)
	if !errors.Is(d.nacked, fault.ChatInvalidOutput) || !strings.Contains(d.nacked.Error(), "it is empty") {
		t.Errorf("nacked by %v", d.nacked)
	}
}

func TestOutputDeclined(t *testing.T) {
	no := sse(`{"choices":[{"delta":{"refusal":"I can"}}]}`, `{"choices":[{"delta":{"refusal":"not."},"finish_reason":"stop"}]}`)
	d := shaped(t, "", no)
	if !errors.Is(d.nacked, fault.ChatRefused) || !strings.Contains(d.nacked.Error(), "I cannot.") || len(d.requests) != 1 {
		t.Errorf("nacked by %v, %d requests", d.nacked, len(d.requests))
	}
}

func TestOutputEndsWithTheDispatch(t *testing.T) {
	d := newDispatch(t)
	d.onReport = func() { d.aborted = d.aborted || len(d.events) > 0 }
	d.replies(tells("words", "stop"))
	d.iterate(newExecutor(t, `{"model":"m","schema":`+weather+`}`), 5)
	if d.acked || d.nacked != nil || d.open() != nil {
		t.Errorf("acked %v, nacked by %v, open %q", d.acked, d.nacked, d.open())
	}
}

// A signal while an invalid answer is being completed ends the dispatch: the answer is reported once, and the model is
// not asked again.
func TestOutputIsSignalledWhileItIsCompleted(t *testing.T) {
	for _, signal := range []func(d *dispatch) error{(*dispatch).Ack, func(d *dispatch) error { return d.Nack(errSealed) }} {
		d := newDispatch(t)
		d.onReport = func() {
			if len(d.open()) == 0 && !d.Signalled() {
				if err := signal(d); err != nil {
					t.Error(err)
				}
			}
		}
		d.replies(tells("words", "stop"))
		d.iterate(newExecutor(t, `{"model":"m","schema":`+weather+`}`), 5)
		want := []string{"message turn.m1 words", "message turn.m1 |", "stats"}
		if !slices.Equal(d.events, want) || len(d.requests) != 1 {
			t.Errorf("%d requests, events %q, want %q", len(d.requests), d.events, want)
		}
	}
}

// The prompt describes the schema if the request has no field for it, or if the options say so.
func TestOutputInThePrompt(t *testing.T) {
	answer := tells(`{"city":"Oslo","degrees":4}`, "stop")
	for options, want := range map[string][2]bool{
		``:                       {true, false},
		`,"schemaMode":"prompt"`: {false, true},
		`,"schemaMode":"both"`:   {true, true},
		`,"response_format":{"type":"json_object"}`: {false, true},
	} {
		request := string(shaped(t, options, answer).requests[0])
		if strings.Contains(request, `"type":"json_schema"`) != want[0] || strings.Contains(request, "# Answer") != want[1] {
			t.Errorf("%s: %s", options, request)
		}
	}
}

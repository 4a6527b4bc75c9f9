package provider_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// lines makes a stream of JSON objects.
func lines(objects ...string) string { return strings.Join(objects, "\n") + "\n" }

// ollamaLine is a line with a piece of the message.
func ollamaLine(message string) string {
	return `{"model":"m:8b","created_at":"2025-07-17T20:30:21.5Z","message":` + message + `,"done":false}`
}

func ollamaText(text string) string {
	return ollamaLine(`{"role":"assistant","content":"` + text + `"}`)
}

func ollamaDone(reason string) string {
	return `{"model":"m:8b","created_at":"2025-07-17T20:30:22Z","message":{"role":"assistant","content":""},` +
		`"done_reason":"` + reason + `","done":true,` +
		`"total_duration":883583458,"load_duration":5025959,"prompt_eval_count":26,"prompt_eval_cached_count":20,` +
		`"prompt_eval_duration":74079750,"eval_count":15,"eval_duration":803883000}`
}

// ollamaTools is a stream with thinking, text and two calls, one without arguments.
var ollamaTools = lines(
	ollamaLine(`{"role":"assistant","content":"","thinking":"First "}`),
	ollamaLine(`{"role":"assistant","content":"","thinking":"this."}`),
	ollamaText("I look "), ollamaText(`it up.\n`),
	ollamaLine(`{"role":"assistant","content":"",`+
		`"tool_calls":[{"function":{"index":0,"name":"get","arguments":{"city": "Oslo"}}}]}`),
	ollamaLine(`{"role":"assistant","content":"",`+
		`"tool_calls":[{"function":{"index":1,"name":"time","arguments":{}}}]}`),
	ollamaDone("stop"),
)

func TestOllamaConversation(t *testing.T) {
	answer := lines(ollamaText("4"), ollamaText(" degrees"), ollamaDone("stop"))
	want := []string{
		"thought t1 First ", "thought t1 this.", "message m2 I look ", "message m2 it up.\n",
		"thought t1 |", "store t1", "message m2 |", "store m2",
		`call c3 get{"city":"Oslo"}`, `call c3 "4 degrees for {\"city\":\"Oslo\"}"|`, "store c3",
		`call c4 time{}`, `call c4 "no clock"|`, "store c4",
		"message m5 4", "message m5  degrees", "message m5 |", "store m5",
	}
	for _, part := range []int{0, 1, 7, 1000} {
		d := weatherDispatch(t)
		e := newExecutor(t, `{"model":"m"}`, provider.Ollama)
		d.play(e, reply{body: ollamaTools, part: part, mediaType: "application/x-ndjson"},
			reply{body: answer, part: part, mediaType: "application/json"})
		if !d.acked || !slices.Equal(d.events, want) {
			t.Fatalf("part %d: acked %v, nacked by %v, events\n%q, want\n%q", part, d.acked, d.nackedBy, d.events, want)
		}
		if got, want := d.cost(), `{"promptTokens":26,"completionTokens":15,"totalTokens":41,"cachedTokens":20,"totalDurationNs":883583458,"loadDurationNs":5025959,"promptEvalDurationNs":74079750,"evalDurationNs":803883000,"finishReason":"stop","model":"m:8b","provider":"localhost","raw":{"total_duration":883583458,`; !strings.HasPrefix(got, want) {
			t.Errorf("stats %s, want %s", got, want)
		}
		head := `{"model":"m","stream":true,"tools":[` +
			`{"type":"function","function":{"name":"get","description":"Does get","parameters":{"type":"object",` +
			`"properties":{"city":{"type":"string"}}}}},` +
			`{"type":"function","function":{"name":"time","description":"Does time","parameters":{"type":"object",` +
			`"properties":{}}}}],` +
			`"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}`
		if got := string(d.requests[0].Body); got != head+"]}" {
			t.Errorf("request %s, want %s]}", got, head)
		}
		want := head + `,{"role":"assistant","content":"I look it up.\n",` +
			`"tool_calls":[{"type":"function","function":{"name":"get","arguments":{"city": "Oslo"}}},` +
			`{"type":"function","function":{"name":"time","arguments":{}}}]},` +
			`{"role":"tool","tool_name":"get","content":"4 degrees for {\"city\":\"Oslo\"}"},` +
			`{"role":"tool","tool_name":"time","content":"no clock"}]}`
		if got := string(d.requests[1].Body); got != want {
			t.Errorf("request\n%s, want\n%s", got, want)
		}
	}
}

func TestOllamaAnswers(t *testing.T) {
	hello := []string{"message m1 Hel", "message m1 |", "store m1"}
	tests := []struct {
		name   string
		reply  reply
		events []string // of an answer
		code   fault.Code
		says   []string // in the error
	}{
		{
			name: "one line, and no end of it",
			reply: reply{body: strings.Replace(ollamaDone("stop"), `"content":""`,
				`"content":"Hel","thinking":"hm"`, 1)},
			events: []string{"message m1 Hel", "thought t2 hm", "thought t2 |", "store t2", "message m1 |", "store m1"},
		},
		{
			name:   "CR LF, blank lines and a byte order mark",
			reply:  reply{body: "\xef\xbb\xbf" + ollamaText("Hel") + "\r\n\r\n" + ollamaDone("stop") + "\r\n\r\n"},
			events: hello,
		},
		{
			name:   "nothing counts after the end",
			reply:  reply{body: lines(ollamaText("Hel"), ollamaDone("stop"), ollamaText("no"))},
			events: hello,
		},
		{
			name: "members in another order, and an end without a reason",
			reply: reply{body: lines(`{"done":false,"message":{"content":"Hel","role":"assistant"}}`,
				`{"done":true,"message":null}`)},
			events: hello,
		},
		{
			name:   "an event stream, from a gateway",
			reply:  reply{body: "data: " + ollamaText("Hel") + "\n\ndata: " + ollamaDone("stop") + "\n\n"},
			events: hello,
		},
		{
			name:   "cut short by num_predict",
			reply:  reply{body: lines(ollamaText("Hel"), ollamaDone("length"))},
			events: hello,
		},
		{
			name:   "no error",
			reply:  reply{body: lines(`{"error":null,"message":{"content":"Hel"}}`, ollamaDone("stop"))},
			events: hello,
		},
		{
			name:  "nothing",
			reply: reply{body: lines(ollamaDone("load"))},
			code:  fault.ChatEmptyResponse, says: []string{`finish reason "load"`},
		},
		{
			name:  "an error first",
			reply: reply{body: lines(`{"error":"the model failed"}`)},
			code:  fault.ChatProviderError, says: []string{"the model failed"},
		},
		{
			name: "an error in the middle",
			reply: reply{body: lines(ollamaText("Hel"), `{"error":"an error was encountered while running the model"}`,
				ollamaDone("stop"))},
			code: fault.ChatProviderError, says: []string{"while running the model"},
		},
		{
			name:  "an error last, without the line's end",
			reply: reply{body: ollamaText("Hel") + "\n" + `{"error":{"message":"late","code":7}}`},
			code:  fault.ChatProviderError, says: []string{"late (code 7)"},
		},
		{
			name:  "status 404",
			reply: reply{status: 404, mediaType: "application/json", body: `{"error":"model 'm' not found"}`},
			code:  fault.ChatHTTPError, says: []string{"status 404", "model 'm' not found"},
		},
		{
			name:  "a line that is half a JSON text",
			reply: reply{body: lines(ollamaText("Hel"), ollamaText("lo")[:70], ollamaDone("stop"))},
			code:  fault.ChatStreamError,
		},
		{
			name:  "a connection that breaks",
			reply: reply{body: lines(ollamaText("Hel")), err: errors.New("reset")},
			code:  fault.ChatStreamError, says: []string{"reset"},
		},
		{
			name:  "a stream that just ends",
			reply: reply{body: lines(ollamaText("Hel"))},
			code:  fault.ChatStreamError,
		},
		{
			name:  "a long line",
			reply: reply{body: `{"message":{"content":"` + strings.Repeat("a", 9<<20)},
			code:  fault.ChatStreamError, says: []string{"longer than"},
		},
		{
			name:  "a page",
			reply: reply{mediaType: "text/html", body: "<html>log in</html>"},
			code:  fault.ChatStreamError, says: []string{`"text/html"`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, part := range []int{0, 1, 2, 3} {
				if len(tt.reply.body) > 1<<20 && part > 0 {
					continue
				}
				tt.reply.part = part
				answers(t, provider.Ollama, tt.reply, tt.events, tt.code, tt.says)
			}
		})
	}
}

// A response that was asked for in one piece is one, on several lines too; and lines that come all the same are read.
func TestOllamaInOnePiece(t *testing.T) {
	whole := "{\n \"message\": {\"role\": \"assistant\", \"content\": \"Hel\"},\n \"done\": true, \"done_reason\": \"stop\", \"eval_count\": 3\n}\n"
	for _, r := range []reply{{body: whole, mediaType: "application/json; charset=utf-8"}, {body: lines(ollamaText("Hel"), ollamaDone("stop")), mediaType: "application/x-ndjson"}} {
		d := newDispatch(t)
		d.say("user", "hi")
		d.play(newExecutor(t, `{"model":"m","stream":false}`, provider.Ollama), r)
		if !d.acked || !slices.Equal(d.events, []string{"message m1 Hel", "message m1 |", "store m1"}) {
			t.Errorf("%q: nacked by %v, events %q", r.body, d.nackedBy, d.events)
		}
		if got, want := string(d.requests[0].Body), `{"model":"m","stream":false,"messages":[{"role":"user","content":"hi"}]}`; got != want {
			t.Errorf("request %s, want %s", got, want)
		}
		if got := d.requests[0].Headers[0]; got != [2]string{"accept", "application/json"} {
			t.Errorf("header %q", got)
		}
	}
}

// Calls come whole, with or without ids, however many have the same name.
func TestOllamaCalls(t *testing.T) {
	d := weatherDispatch(t)
	d.play(newExecutor(t, `{"model":"m"}`, provider.Ollama), reply{body: lines(
		ollamaLine(`{"content":"","tool_calls":[{"id":"call_a","function":{"name":"get","arguments":{"a":1}}},`+
			`{"id":"call_a","function":{"name":"get","arguments":{"a":2}}},`+
			`{"function":{"name":"get","arguments":"{\"a\":3}"}},`+
			`{"function":{"arguments":null,"name":"get"}},null,{}]}`),
		ollamaDone("stop"),
	)}, reply{status: 500})
	var got []string
	for _, e := range d.events {
		if strings.HasPrefix(e, "call ") && !strings.HasSuffix(e, "|") {
			got = append(got, e)
		}
	}
	if want := []string{`call call_a get{"a":1}`, `call call_a#2 get{"a":2}`, `call c1 get{"a":3}`, `call c2 get{}`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if body := string(d.requests[1].Body); strings.Contains(body, "call_a") || strings.Count(body, `"tool_name":"get"`) != 4 {
		t.Errorf("request %s", body)
	}
}

func TestOllamaRequests(t *testing.T) {
	hi := func(d *dispatch) { d.say("user", "hi") }
	const messages = `"messages":[{"role":"user","content":"hi"}]}`
	thought := func(d *dispatch) {
		hi(d)
		d.add(record.Thoughts, record.AppendThought(nil,
			record.ThoughtFields{ID: "1", Content: []byte("hm"), CreatedAt: 2000, UpdatedAt: 2000}))
		d.add(record.Thoughts, record.AppendThought(nil,
			record.ThoughtFields{
				ID: "2", Content: []byte("foreign"), Payload: value.AppendString(nil, "x"),
				ReplayCompatibility: "other", CreatedAt: 2001, UpdatedAt: 2001,
			}))
		d.add(record.Messages, record.AppendMessage(nil,
			record.MessageFields{
				ID: "a", Role: "assistant", Content: []byte("Hello"), CreatedAt: 3000,
				UpdatedAt: 3000,
			}))
	}
	tests := []struct {
		name, options string
		setUp         func(d *dispatch)
		want          string
	}{
		{"nothing but a message", `{"model":"m"}`, hi, `{"model":"m","stream":true,` + messages},
		{
			"options of the model",
			`{"model":"m","options":{"num_ctx":8192,"temperature":0,"stop":["x"]},"think":"high","keep_alive":"10m",` +
				`"format":{"type":"object"},"truncate":false}`,
			hi,
			`{"model":"m","options":{"num_ctx":8192,"temperature":0,"stop":["x"]},"think":"high","keep_alive":"10m",` +
				`"format":{"type":"object"},"truncate":false,"stream":true,` + messages,
		},
		{
			"other forms of them",
			`{"model":"m","think":false,"keep_alive":-1,"format":"json"}`,
			hi,
			`{"model":"m","think":false,"keep_alive":-1,"format":"json","stream":true,` + messages,
		},
		{"extras of a tool", `{"model":"m","toolExtras":{"get":{"strict":true}}}`, func(d *dispatch) {
			d.offer("get", `{"type":"object"}`, nil)
			hi(d)
		}, `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"get","description":"Does get",` +
			`"parameters":{"type":"object","properties":{}},"strict":true}}],` + messages},
		{
			"no thoughts", `{"model":"m"}`, thought,
			`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"},` +
				`{"role":"assistant","content":"Hello"}]}`,
		},
		{
			"thoughts",
			`{"model":"m","thoughts":"thinking"}`,
			thought,
			`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"},` +
				`{"role":"assistant","content":"Hello","thinking":"hm"}]}`,
		},
		{"speakers", `{"model":"m"}`, func(d *dispatch) {
			d.add(record.Messages, record.AppendMessage(nil,
				record.MessageFields{
					ID: "1", Role: "user", Content: []byte("hi"),
					Identity: &record.IdentityFields{Identifier: "ann", Representation: "Ann"}, CreatedAt: 1,
					UpdatedAt: 1,
				}))
		}, `{"model":"m","stream":true,"messages":[{"role":"user","content":"ann: hi"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDispatch(t)
			tt.setUp(d)
			d.play(newExecutor(t, tt.options, provider.Ollama), reply{status: 500})
			r := d.requests[0]
			if got := string(r.Body); got != tt.want {
				t.Errorf("got\n%s, want\n%s", got, tt.want)
			}
			if r.URL != "http://localhost:11434/api/chat" || r.Headers[0] != [2]string{"accept", "application/x-ndjson"} {
				t.Errorf("to %s with %q", r.URL, r.Headers)
			}
		})
	}
}

func TestOllamaOptions(t *testing.T) {
	for options, want := range map[string]string{
		`{"model":"m","temperature":1}`:               "`temperature` is not a known option",
		`{"model":"m","options":[]}`:                  "`options` must be an object",
		`{"model":"m","think":1}`:                     "`think` must be a string or a boolean",
		`{"model":"m","body":{"messages":[]}}`:        "`body.messages` is set by the executor",
		`{"model":"m","thoughts":"x"}`:                "`thoughts` must be one of off, text, thinking",
		`{"model":"m","toolExtras":{"t":{"name":1}}}`: "`toolExtras.t.name` is set by the executor",
	} {
		optionsFail(t, provider.Ollama, options, want)
	}
	if u := provider.Ollama.Usage(nil); u.Prompt != -1 || u.Completion != -1 || u.Total != -1 || u.Cached != -1 || u.TotalTime > 0 {
		t.Errorf("of nothing: %+v", u)
	}
}

func FuzzOllama(f *testing.F) {
	f.Add([]byte(ollamaTools), uint(7), true)
	f.Add([]byte(lines(ollamaText("a"), `{"error":"x"}`)), uint(0), true)
	f.Add([]byte(ollamaDone("stop")), uint(3), true)
	f.Add([]byte(`{"message":{"tool_calls":[{"function":{"name":"get","arguments":"{"}}]},"done":true,`+
		`"eval_count":"x","prompt_eval_count":1e99}`), uint(0), true)
	f.Add([]byte(`{"error":"x"}`), uint(0), false)
	f.Fuzz(func(t *testing.T, body []byte, part uint, ok bool) { anyBytes(t, provider.Ollama, body, part, ok) })
}

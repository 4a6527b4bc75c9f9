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

// messages makes a stream of the Messages API: each event is named by its type.
func messages(events ...string) string {
	var b strings.Builder
	for _, data := range events {
		s := value.NewScanner([]byte(data))
		for key := range s.Members() {
			if string(key) == "type" {
				name, _ := s.Text()
				b.WriteString("event: " + string(name) + "\n")
			}
		}
		b.WriteString("data: " + data + "\n\n")
	}
	return b.String()
}

const (
	messageStart = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],` +
		`"model":"claude-m","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,` +
		`"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":1}}}`
	messageStop = `{"type":"message_stop"}`
	ping        = `{"type": "ping"}`
)

func blockStart(index, block string) string {
	return `{"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`
}

func blockDelta(index, delta string) string {
	return `{"type":"content_block_delta","index":` + index + `,"delta":` + delta + `}`
}

func blockStop(index string) string { return `{"type":"content_block_stop","index":` + index + `}` }

func stopFor(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason +
		`","stop_sequence":null},"usage":{"output_tokens":15}}`
}

// thinkingAndTools is a stream with interleaved thinking, encrypted thinking, text and two calls, one without
// arguments.
var thinkingAndTools = messages(
	messageStart,
	blockStart("0", `{"type":"thinking","thinking":"","signature":""}`), ping,
	blockDelta("0", `{"type":"thinking_delta","thinking":"First "}`),
	blockDelta("0", `{"type":"thinking_delta","thinking":"this."}`),
	blockDelta("0", `{"type":"signature_delta","signature":"sig+/0="}`), blockStop("0"),
	blockStart("1", `{"type":"redacted_thinking","data":"enc+/1="}`), blockStop("1"),
	blockStart("2", `{"type":"text","text":""}`),
	blockDelta("2", `{"type":"text_delta","text":"I look "}`),
	blockDelta("2", `{"type":"text_delta","text":"it up.\n"}`), blockStop("2"),
	blockStart("3", `{"type":"thinking","thinking":"","signature":""}`),
	blockDelta("3", `{"type":"signature_delta","signature":"sig3"}`), blockStop("3"),
	blockStart("4", `{"type":"tool_use","id":"toolu_1","name":"get","input":{},"caller":{"type":"direct"}}`),
	blockDelta("4", `{"type":"input_json_delta","partial_json":""}`),
	blockDelta("4", `{"type":"input_json_delta","partial_json":"{\"city\": \"Os"}`),
	blockDelta("4", `{"type":"input_json_delta","partial_json":"lo\"}"}`), blockStop("4"),
	blockStart("5", `{"type":"tool_use","id":"toolu_2","name":"time","input":{}}`), blockStop("5"),
	stopFor("tool_use"), messageStop,
)

func weatherDispatch(t testing.TB) *dispatch {
	d := newDispatch(t)
	d.prompt = "Be brief."
	d.say("user", "hi")
	d.offer("get", `{"type":"object","properties":{"city":{"type":"string"}}}`, func(args string) (string, error) { return "4 degrees for " + args, nil })
	d.offer("time", `{"type":"object"}`, func(string) (string, error) { return "", errors.New("no clock") })
	return d
}

func TestAnthropicConversation(t *testing.T) {
	answer := messages(messageStart, blockStart("0", `{"type":"text","text":"4"}`),
		blockDelta("0", `{"type":"text_delta","text":" degrees"}`), stopFor("end_turn"), messageStop)
	want := []string{
		"thought t1 First ", "thought t1 this.", "message m3 I look ", "message m3 it up.\n",
		"thought t1 |", "store t1", "thought t2 |", "store t2", "thought t4 |", "store t4", "message m3 |", "store m3",
		`call toolu_1 get{"city":"Oslo"}`, `call toolu_1 "4 degrees for {\"city\":\"Oslo\"}"|`, "store toolu_1",
		`call toolu_2 time{}`, `call toolu_2 "no clock"|`, "store toolu_2",
		"message m5 4", "message m5  degrees", "message m5 |", "store m5",
	}
	for _, part := range []int{0, 1, 7, 1000} {
		d := weatherDispatch(t)
		e := newExecutor(t, `{"model":"claude-m"}`, provider.Anthropic)
		d.play(e, reply{body: thinkingAndTools, part: part}, reply{body: answer, part: part})
		if !d.acked || !slices.Equal(d.events, want) {
			t.Fatalf("part %d: acked %v, nacked by %v, events\n%q, want\n%q", part, d.acked, d.nackedBy, d.events, want)
		}
		if got, want := d.cost(), `{"promptTokens":1125,"completionTokens":15,"totalTokens":1140,"cachedTokens":1000,"finishReason":"end_turn","model":"claude-m","provider":"api.anthropic.com","raw":{"input_tokens":25,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":15}}`; got != want {
			t.Errorf("stats %s, want %s", got, want)
		}
		head := `{"model":"claude-m","max_tokens":16384,"stream":true,"cache_control":{"type":"ephemeral"},"tools":[` +
			`{"name":"get","description":"Does get","input_schema":{"type":"object",` +
			`"properties":{"city":{"type":"string"}}}},` +
			`{"name":"time","description":"Does time","input_schema":{"type":"object"},` +
			`"cache_control":{"type":"ephemeral"}}],` +
			`"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],` +
			`"messages":[{"role":"user","content":"hi"}`
		if got := string(d.requests[0].Body); got != head+"]}" {
			t.Errorf("request %s, want %s]}", got, head)
		}
		want := head + `,{"role":"assistant","content":[{"type":"thinking","thinking":"First this.",` +
			`"signature":"sig+/0="},{"type":"redacted_thinking","data":"enc+/1="},` +
			`{"type":"text","text":"I look it up.\n"}]},` +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"sig3"},` +
			`{"type":"tool_use","id":"toolu_1","name":"get","input":{"city": "Oslo"}},` +
			`{"type":"tool_use","id":"toolu_2","name":"time","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1",` +
			`"content":"4 degrees for {\"city\":\"Oslo\"}"},{"type":"tool_result","tool_use_id":"toolu_2",` +
			`"content":"no clock","is_error":true}]}]}`
		if got := string(d.requests[1].Body); got != want {
			t.Errorf("request\n%s, want\n%s", got, want)
		}
	}
}

func TestAnthropicAnswers(t *testing.T) {
	text := blockDelta("0", `{"type":"text_delta","text":"Hel"}`)
	tests := []struct {
		name   string
		reply  reply
		events []string // of an answer
		code   fault.Code
		says   []string // in the error
	}{
		{
			name: "one message",
			reply: reply{
				mediaType: "application/json",
				body: `{"id":"msg_1","type":"message","role":"assistant",` +
					`"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a",` +
					`"citations":null},{"type":"text","text":"b"}],"model":"m","stop_reason":"end_turn",` +
					`"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2}}`,
			},
			events: []string{
				"thought t1 hm", "message m2 a", "message m2 b", "thought t1 |", "store t1",
				"message m2 |", "store m2",
			},
		},
		{
			name: "members in alphabetical order",
			reply: reply{body: messages(
				`{"content_block":{"text":"","type":"text"},"index":0,"type":"content_block_start"}`,
				`{"delta":{"text":"Hi","type":"text_delta"},"index":0,"type":"content_block_delta"}`,
				`{"delta":{"stop_reason":"end_turn","stop_sequence":null},"type":"message_delta",`+
					`"usage":{"output_tokens":1}}`,
				messageStop,
			)},
			events: []string{"message m1 Hi", "message m1 |", "store m1"},
		},
		{
			name: "tools of the API are left out",
			reply: reply{body: messages(
				messageStart, blockStart("0",
					`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`),
				blockDelta("0", `{"type":"input_json_delta","partial_json":"{\"query\":1}"}`), blockStop("0"),
				blockStart("1", `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1",`+
					`"content":[{"type":"web_search_result","text":"no"}]}`), blockStop("1"),
				blockStart("2", `{"type":"text","text":""}`),
				blockDelta("2", `{"type":"citations_delta","citation":{"type":"web_search_result_location",`+
					`"cited_text":"no"}}`), blockDelta("2", `{"type":"text_delta","text":"Sunny."}`), blockStop("2"),
				`{"type":"some_new_event","text":"no"}`, stopFor("end_turn"), messageStop,
			)},
			events: []string{"message m1 Sunny.", "message m1 |", "store m1"},
		},
		{
			name:   "cut short by max_tokens",
			reply:  reply{body: messages(messageStart, text, stopFor("max_tokens"), messageStop)},
			events: []string{"message m1 Hel", "message m1 |", "store m1"},
		},
		{
			name:  "nothing but a paused turn",
			reply: reply{body: messages(messageStart, stopFor("pause_turn"), messageStop)},
			code:  fault.ChatEmptyResponse, says: []string{`finish reason "pause_turn"`},
		},
		{
			name:  "a refusal after some text",
			reply: reply{body: messages(messageStart, text, stopFor("refusal"), messageStop)},
			code:  fault.ChatRefused, says: []string{"(code refusal)"},
		},
		{
			name: "a refusal with details",
			reply: reply{body: messages(
				messageStart,
				`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal",`+
					`"category":"cyber","explanation":"Not this."}},"usage":{"output_tokens":1}}`,
				messageStop,
			)},
			code: fault.ChatRefused, says: []string{"Not this. (code cyber)"},
		},
		{
			name:  "a refusal in one message",
			reply: reply{body: `{"type":"message","content":[],"stop_reason":"refusal","stop_details":null}`},
			code:  fault.ChatRefused,
		},
		{
			name: "an error first",
			reply: reply{body: messages(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},` +
				`"request_id":"req_1"}`)},
			code: fault.ChatProviderError, says: []string{"Overloaded (code overloaded_error)"},
		},
		{
			name: "an error in the middle",
			reply: reply{body: messages(messageStart, text,
				`{"type":"error","error":{"type":"api_error","message":"Internal"}}`, stopFor("end_turn"),
				messageStop)},
			code: fault.ChatProviderError, says: []string{"Internal (code api_error)"},
		},
		{
			name: "an error last",
			reply: reply{body: messages(messageStart, text, stopFor("end_turn"),
				`{"type":"error","error":{"type":"api_error","message":"Late"}}`)},
			code: fault.ChatProviderError, says: []string{"Late"},
		},
		{
			name: "status 529",
			reply: reply{
				status:    529,
				mediaType: "application/json",
				body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},` +
					`"request_id":"req_1"}`,
			},
			code: fault.ChatHTTPError, says: []string{"status 529", "Overloaded (code overloaded_error)"},
		},
		{
			name:  "a connection that breaks",
			reply: reply{body: messages(messageStart, text), err: errors.New("reset")},
			code:  fault.ChatStreamError, says: []string{"reset"},
		},
		{
			name:  "a stream that just ends",
			reply: reply{body: messages(messageStart, text)},
			code:  fault.ChatStreamError,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for part := range 4 {
				tt.reply.part = part
				answers(t, provider.Anthropic, tt.reply, tt.events, tt.code, tt.says)
			}
		})
	}
}

// What a message says of its usage last counts, but null says nothing.
func TestAnthropicUsage(t *testing.T) {
	delta := `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,` +
		`"cache_read_input_tokens":7,"output_tokens":30,"output_tokens_details":{"thinking_tokens":11}}}`
	d := newDispatch(t)
	d.play(newExecutor(t, `{"model":"m"}`, provider.Anthropic),
		reply{body: messages(messageStart, blockStart("0", `{"type":"text","text":"a"}`), delta, messageStop)})
	if want := `{"promptTokens":132,"completionTokens":30,"totalTokens":162,"cachedTokens":7,"reasoningTokens":11,`; !strings.HasPrefix(d.cost(), want) {
		t.Errorf("stats %s, want %s", d.cost(), want)
	}
	if u := provider.Anthropic.Usage(nil); u.Prompt != -1 || u.Completion != -1 || u.Total != -1 || u.Cached != -1 {
		t.Errorf("of nothing: %+v", u)
	}
}

func TestAnthropicRequests(t *testing.T) {
	message := func(role, content string) func(d *dispatch) {
		return func(d *dispatch) { d.say(role, content) }
	}
	tool := func(d *dispatch) {
		d.offer("get", `{"type":"object"}`, nil)
		d.say("user", "hi")
	}
	const (
		hi     = `"messages":[{"role":"user","content":"hi"}]}`
		cached = `"cache_control":{"type":"ephemeral"}`
	)
	tests := []struct {
		name, options string
		setUp         func(d *dispatch)
		want          string
	}{
		{
			"nothing but a message", `{"model":"m"}`, message("user", "hi"),
			`{"model":"m","max_tokens":16384,"stream":true,` + cached + `,` + hi,
		},
		{
			"in one piece",
			`{"model":"m","stream":false,"max_tokens":5,"temperature":1}`,
			message("user", "hi"),
			`{"model":"m","max_tokens":5,"temperature":1,` + cached + `,` + hi,
		},
		{
			"thinking adds to the limit",
			`{"model":"m","thinking":{"type":"enabled","budget_tokens":2000}}`,
			message("user", "hi"),
			`{"model":"m","thinking":{"type":"enabled","budget_tokens":2000},"max_tokens":18384,"stream":true,` +
				cached + `,` + hi,
		},
		{
			"adaptive thinking",
			`{"model":"m","thinking":{"type":"adaptive"}}`,
			message("user", "hi"),
			`{"model":"m","thinking":{"type":"adaptive"},"max_tokens":16384,"stream":true,` + cached + `,` + hi,
		},
		{
			"caching for an hour",
			`{"model":"m","max_tokens":5,"cache_control":{"type":"ephemeral","ttl":"1h"}}`,
			tool,
			`{"model":"m","max_tokens":5,"stream":true,"cache_control":{"type":"ephemeral","ttl":"1h"},` +
				`"tools":[{"name":"get","description":"Does get","input_schema":{"type":"object"},` +
				`"cache_control":{"type":"ephemeral","ttl":"1h"}}],` + hi,
		},
		{
			"no caching",
			`{"model":"m","max_tokens":5,"cache_control":false}`,
			tool,
			`{"model":"m","max_tokens":5,"stream":true,"tools":[{"name":"get","description":"Does get",` +
				`"input_schema":{"type":"object"}}],` + hi,
		},
		{
			"caching as by default",
			`{"model":"m","max_tokens":5,"cache_control":true}`,
			message("user", "hi"),
			`{"model":"m","max_tokens":5,"stream":true,` + cached + `,` + hi,
		},
		{
			"a choice of tools",
			`{"model":"m","max_tokens":5,"cache_control":false,"tool_choice":{"type":"any"},` +
				`"toolExtras":{"get":{"strict":true}}}`,
			tool,
			`{"model":"m","max_tokens":5,"stream":true,"tools":[{"name":"get","description":"Does get",` +
				`"input_schema":{"type":"object"},"strict":true}],"tool_choice":{"type":"any"},` + hi,
		},
		{
			"a choice without tools",
			`{"model":"m","max_tokens":5,"cache_control":false,"tool_choice":{"type":"any"}}`,
			message("user", "hi"),
			`{"model":"m","max_tokens":5,"stream":true,` + hi,
		},
		{"blank messages", `{"model":"m","max_tokens":5,"cache_control":false}`, func(d *dispatch) {
			d.prompt = "\n"
			d.say("user", " ")
			d.say("user", "hi")
			d.say("assistant", "\n")
		}, `{"model":"m","max_tokens":5,"stream":true,` + hi},
		{"speakers", `{"model":"m","max_tokens":5,"cache_control":false}`, func(d *dispatch) {
			d.add(record.Messages, record.AppendMessage(nil,
				record.MessageFields{
					ID: "1", Role: "user", Content: []byte("hi"),
					Identity: &record.IdentityFields{Identifier: "ann", Representation: "Ann"}, CreatedAt: 1,
					UpdatedAt: 1,
				}))
			d.say("assistant", "Hello, Ann")
		}, `{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":"ann: hi"},` +
			`{"role":"assistant","content":[{"type":"text","text":"Hello, Ann"}]}]}`},
		{"calls of elsewhere", `{"model":"m","max_tokens":5,"cache_control":false}`, func(d *dispatch) {
			empty := value.AppendMapHeader(nil, 0)
			for _, id := range []string{"functions.get:0", "call_1"} {
				d.add(record.ToolCalls, record.AppendToolCall(nil, record.ToolCallFields{
					ID: id, Tool: "a.b", Args: empty, Checksum: "x", IsComplete: true, IsError: id == "call_1",
					Results: value.AppendString(nil, ""), CreatedAt: 1, UpdatedAt: 1, CompletedAt: 1,
				}))
			}
		}, `{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":"."},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"call_26b11359279f1206","name":"a_b",` +
			`"input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_26b11359279f1206"}]},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"a_b","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"The tool failed.",` +
			`"is_error":true}]}]}`},
		{"thoughts of elsewhere", `{"model":"m","max_tokens":5,"cache_control":false}`, func(d *dispatch) {
			d.say("user", "hi")
			for i, f := range []record.ThoughtFields{
				{ID: "1", Content: []byte("plain")},
				{ID: "2", Content: []byte("foreign"), Payload: value.AppendString(nil, "x"), ReplayCompatibility: "other"},
				{
					ID: "3", Content: []byte("malformed"), Payload: value.AppendString(nil, "x"),
					ReplayCompatibility: "anthropic-messages-thinking-v1",
				},
			} {
				f.CreatedAt, f.UpdatedAt = 2000+int64(i), 3000
				d.add(record.Thoughts, record.AppendThought(nil, f))
			}
			d.add(record.Messages, record.AppendMessage(nil,
				record.MessageFields{
					ID: "a", Role: "assistant", Content: []byte("Hello"), CreatedAt: 3000,
					UpdatedAt: 3000,
				}))
		}, `{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":"hi"},` +
			`{"role":"assistant","content":[{"type":"text","text":"Hello"}]}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDispatch(t)
			tt.setUp(d)
			d.play(newExecutor(t, tt.options, provider.Anthropic), reply{status: 500})
			r := d.requests[0]
			if got := string(r.Body); got != tt.want {
				t.Errorf("got\n%s, want\n%s", got, tt.want)
			}
			if r.URL != "https://api.anthropic.com/v1/messages" || !slices.Contains(r.Headers, [2]string{"anthropic-version", "2023-06-01"}) {
				t.Errorf("to %s with %q", r.URL, r.Headers)
			}
		})
	}
}

func TestAnthropicOptions(t *testing.T) {
	for options, want := range map[string]string{
		`{"model":"m","temperature":1.5}`:                         "`temperature` must be between 0 and 1",
		`{"model":"m","max_completion_tokens":1}`:                 "`max_completion_tokens` is not a known option",
		`{"model":"m","body":{"system":"x"}}`:                     "`body.system` is set by the executor",
		`{"model":"m","toolExtras":{"get":{"cache_control":{}}}}`: "`toolExtras.get.cache_control` is set by the executor",
		`{"model":"m","thoughts":"reasoning_content"}`:            "`thoughts` must be one of off",
		`{"model":"m","provider":"openai"}`:                       "`provider` must be one of anthropic",
	} {
		optionsFail(t, provider.Anthropic, options, want)
	}
}

func FuzzAnthropic(f *testing.F) {
	f.Add([]byte(thinkingAndTools), uint(7), true)
	f.Add([]byte(messages(messageStart, blockStart("0", `{"type":"text","text":"a"}`), stopFor("refusal"))),
		uint(0), true)
	f.Add([]byte(messages(`{"type":"error","error":{"type":"overloaded_error"}}`)), uint(3), true)
	f.Add([]byte(`{"type":"message","content":[{"type":"tool_use","id":"a","name":"get","input":{"city":"x"}}],`+
		`"stop_reason":"tool_use"}`), uint(0), true)
	f.Add([]byte(`{"type":"error","error":{"type":"overloaded_error"}}`), uint(0), false)
	f.Fuzz(func(t *testing.T, body []byte, part uint, ok bool) { anyBytes(t, provider.Anthropic, body, part, ok) })
}

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

// responseObject is the object of a response that has begun, or ended with more members.
func responseObject(status, more string) string {
	return `{"id":"resp_1","object":"response","created_at":1741476777,"status":"` + status +
		`","background":false,"error":null,"incomplete_details":null,"model":"gpt-r-1","output":[],"usage":null` + more + `}`
}

func responseEvent(kind, more string) string {
	return `{"type":"` + kind + `","sequence_number":4` + more + `}`
}

func itemEvent(kind, place, item string) string {
	return responseEvent("response.output_item."+kind, `,"output_index":`+place+`,"item":`+item)
}

func textDelta(place, text string) string {
	return responseEvent("response.output_text.delta",
		`,"item_id":"msg_1","output_index":`+place+`,"content_index":0,`+
			`"delta":"`+text+`","logprobs":[],"obfuscation":"x9"`)
}

func argsDelta(place, args string) string {
	return responseEvent("response.function_call_arguments.delta",
		`,"item_id":"fc_1","output_index":`+place+`,"delta":"`+args+`"`)
}

const (
	reasoningItem = `{"id":"rs_1","type":"reasoning","status":null,"content":[],"encrypted_content":"gAAA+/1=",` +
		`"summary":[{"type":"summary_text","text":"First this."},{"type":"summary_text","text":"Then that."}]}`
	bareReasoning = `{"id":"rs_3","type":"reasoning","encrypted_content":"gAAA3","summary":[]}`
	messageItem   = `{"id":"msg_1","type":"message","status":"completed","role":"assistant",` +
		`"content":[{"type":"output_text","text":"I look it up.\n","annotations":[]}]}`
	callItem = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"get",` +
		`"arguments":"{\"city\": \"Oslo\"}"}`
	timeItem = `{"id":"fc_2","type":"function_call","status":"completed","call_id":"call_2","name":"time",` +
		`"arguments":"{}"}`

	responseUsage = `,"usage":{"input_tokens":1125,"input_tokens_details":{"cached_tokens":1000},"output_tokens":115,` +
		`"output_tokens_details":{"reasoning_tokens":64},"total_tokens":1240}`
)

var (
	responseCreated   = responseEvent("response.created", `,"response":`+responseObject("in_progress", ""))
	responseCompleted = responseEvent("response.completed", `,"response":`+responseObject("completed", responseUsage))
)

// reasoningAndTools is a stream with a summary of reasoning, text, reasoning of which nothing is told and two calls,
// one without arguments.
var reasoningAndTools = messages(
	responseCreated, responseEvent("response.in_progress", `,"response":`+responseObject("in_progress", "")),
	itemEvent("added", "0", `{"id":"rs_1","type":"reasoning","encrypted_content":"early","summary":[]}`),
	responseEvent("response.reasoning_summary_part.added",
		`,"item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}`),
	responseEvent("response.reasoning_summary_text.delta",
		`,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"First "`),
	responseEvent("response.reasoning_summary_text.delta",
		`,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"this."`),
	responseEvent("response.reasoning_summary_text.done",
		`,"item_id":"rs_1","output_index":0,"summary_index":0,"text":"First this."`),
	responseEvent("response.reasoning_summary_part.done",
		`,"item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":"First this."}`),
	responseEvent("response.reasoning_summary_part.added",
		`,"item_id":"rs_1","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}`),
	responseEvent("response.reasoning_summary_text.delta",
		`,"item_id":"rs_1","output_index":0,"summary_index":1,"delta":"Then that."`),
	itemEvent("done", "0", reasoningItem),
	itemEvent("added", "1", `{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}`),
	responseEvent("response.content_part.added",
		`,"item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"",`+
			`"annotations":[]}`),
	textDelta("1", "I look "), textDelta("1", `it up.\n`),
	responseEvent("response.output_text.annotation.added",
		`,"item_id":"msg_1","output_index":1,"content_index":0,"annotation_index":0,`+
			`"annotation":{"type":"url_citation","text":"no"}`),
	responseEvent("response.output_text.done",
		`,"item_id":"msg_1","output_index":1,"content_index":0,"text":"I look it up.\n"`),
	responseEvent("response.content_part.done",
		`,"item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"I look it up.\n",`+
			`"annotations":[]}`),
	itemEvent("done", "1", messageItem),
	itemEvent("added", "2", `{"id":"fc_1","type":"function_call","status":"in_progress","call_id":"call_1",`+
		`"name":"get","arguments":""}`),
	argsDelta("2", `{\"city\": \"Os`), argsDelta("2", `lo\"}`),
	responseEvent("response.function_call_arguments.done",
		`,"item_id":"fc_1","output_index":2,"arguments":"{\"city\": \"Oslo\"}"`),
	itemEvent("done", "2", callItem),
	itemEvent("added", "3", `{"id":"rs_3","type":"reasoning","summary":[]}`), itemEvent("done", "3", bareReasoning),
	itemEvent("added", "4", `{"id":"fc_2","type":"function_call","status":"in_progress","call_id":"call_2",`+
		`"name":"time","arguments":""}`),
	responseEvent("response.function_call_arguments.done", `,"item_id":"fc_2","output_index":4,"arguments":"{}"`),
	itemEvent("done", "4", timeItem),
	responseCompleted,
)

func TestResponsesConversation(t *testing.T) {
	answer := messages(responseCreated, textDelta("0", "4"), textDelta("0", " degrees"), responseCompleted)
	want := []string{
		"thought t1 First ", "thought t1 this.", "thought t1 \n\n", "thought t1 Then that.", "message m2 I look ",
		"message m2 it up.\n",
		"thought t1 |", "store t1", "thought t3 |", "store t3", "message m2 |", "store m2",
		`call call_1 get{"city":"Oslo"}`, `call call_1 "4 degrees for {\"city\":\"Oslo\"}"|`, "store call_1",
		`call call_2 time{}`, `call call_2 "no clock"|`, "store call_2",
		"message m4 4", "message m4  degrees", "message m4 |", "store m4",
	}
	for _, part := range []int{0, 1, 7, 1000} {
		d := weatherDispatch(t)
		e := newExecutor(t, `{"model":"o9"}`, provider.Responses)
		d.play(e, reply{body: reasoningAndTools, part: part}, reply{body: answer, part: part})
		if !d.acked || !slices.Equal(d.events, want) {
			t.Fatalf("part %d: acked %v, nacked by %v, events\n%q, want\n%q", part, d.acked, d.nackedBy, d.events, want)
		}
		if got, want := d.cost(), `{"promptTokens":1125,"completionTokens":115,"totalTokens":1240,"cachedTokens":1000,"reasoningTokens":64,"finishReason":"completed","model":"gpt-r-1","provider":"api.openai.com","raw":{`; !strings.HasPrefix(got, want) {
			t.Errorf("stats %s, want %s", got, want)
		}
		head := `{"model":"o9","stream":true,"store":false,"include":["reasoning.encrypted_content"],` +
			`"instructions":"Be brief.","tools":[` +
			`{"type":"function","name":"get","description":"Does get","parameters":{"type":"object",` +
			`"properties":{"city":{"type":"string"}}},"strict":false},` +
			`{"type":"function","name":"time","description":"Does time","parameters":{"type":"object",` +
			`"properties":{}},"strict":false}],` +
			`"input":[{"type":"message","role":"user","content":"hi"}`
		if got := string(d.requests[0].Body); got != head+"]}" {
			t.Errorf("request %s, want %s]}", got, head)
		}
		// Reasoning stands before what it led to: the second item of it between the calls.
		want := head + `,{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA+/1=",` +
			`"summary":[{"type":"summary_text","text":"First this."},{"type":"summary_text","text":"Then that."}]},` +
			`{"type":"message","role":"assistant","content":"I look it up.\n"},` +
			`{"type":"function_call","call_id":"call_1","name":"get","arguments":"{\"city\": \"Oslo\"}"},` +
			`{"id":"rs_3","type":"reasoning","encrypted_content":"gAAA3","summary":[]},` +
			`{"type":"function_call","call_id":"call_2","name":"time","arguments":"{}"},` +
			`{"type":"function_call_output","call_id":"call_1","output":"4 degrees for {\"city\":\"Oslo\"}"},` +
			`{"type":"function_call_output","call_id":"call_2","output":"no clock"}]}`
		if got := string(d.requests[1].Body); got != want {
			t.Errorf("request\n%s, want\n%s", got, want)
		}
	}
}

func TestResponsesAnswers(t *testing.T) {
	text := textDelta("0", "Hel")
	hello := []string{"message m1 Hel", "message m1 |", "store m1"}
	tests := []struct {
		name   string
		reply  reply
		events []string // of an answer
		code   fault.Code
		says   []string // in the error
	}{
		{
			name: "one response",
			reply: reply{
				mediaType: "application/json",
				body: `{"object":"response","status":"completed","model":"m","output":[` +
					`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},` +
					`{"type":"summary_text","text":"b"}]},` +
					`{"type":"message","content":[{"type":"output_text","text":"Hel"},{"type":"output_text",` +
					`"text":"lo"}]},` +
					`{"type":"web_search_call","id":"ws_1","status":"completed"},` +
					`{"type":"message","content":[{"type":"refusal","refusal":"I'm sorry"}]}],"usage":{"input_tokens":1}}`,
			},
			events: []string{
				"thought t1 a", "thought t1 \n\n", "thought t1 b", "message m2 Hel", "message m2 lo", "message m2 \n\n",
				"message m2 I'm sorry", "thought t1 |", "store t1", "message m2 |", "store m2",
			},
		},
		{
			name: "nothing but data: no names of events, members in another order",
			reply: reply{body: `data: {"delta":"Hel","output_index":0,"type":"response.output_text.delta"}` +
				"\n\ndata: " + responseCompleted + "\n\n"},
			events: hello,
		},
		{
			name:   "[DONE] at the end, which gateways send",
			reply:  reply{body: messages(text, responseCompleted) + "data: [DONE]\n\n"},
			events: hello,
		},
		{
			name: "a refusal",
			reply: reply{body: messages(
				responseEvent("response.refusal.delta", `,"delta":"Hel"`),
				responseEvent("response.refusal.done", `,"refusal":"Hel"`),
				responseCompleted,
			)},
			events: hello,
		},
		{
			name: "reasoning of a model with open weights",
			reply: reply{body: messages(
				responseEvent("response.reasoning_text.delta", `,"output_index":0,"content_index":0,"delta":"hm"`),
				itemEvent("done", "0", `{"type":"reasoning","id":"rs_1","summary":[],`+
					`"content":[{"type":"reasoning_text","text":"hm"}]}`),
				textDelta("1", "Hel"),
				responseCompleted,
			)},
			events: []string{"thought t1 hm", "message m2 Hel", "thought t1 |", "store t1", "message m2 |", "store m2"},
		},
		{
			name: "two messages",
			reply: reply{body: messages(
				itemEvent("added", "0", `{"type":"message"}`),
				text,
				itemEvent("added", "1", `{"type":"message"}`),
				textDelta("1", "lo"),
				responseCompleted,
			)},
			events: []string{"message m1 Hel", "message m1 \n\n", "message m1 lo", "message m1 |", "store m1"},
		},
		{
			name: "no deltas",
			reply: reply{body: messages(
				responseCreated,
				itemEvent("added", "0", `{"type":"message","content":[]}`),
				itemEvent("done", "0", `{"type":"message","content":[{"type":"output_text","text":"Hel"}]}`),
				responseCompleted,
			)},
			events: hello,
		},
		{
			name: "nothing before the end",
			reply: reply{body: messages(responseEvent(
				"response.completed",
				`,"response":{"status":"completed",`+
					`"output":[{"type":"message","content":[{"type":"output_text","text":"Hel"}]}]}`,
			))},
			events: hello,
		},
		{
			name: "what has been told is not told again at the end",
			reply: reply{body: messages(
				text,
				responseEvent(
					"response.completed",
					`,"response":{"status":"completed",`+
						`"output":[{"type":"message","content":[{"type":"output_text","text":"Hel"}]}]}`,
				),
			)},
			events: hello,
		},
		{
			name: "cut short by max_output_tokens",
			reply: reply{body: messages(
				text,
				responseEvent(
					"response.incomplete",
					`,"response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`,
				),
			)},
			events: hello,
		},
		{
			name: "events of tools of the API",
			reply: reply{body: messages(
				itemEvent("added", "0", `{"type":"web_search_call","id":"ws_1"}`),
				responseEvent("response.web_search_call.searching", `,"output_index":0`),
				itemEvent("added", "1", `{"type":"mcp_call","id":"m1","name":"x","arguments":""}`),
				responseEvent("response.mcp_call_arguments.delta", `,"output_index":1,"delta":"{}"`),
				textDelta("2", "Hel"),
				responseEvent("response.some_new_event", `,"delta":"no"`),
				responseCompleted,
			)},
			events: hello,
		},
		{
			name: "incomplete without anything",
			reply: reply{body: messages(responseEvent("response.incomplete",
				`,"response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}`))},
			code: fault.ChatEmptyResponse, says: []string{`finish reason "content_filter"`},
		},
		{
			name:  "nothing in a completed response",
			reply: reply{body: messages(responseCompleted)},
			code:  fault.ChatEmptyResponse, says: []string{`finish reason "completed"`},
		},
		{
			name: "made in the background",
			reply: reply{
				mediaType: "application/json",
				body: `{"id":"resp_1","object":"response","status":"queued","background":true,"output":[],` +
					`"error":null}`,
			},
			code: fault.ChatProviderError, says: []string{"status queued"},
		},
		{
			name: "still made in the background",
			reply: reply{body: `{"object":"response",` +
				`"output":[{"type":"message","content":[{"type":"output_text","text":"Hel"}]}],` +
				`"status":"in_progress"}`},
			code: fault.ChatProviderError, says: []string{"status in_progress"},
		},
		{
			name: "cancelled",
			reply: reply{body: messages(text,
				responseEvent("response.cancelled", `,"response":{"status":"cancelled"}`))},
			code: fault.ChatProviderError, says: []string{"status cancelled"},
		},
		{
			name: "failed",
			reply: reply{body: messages(
				text,
				responseEvent(
					"response.failed",
					`,"response":`+strings.Replace(
						responseObject("failed", ""),
						`"error":null`,
						`"error":{"code":"server_error","message":"The model failed."}`,
						1,
					),
				),
			)},
			code: fault.ChatProviderError, says: []string{"The model failed. (code server_error)"},
		},
		{
			name:  "failed without a reason",
			reply: reply{body: `{"object":"response","status":"failed","error":null,"output":[]}`},
			code:  fault.ChatProviderError, says: []string{"status failed"},
		},
		{
			name: "an error first",
			reply: reply{body: messages(`{"type":"error","code":"rate_limit_exceeded","message":"Slow down",` +
				`"param":null,"sequence_number":1}`)},
			code: fault.ChatProviderError, says: []string{"Slow down (code rate_limit_exceeded)"},
		},
		{
			name: "an error in the middle, in an object, without the event's name",
			reply: reply{body: messages(text) + `data: {"type":"error","error":{"type":"server_error",` +
				`"code":"internal","message":"Oops"}}` + "\n\n" + messages(responseCompleted)},
			code: fault.ChatProviderError, says: []string{"Oops (code internal)"},
		},
		{
			name: "an error last, without the event's name",
			reply: reply{body: messages(text) + `data: {"type":"error","code":null,"message":"Late",` +
				`"param":null}` + "\n\n"},
			code: fault.ChatProviderError, says: []string{"Late"},
		},
		{
			name: "status 400",
			reply: reply{
				status:    400,
				mediaType: "application/json",
				body: `{"error":{"message":"Encrypted content is not supported with this model.",` +
					`"type":"invalid_request_error","param":"include","code":null}}`,
			},
			code: fault.ChatHTTPError, says: []string{"status 400", "Encrypted content"},
		},
		{
			name:  "a connection that breaks",
			reply: reply{body: messages(text), err: errors.New("reset")},
			code:  fault.ChatStreamError, says: []string{"reset"},
		},
		{
			name:  "a stream that just ends",
			reply: reply{body: messages(text, itemEvent("done", "0", messageItem))},
			code:  fault.ChatStreamError,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for part := range 4 {
				tt.reply.part = part
				answers(t, provider.Responses, tt.reply, tt.events, tt.code, tt.says)
			}
		})
	}
}

// The calls of a stream, however it tells them: the id of the call and not that of the item, the arguments once.
func TestResponsesCalls(t *testing.T) {
	const added = `{"id":"fc_1","type":"function_call","call_id":"call_1","name":"get","arguments":""}`
	const second = `{"id":"fc_2","type":"function_call","call_id":"call_2","name":"get","arguments":""}`
	argsDone := func(place, args string) string {
		return responseEvent("response.function_call_arguments.done",
			`,"output_index":`+place+`,"name":"get","arguments":"`+args+`"`)
	}
	one := []string{`call call_1 get{"a":1}`}
	two := []string{`call call_1 get{"a":1}`, `call call_2 get{"b":2}`}
	for name, tt := range map[string]struct {
		events []string
		want   []string
	}{
		"deltas alone": {[]string{
			itemEvent("added", "0", added), argsDelta("0", `{\"a\":`),
			argsDelta("0", `1}`),
		}, one},
		"done alone": {[]string{itemEvent("done", "0",
			strings.Replace(added, `""}`, `"{\"a\":1}"}`, 1))}, one},
		"arguments done": {[]string{itemEvent("added", "0", added), argsDone("0", `{\"a\":1}`)}, one},
		"done corrects deltas": {[]string{
			itemEvent("added", "0", added), argsDelta("0", `{\"a\":`),
			argsDone("0", `{\"a\":1}`),
		}, one},
		"whole when it begins, and again when it ends": {
			[]string{
				itemEvent("added", "0", strings.Replace(added, `""}`, `"{\"a\":1}"}`, 1)),
				itemEvent("done", "0", strings.Replace(added, `""}`, `"{\"a\":1}"}`, 1)),
			},
			one,
		},
		"interleaved": {
			[]string{
				itemEvent("added", "0", added),
				itemEvent("added", "1", second),
				argsDelta("1", `{\"b\":`),
				argsDelta("0", `{\"a\":1}`),
				argsDelta("1", `2}`),
				argsDone("0", `{\"a\":1}`),
				itemEvent("done", "1", strings.Replace(second, `""}`, `"{\"b\":2}"}`, 1)),
			},
			two,
		},
		"all at the same place": {
			[]string{
				itemEvent("added", "0", added),
				argsDelta("0", `{\"a\":1}`),
				itemEvent("added", "0", second),
				argsDelta("0", `{\"b\":2}`),
				itemEvent("done", "0", strings.Replace(added, `""}`, `"{\"a\":1}"}`, 1)),
			},
			two,
		},
		"arguments of nothing": {[]string{
			argsDelta("7", `{}`), itemEvent("added", "0", added),
			argsDelta("0", `{\"a\":1}`),
		}, one},
		"an item without a call's": {[]string{itemEvent("done", "0",
			`{"id":"call_1","type":"function_call","name":"get","arguments":"{\"a\":1}"}`)}, one},
	} {
		d := weatherDispatch(t)
		d.play(newExecutor(t, `{"model":"m"}`, provider.Responses),
			reply{body: messages(tt.events...) + messages(responseCompleted)})
		var got []string
		for _, e := range d.events {
			if strings.HasPrefix(e, "call ") && !strings.HasSuffix(e, "|") {
				got = append(got, e)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q; nacked by %v", name, got, tt.want, d.nackedBy)
		}
	}
}

// What reasoning goes back with may come at the very end.
func TestResponsesLateReasoning(t *testing.T) {
	d := weatherDispatch(t)
	d.play(
		newExecutor(t, `{"model":"m"}`, provider.Responses),
		reply{body: messages(
			itemEvent("added", "0", `{"id":"rs_1","type":"reasoning","summary":[]}`),
			itemEvent("done", "0", `{"id":"rs_1","type":"reasoning","summary":[]}`),
			itemEvent("done", "1", callItem),
			responseEvent("response.completed",
				`,"response":{"status":"completed",`+
					`"output":[{"id":"rs_1","type":"reasoning","encrypted_content":"late","summary":[]},`+callItem+`]}`),
		)},
		reply{status: 500},
	)
	if want := `{"id":"rs_1","type":"reasoning","encrypted_content":"late","summary":[]},{"type":"function_call","call_id":"call_1"`; len(d.requests) != 2 || !strings.Contains(string(d.requests[1].Body), want) {
		t.Errorf("%d requests, the last %s", len(d.requests), d.requests[len(d.requests)-1].Body)
	}
	if calls := strings.Count(string(d.requests[1].Body), `"function_call"`); calls != 1 {
		t.Errorf("%d calls", calls)
	}
}

func TestResponsesRequests(t *testing.T) {
	hi := func(d *dispatch) { d.say("user", "hi") }
	tool := func(d *dispatch) {
		d.offer("get", `{"type":"object"}`, nil)
		d.say("user", "hi")
	}
	const (
		input = `"input":[{"type":"message","role":"user","content":"hi"}]}`
		plain = `,"store":false,"include":["reasoning.encrypted_content"],`
	)
	tests := []struct {
		name, options string
		setUp         func(d *dispatch)
		want          string
	}{
		{"nothing but a message", `{"model":"m"}`, hi, `{"model":"m","stream":true` + plain + input},
		{
			"in one piece",
			`{"model":"m","stream":false,"max_output_tokens":20,"reasoning":{"effort":"low","summary":"auto"}}`,
			hi,
			`{"model":"m","max_output_tokens":20,"reasoning":{"effort":"low","summary":"auto"}` + plain + input,
		},
		{
			"a model that does not reason", `{"model":"openai/gpt-4o"}`, hi,
			`{"model":"openai/gpt-4o","stream":true,"store":false,` + input,
		},
		{
			"nor does a chat model", `{"model":"gpt-5-chat-latest"}`, hi,
			`{"model":"gpt-5-chat-latest","stream":true,"store":false,` + input,
		},
		{
			"no reasoning, but the store", `{"model":"m","include":[],"store":true}`, hi,
			`{"model":"m","include":[],"store":true,"stream":true,` + input,
		},
		{
			"a form of the text",
			`{"model":"m","text":{"format":{"type":"json_object"},"verbosity":"low"}}`,
			hi,
			`{"model":"m","text":{"format":{"type":"json_object"},"verbosity":"low"},"stream":true` + plain + input,
		},
		{
			"a choice of tools",
			`{"model":"m","tool_choice":{"type":"function","name":"get"},"parallel_tool_calls":false,` +
				`"toolExtras":{"get":{"strict":true}}}`,
			tool,
			`{"model":"m","stream":true` + plain +
				`"tools":[{"type":"function","name":"get","description":"Does get","parameters":{"type":"object",` +
				`"properties":{}},"strict":true}],"tool_choice":{"type":"function","name":"get"},` +
				`"parallel_tool_calls":false,` + input,
		},
		{
			"a choice without tools", `{"model":"m","tool_choice":"required"}`, hi,
			`{"model":"m","stream":true` + plain + input,
		},
		{"speakers", `{"model":"m"}`, func(d *dispatch) {
			d.add(record.Messages, record.AppendMessage(nil,
				record.MessageFields{
					ID: "1", Role: "user", Content: []byte("hi"),
					Identity: &record.IdentityFields{Identifier: "ann", Representation: "Ann"}, CreatedAt: 1,
					UpdatedAt: 1,
				}))
			d.say("assistant", "Hello, Ann")
		}, `{"model":"m","stream":true` + plain + `"input":[{"type":"message","role":"user","content":"ann: hi"},` +
			`{"type":"message","role":"assistant","content":"Hello, Ann"}]}`},
		{"thoughts of elsewhere", `{"model":"m"}`, func(d *dispatch) {
			d.say("user", "hi")
			for i, f := range []record.ThoughtFields{
				{ID: "1", Content: []byte("plain")},
				{
					ID: "2", Content: []byte("foreign"), Payload: value.AppendString(nil, "x"),
					ReplayCompatibility: "anthropic-messages-thinking-v1",
				},
				{
					ID: "3", Content: []byte("malformed"), Payload: value.AppendString(nil, "x"),
					ReplayCompatibility: "openai-responses-reasoning-v1",
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
		}, `{"model":"m","stream":true` + plain + `"input":[{"type":"message","role":"user","content":"hi"},` +
			`{"type":"message","role":"assistant","content":"Hello"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDispatch(t)
			tt.setUp(d)
			d.play(newExecutor(t, tt.options, provider.Responses), reply{status: 500})
			r := d.requests[0]
			if got := string(r.Body); got != tt.want {
				t.Errorf("got\n%s, want\n%s", got, tt.want)
			}
			if r.URL != "https://api.openai.com/v1/responses" {
				t.Errorf("to %s", r.URL)
			}
		})
	}
}

func TestResponsesOptions(t *testing.T) {
	for options, want := range map[string]string{
		`{"model":"m","temperature":2.5}`:                   "`temperature` must be between 0 and 2",
		`{"model":"m","max_tokens":1}`:                      "`max_tokens` is not a known option",
		`{"model":"m","body":{"input":[]}}`:                 "`body.input` is set by the executor",
		`{"model":"m","body":{"previous_response_id":"x"}}`: "`body.previous_response_id` is set by the executor",
		`{"model":"m","body":{"background":true}}`:          "`body.background` is set by the executor",
		`{"model":"m","toolExtras":{"get":{"type":"x"}}}`:   "`toolExtras.get.type` is set by the executor",
		`{"model":"m","include":"x"}`:                       "`include` must be a list",
		`{"model":"m","provider":"openai"}`:                 "`provider` must be one of openai-responses",
	} {
		optionsFail(t, provider.Responses, options, want)
	}
	if u := provider.Responses.Usage(nil); u.Prompt != -1 || u.Completion != -1 || u.Total != -1 || u.Cached != -1 {
		t.Errorf("of nothing: %+v", u)
	}
}

func FuzzResponses(f *testing.F) {
	f.Add([]byte(reasoningAndTools), uint(7), true)
	f.Add([]byte(messages(textDelta("0", "a"),
		responseEvent("response.incomplete", `,"response":{"incomplete_details":{"reason":"x"}}`))), uint(0), true)
	f.Add([]byte(messages(`{"type":"error","code":"x","message":"y"}`)), uint(3), true)
	f.Add([]byte(`{"object":"response","status":"completed",`+
		`"output":[`+reasoningItem+`,`+messageItem+`,`+callItem+`]}`), uint(0), true)
	f.Add([]byte(messages(itemEvent("done", "-9007199254740991", callItem),
		itemEvent("done", "9007199254740991", reasoningItem), responseCompleted)), uint(0), true)
	f.Add([]byte(`{"error":{"message":"x"}}`), uint(0), false)
	f.Fuzz(func(t *testing.T, body []byte, part uint, ok bool) { anyBytes(t, provider.Responses, body, part, ok) })
}

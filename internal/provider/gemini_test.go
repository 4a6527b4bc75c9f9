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

// chunks makes a stream of streamGenerateContent.
func chunks(list ...string) string {
	return "data: " + strings.Join(list, "\r\n\r\ndata: ") + "\r\n\r\n"
}

// candidate is a chunk with parts, and what else its candidate and the chunk have.
func candidate(parts, more, rest string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + more + `,"index":0}]` + rest +
		`,"modelVersion":"gemini-m","responseId":"r1"}`
}

const geminiUsage = `,"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":20,"totalTokenCount":165,` +
	`"cachedContentTokenCount":40,"thoughtsTokenCount":30,"toolUsePromptTokenCount":15,` +
	`"promptTokensDetails":[{"modality":"TEXT","tokenCount":100}]}`

// geminiTools is a stream with thoughts, text, a signature behind it, and three calls: one that is signed and has an
// id, one without arguments.
var geminiTools = chunks(
	candidate(`{"text":"First ","thought":true}`, ``,
		`,"usageMetadata":{"promptTokenCount":100,"totalTokenCount":100}`),
	candidate(`{"text":"this.","thought":true,"thoughtSignature":"sigT=="}`, ``, ``),
	candidate(`{"text":"I look "}`, ``, ``), candidate(`{"text":"it up.\n"},{"text":""}`, ``, ``),
	candidate(`{"text":"","thoughtSignature":"sigE"}`, ``, ``),
	candidate(`{"functionCall":{"id":"fc1","name":"get","args":{"city": "Oslo"}},"thoughtSignature":"sig+/1="},`+
		`{"functionCall":{"name":"get","args":{"city":"Rome"}}}`, ``, ``),
	candidate(`{"functionCall":{"name":"time"}},{"executableCode":{"code":"1"}}`,
		`,"finishReason":"STOP","safetyRatings":[]`, geminiUsage),
)

func TestGeminiConversation(t *testing.T) {
	answer := chunks(candidate(`{"text":"4 degrees","thoughtSignature":"sigX"}`, `,"finishReason":"STOP"`, geminiUsage))
	want := []string{
		"thought t1 First ", "thought t1 this.", "message m3 I look ", "message m3 it up.\n",
		"thought t1 |", "store t1", "thought t2 |", "store t2", "message m3 |", "store m3",
		`call fc1 get{"city":"Oslo"}`, `call fc1 "4 degrees for {\"city\":\"Oslo\"}"|`, "store fc1",
		`call c4 get{"city":"Rome"}`, `call c4 "4 degrees for {\"city\":\"Rome\"}"|`, "store c4",
		`call c5 time{}`, `call c5 "no clock"|`, "store c5",
		"message m8 4 degrees", "thought t7 |", "store t7", "message m8 |", "store m8",
	}
	for _, part := range []int{0, 1, 7, 1000} {
		d := weatherDispatch(t)
		e := newExecutor(t, `{"model":"gemini-m"}`, provider.Gemini)
		d.play(e, reply{body: geminiTools, part: part}, reply{body: answer, part: part})
		if !d.acked || !slices.Equal(d.events, want) {
			t.Fatalf("part %d: acked %v, nacked by %v, events\n%q, want\n%q", part, d.acked, d.nackedBy, d.events, want)
		}
		if got, want := d.cost(), `{"promptTokens":115,"completionTokens":50,"totalTokens":165,"cachedTokens":40,"reasoningTokens":30,"finishReason":"STOP","model":"gemini-m","provider":"generativelanguage.googleapis.com","raw":{"promptTokenCount":100,`; !strings.HasPrefix(got, want) {
			t.Errorf("stats %s, want %s", got, want)
		}
		head := `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"tools":[{"functionDeclarations":[` +
			`{"name":"get","description":"Does get","parametersJsonSchema":{"type":"object",` +
			`"properties":{"city":{"type":"string"}}}},` +
			`{"name":"time","description":"Does time","parametersJsonSchema":{"type":"object"}}]}],` +
			`"contents":[{"role":"user","parts":[{"text":"hi"}]}`
		if got := string(d.requests[0].Body); got != head+"]}" {
			t.Errorf("request %s, want %s]}", got, head)
		}
		want := head + `,{"role":"model","parts":[{"text":"First this.","thought":true,"thoughtSignature":"sigT=="},` +
			`{"text":"I look it up.\n"},{"text":"","thoughtSignature":"sigE"},` +
			`{"functionCall":{"id":"fc1","name":"get","args":{"city": "Oslo"}},"thoughtSignature":"sig+/1="},` +
			`{"functionCall":{"name":"get","args":{"city":"Rome"}}},{"functionCall":{"name":"time","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"fc1","name":"get",` +
			`"response":{"output":"4 degrees for {\"city\":\"Oslo\"}"}}},` +
			`{"functionResponse":{"name":"get","response":{"output":"4 degrees for {\"city\":\"Rome\"}"}}},` +
			`{"functionResponse":{"name":"time","response":{"error":"no clock"}}}]}]}`
		if got := string(d.requests[1].Body); got != want {
			t.Errorf("request\n%s, want\n%s", got, want)
		}
		// The signature of the answer's text goes back with it.
		d.acked = false
		d.say("user", "Thanks")
		d.play(e, reply{status: 500})
		want = `,{"role":"model","parts":[{"text":"4 degrees","thoughtSignature":"sigX"}]},` +
			`{"role":"user","parts":[{"text":"Thanks"}]}]}`
		if got := string(d.requests[2].Body); !strings.HasSuffix(got, want) {
			t.Errorf("request\n%s, want …%s", got, want)
		}
	}
}

func TestGeminiAnswers(t *testing.T) {
	text := candidate(`{"text":"Hel"}`, ``, ``)
	tests := []struct {
		name   string
		reply  reply
		events []string // of an answer
		code   fault.Code
		says   []string // in the error
	}{
		{
			name: "in one piece",
			reply: reply{
				mediaType: "application/json",
				body: candidate(
					`{"text":"hm","thought":true},{"text":"a"},{"text":"b","thoughtSignature":"s"}`,
					`,"finishReason":"STOP"`,
					geminiUsage,
				),
			},
			events: []string{
				"thought t1 hm", "message m3 a", "message m3 b", "thought t1 |", "store t1",
				"thought t2 |", "store t2", "message m3 |", "store m3",
			},
		},
		{
			name: "other candidates and parts",
			reply: reply{body: chunks(`{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model",` +
				`"parts":[{"inlineData":{"mimeType":"image/png","data":""}},{"thoughtSignature":"s"},{"text":"Hi"},` +
				`{"text":7}]}},{"content":{"parts":[{"text":"no"}]},"index":1}]}`)},
			events: []string{"message m3 Hi", "message m3 |", "store m3"},
		},
		{
			name:   "cut short by maxOutputTokens",
			reply:  reply{body: chunks(text, candidate(``, `,"finishReason":"MAX_TOKENS"`, geminiUsage))},
			events: []string{"message m3 Hel", "message m3 |", "store m3"},
		},
		{
			name:  "nothing but thoughts that maxOutputTokens cut short",
			reply: reply{body: chunks(`{"candidates":[{"finishReason":"MAX_TOKENS","index":0}]}`)},
			code:  fault.ChatEmptyResponse, says: []string{`finish reason "MAX_TOKENS"`},
		},
		{
			name: "a blocked prompt",
			reply: reply{body: chunks(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","safetyRatings":[]},` +
				`"usageMetadata":{"promptTokenCount":7,"totalTokenCount":7},"modelVersion":"m"}`)},
			code: fault.ChatRefused, says: []string{"(code PROHIBITED_CONTENT)"},
		},
		{
			name:  "a blocked prompt, with words",
			reply: reply{body: `{"promptFeedback":{"blockReasonMessage":"Not this.","blockReason":"SAFETY"}}`},
			code:  fault.ChatRefused, says: []string{"Not this. (code SAFETY)"},
		},
		{
			name: "a prompt that is not blocked",
			reply: reply{body: chunks(`{"promptFeedback":{"safetyRatings":[]}}`, text,
				candidate(``, `,"finishReason":"STOP"`, ``))},
			events: []string{"message m3 Hel", "message m3 |", "store m3"},
		},
		{
			name: "an answer that a filter stopped",
			reply: reply{body: chunks(
				text,
				`{"candidates":[{"finishReason":"SAFETY","index":0,`+
					`"safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"HIGH"}]}]`+geminiUsage+`}`,
			)},
			code: fault.ChatRefused, says: []string{"(code SAFETY)"},
		},
		{
			name: "a malformed call",
			reply: reply{body: chunks(candidate(``,
				`,"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(get())"`,
				geminiUsage))},
			code: fault.ChatProviderError,
			says: []string{"Malformed function call: print(get()) (code MALFORMED_FUNCTION_CALL)"},
		},
		{
			name: "an error first",
			reply: reply{body: chunks(`{"error":{"code":503,"message":"The model is overloaded.",` +
				`"status":"UNAVAILABLE"}}`)},
			code: fault.ChatProviderError, says: []string{"The model is overloaded. (code 503)"},
		},
		{
			name:  "an error in the place of the stream",
			reply: reply{body: "{\n  \"error\": {\n    \"code\": 500,\n    \"message\": \"Internal\"\n  }\n}\n"},
			code:  fault.ChatProviderError, says: []string{"Internal (code 500)"},
		},
		{
			name: "an error in the middle",
			reply: reply{body: chunks(text, `{"error":{"code":500,"message":"Internal","status":"INTERNAL"}}`,
				candidate(``, `,"finishReason":"STOP"`, ``))},
			code: fault.ChatProviderError, says: []string{"Internal"},
		},
		{
			name: "a bare error in the middle",
			reply: reply{body: chunks(text) +
				"{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"The model is overloaded.\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n"},
			code: fault.ChatProviderError, says: []string{"The model is overloaded. (code 503)"},
		},
		{
			name: "a bare list with an error in the middle",
			reply: reply{body: chunks(text) +
				"[{\r\n  \"error\": {\r\n    \"code\": 500,\r\n    \"message\": \"Internal\"\r\n  }\r\n}\r\n]\r\n"},
			code: fault.ChatProviderError, says: []string{"Internal (code 500)"},
		},
		{
			name:  "half a bare error at the end",
			reply: reply{body: chunks(text) + "{\n  \"error\": {\n    \"code\": 503,\n"},
			code:  fault.ChatStreamError,
		},
		{
			name: "an error last",
			reply: reply{body: chunks(text, candidate(``, `,"finishReason":"STOP"`, ``),
				`{"error":{"code":500,"message":"Late"}}`)},
			code: fault.ChatProviderError, says: []string{"Late"},
		},
		{
			name: "a list of errors",
			reply: reply{
				status:    429,
				mediaType: "application/json",
				body:      "[{\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"Quota exceeded\",\n    \"status\": \"RESOURCE_EXHAUSTED\"\n  }\n}\n]",
			},
			code: fault.ChatHTTPError, says: []string{"status 429", "Quota exceeded (code 429)"},
		},
		{
			name:  "a connection that breaks",
			reply: reply{body: chunks(text), err: errors.New("reset")},
			code:  fault.ChatStreamError, says: []string{"reset"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for part := range 4 {
				tt.reply.part = part
				answers(t, provider.Gemini, tt.reply, tt.events, tt.code, tt.says)
			}
		})
	}
}

func TestGeminiRequests(t *testing.T) {
	hi := func(d *dispatch) { d.say("user", "hi") }
	tool := func(d *dispatch) {
		d.offer("get", `{"type":"object","additionalProperties":false,"$schema":"x"}`, nil)
		d.say("user", "hi")
	}
	const contents = `"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	const get = `"tools":[{"functionDeclarations":[{"name":"get","description":"Does get",` +
		`"parametersJsonSchema":{"type":"object","additionalProperties":false,"$schema":"x"}`
	tests := []struct {
		name, options string
		setUp         func(d *dispatch)
		path, want    string
	}{
		{"nothing but a message", `{"model":"m-1"}`, hi, "/models/m-1:streamGenerateContent?alt=sse", `{` + contents},
		{"in one piece", `{"model":"m-1","stream":false}`, hi, "/models/m-1:generateContent", `{` + contents},
		{
			"a model of one's own", `{"model":"tunedModels/a b?#"}`, hi,
			"/tunedModels/a%20b%3F%23:streamGenerateContent?alt=sse", `{` + contents,
		},
		{
			"options have their places",
			`{"model":"m","temperature":0.5,"safetySettings":[],"maxOutputTokens":9,"body":{"labels":{"a":"b"}},` +
				`"thinkingConfig":{"includeThoughts":true}}`, hi,
			"/models/m:streamGenerateContent?alt=sse",
			`{"safetySettings":[],"labels":{"a":"b"},"generationConfig":{"temperature":0.5,"maxOutputTokens":9,` +
				`"thinkingConfig":{"includeThoughts":true}},` + contents,
		},
		{
			"generationConfig as a whole", `{"model":"m","seed":1,"generationConfig":{"seed":2,"new":{"x":[1]}}}`, hi,
			"/models/m:streamGenerateContent?alt=sse", `{"generationConfig":{"seed":1,"new":{"x":[1]}},` + contents,
		},
		{
			"a choice of tools", `{"model":"m","topK":3,"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},` +
				`"toolExtras":{"get":{"behavior":"BLOCKING"}}}`, tool,
			"/models/m:streamGenerateContent?alt=sse", `{` + get + `,"behavior":"BLOCKING"}]}],` +
				`"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"generationConfig":{"topK":3},` + contents,
		},
		{
			"a choice without tools", `{"model":"m","toolConfig":{}}`, hi, "/models/m:streamGenerateContent?alt=sse",
			`{` + contents,
		},
		{"blank messages and speakers", `{"model":"m"}`, func(d *dispatch) {
			d.say("user", "\n")
			d.say("assistant", " ")
			d.add(record.Messages, record.AppendMessage(nil,
				record.MessageFields{
					ID: "1", Role: "user", Content: []byte("hi"),
					Identity: &record.IdentityFields{Identifier: "ann", Representation: "Ann"}, CreatedAt: 5000,
					UpdatedAt: 5000,
				}))
		}, "/models/m:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"ann: hi"}]}]}`},
		{
			"calls and thoughts of elsewhere", `{"model":"m"}`, func(d *dispatch) {
				d.add(record.Thoughts, record.AppendThought(nil,
					record.ThoughtFields{
						ID: "t", Content: []byte("plain"), Payload: value.AppendString(nil, "x"),
						ReplayCompatibility: "gemini-thought-signature-v1", CreatedAt: 1, UpdatedAt: 1,
					}))
				d.add(record.ToolCalls, record.AppendToolCall(nil, record.ToolCallFields{
					ID: "call_1", Tool: "a.b:c d", Args: value.AppendMapHeader(nil, 0), Checksum: "x", IsComplete: true,
					Results: value.AppendString(nil, ""), CreatedAt: 1, UpdatedAt: 1, CompletedAt: 1,
				}))
			}, "/models/m:streamGenerateContent?alt=sse",
			`{"contents":[{"role":"user","parts":[{"text":"."}]},` +
				`{"role":"model","parts":[{"functionCall":{"name":"a.b:c_d","args":{}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"name":"a.b:c_d","response":{"output":""}}}]}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDispatch(t)
			tt.setUp(d)
			d.play(newExecutor(t, tt.options, provider.Gemini), reply{status: 500})
			r := d.requests[0]
			if got := string(r.Body); got != tt.want {
				t.Errorf("got\n%s, want\n%s", got, tt.want)
			}
			if want := "https://generativelanguage.googleapis.com/v1beta" + tt.path; r.URL != want {
				t.Errorf("to %s, want %s", r.URL, want)
			}
		})
	}
}

func TestGeminiOptions(t *testing.T) {
	for options, want := range map[string]string{
		`{"model":"m","temperature":3}`:                        "`temperature` must be between 0 and 2",
		`{"model":"m","candidateCount":2}`:                     "`candidateCount` must be 1",
		`{"model":"m","max_tokens":1}`:                         "`max_tokens` is not a known option",
		`{"model":"m","body":{"contents":[]}}`:                 "`body.contents` is set by the executor",
		`{"model":"m","toolExtras":{"get":{"parameters":{}}}}`: "`toolExtras.get.parameters` is set by the executor",
	} {
		optionsFail(t, provider.Gemini, options, want)
	}
}

func FuzzGemini(f *testing.F) {
	f.Add([]byte(geminiTools), uint(7), true)
	f.Add([]byte(chunks(candidate(`{"text":"a","thoughtSignature":"s"}`, `,"finishReason":"SAFETY"`, geminiUsage))),
		uint(0), true)
	f.Add([]byte(`{"promptFeedback":{"blockReason":"SAFETY"}}`), uint(3), true)
	f.Add([]byte(`[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]`), uint(0), false)
	f.Fuzz(func(t *testing.T, body []byte, part uint, ok bool) { anyBytes(t, provider.Gemini, body, part, ok) })
}

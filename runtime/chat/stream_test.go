package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// sse makes a stream of chunks, with [DONE] at its end.
func sse(chunks ...string) string {
	return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\ndata: [DONE]\n\n"
}

// delta is a chunk with one delta.
func delta(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }

func text(s string) string { return delta(`{"content":"` + s + `"}`) }

const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

// events returns the events of an answer, without the id of the turn.
func TestAnswers(t *testing.T) {
	tests := []struct {
		name   string
		body   string
		mime   string
		events []string
	}{
		{
			"text", sse(text("Hel"), text(""), text("lo"), stop), "",
			[]string{"message m1 Hel", "message m1 lo", "stats", "message m1 |", "store m1"},
		},
		{
			"reasoning before text", sse(delta(`{"reasoning_content":"hm","content":null}`), text("so"), stop), "",
			[]string{"thought t1 hm", "message m2 so", "stats", "thought t1 |", "store t1", "message m2 |", "store m2"},
		},
		{
			"the same reasoning in two fields", sse(delta(`{"reasoning_content":"hm","reasoning":"hm"}`), text("so"), stop), "",
			[]string{"thought t1 hm", "message m3 so", "stats", "thought t1 |", "store t1", "message m3 |", "store m3"},
		},
		{
			"reasoning in reasoning_details alone", sse(delta(`{"reasoning_details":[{"type":"reasoning.text","text":"h"}]}`), delta(`{"reasoning_details":[{"type":"reasoning.summary","summary":"m"},{"data":"x"}]}`), text("so"), stop), "",
			[]string{"thought t1 h", "thought t1 m", "message m2 so", "stats", "thought t1 |", "store t1", "message m2 |", "store m2"},
		},
		{
			"reasoning_details beside another field", sse(delta(`{"reasoning_details":[{"text":"h?"}],"reasoning":"h"}`), delta(`{"reasoning":"m","reasoning_details":[{"text":"m?"}]}`), delta(`{"reasoning_details":[{"text":"","signature":"s"}]}`), text("so"), stop), "",
			[]string{"thought t1 h", "thought t1 m", "message m2 so", "stats", "thought t1 |", "store t1", "message m2 |", "store m2"},
		},
		{
			"different reasoning in two fields", sse(delta(`{"reasoning_content":"a","reasoning":"b"}`), text("so"), stop), "",
			[]string{"thought t1 a", "message m3 so", "stats", "thought t1 |", "store t1", "thought t2 b|", "store t2", "message m3 |", "store m3"},
		},
		{
			"blank reasoning is shown, not stored", sse(delta(`{"reasoning":"\n"}`), text("so"), stop), "",
			[]string{"thought t1 \n", "message m2 so", "stats", "thought t1 |", "message m2 |", "store m2"},
		},
		{
			"content in parts", sse(delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"text":"s","type":"text"},{"type":"image","text":"?"},"o"]}`), stop), "",
			[]string{"thought t1 hm", "message m2 s", "message m2 o", "stats", "thought t1 |", "store t1", "message m2 |", "store m2"},
		},
		{
			"thinking as a string", sse(delta(`{"content":[{"type":"thinking","thinking":"h\u006d"}]}`), text("so"), stop), "",
			[]string{"thought t1 hm", "message m2 so", "stats", "thought t1 |", "store t1", "message m2 |", "store m2"},
		},
		{
			"refusal", sse(delta(`{"content":null,"refusal":"I'm sorry"}`), stop), "",
			[]string{"message m1 I'm sorry", "stats", "message m1 |", "store m1"},
		},
		{
			"escapes", sse(text(`\"\u00e9\ud83d\ude00\n`), stop), "",
			[]string{"message m1 \"é😀\n", "stats", "message m1 |", "store m1"},
		},
		{
			"CR LF and no [DONE]", "data: " + text("a") + "\r\n\r\ndata: " + stop, "",
			[]string{"message m1 a", "stats", "message m1 |", "store m1"},
		},
		{
			"other choices and chunks that are no JSON", sse(text("a"), `{"choices":[{"index":1,"delta":{"content":"no"}}]}`, `oops`, `[]`, `{"choices":null}`, `{"choices":[null]}`, stop), "",
			[]string{"message m1 a", "stats", "message m1 |", "store m1"},
		},
		{
			"nothing counts after [DONE]", sse(text("a"), stop) + "data: " + text("no") + "\n\n", "",
			[]string{"message m1 a", "stats", "message m1 |", "store m1"},
		},
		{
			"a last chunk that repeats the message", sse(text("a"), `{"choices":[{"delta":{},"message":{"content":"a"},"finish_reason":"stop"}]}`), "",
			[]string{"message m1 a", "stats", "message m1 |", "store m1"},
		},
		{
			"JSON", `{"choices":[{"message":{"role":"assistant","content":"Hello","reasoning":"hm"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`, "application/json",
			[]string{"message m1 Hello", "thought t2 hm", "stats", "thought t2 |", "store t2", "message m1 |", "store m1"},
		},
		{
			"JSON that says it is a stream", "\n " + `{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}`, "text/event-stream",
			[]string{"message m1 Hello", "stats", "message m1 |", "store m1"},
		},
		{
			"a stream that says it is JSON", sse(text("a"), stop), "application/json",
			[]string{"message m1 a", "stats", "message m1 |", "store m1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(4) {
				d := newDispatch(t)
				d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) {
					return &response{mime: tt.mime, parts: split(tt.body, seed)}, nil
				}
				d.iterate(newExecutor(t, `{"model":"m"}`), 1)
				if !d.acked {
					t.Fatalf("not acked: %v", d.nacked)
				}
				for i, e := range d.events {
					d.events[i] = strings.Replace(e, "turn.", "", 1)
				}
				if !slices.Equal(d.events, tt.events) {
					t.Errorf("got %q, want %q", d.events, tt.events)
				}
				if d.open() != nil {
					t.Error("streams are open")
				}
			}
		})
	}
}

func TestStats(t *testing.T) {
	const usage = `{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"x":[1]}`
	tests := []struct{ name, body, want string }{
		{
			"usage with empty choices", sse(`{"model":"m-1","choices":[{"delta":{"content":"a"}}],"usage":null}`, stop, `{"choices":[],"usage":`+usage+`}`),
			`{"promptTokens":5,"completionTokens":2,"totalTokens":7,"finishReason":"stop","model":"m-1","provider":"api.openai.com","raw":` + usage + `}`,
		},
		{
			"Groq's", sse(text("a"), `{"provider":"G","choices":[],"x_groq":{"id":"x","usage":`+usage+`}}`),
			`{"promptTokens":5,"completionTokens":2,"totalTokens":7,"provider":"G","raw":` + usage + `}`,
		},
		{
			"no usage", sse(text("a"), stop), `{"finishReason":"stop","provider":"api.openai.com"}`,
		},
	}
	for _, tt := range tests {
		d := newDispatch(t)
		d.replies(tt.body)
		d.iterate(newExecutor(t, `{"model":"m"}`), 1)
		if got := d.json(d.stats); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestNacks(t *testing.T) {
	transport := errors.New("connection reset")
	tests := []struct {
		name     string
		response response
		body     string
		err      error
		code     fault.Code
		want     []string
		open     bool // a stream was open before
	}{
		{name: "404", response: response{status: 404, mime: "application/json"}, body: `{"error":{"message":"no such model","code":"model_not_found"}}`, code: fault.ChatHTTPError, want: []string{"status 404", "no such model (code model_not_found)"}},
		{name: "500 in HTML", response: response{status: 500, mime: "text/html"}, body: "<h1>oops</h1>" + strings.Repeat("x", 1<<20), code: fault.ChatHTTPError, want: []string{"status 500", "<h1>oops</h1>", "…"}},
		{name: "429 without a body", response: response{status: 429}, code: fault.ChatHTTPError, want: []string{"status 429"}},
		{name: "400 as a list", response: response{status: 400}, body: "[{\n\"error\": {\"code\": 400, \"message\": \"bad key\"}\n}\n]", code: fault.ChatHTTPError, want: []string{"bad key (code 400)"}},
		{name: "302", response: response{status: 302}, code: fault.ChatHTTPError, want: []string{"status 302"}},
		{name: "error first", body: sse(`{"error":{"message":"overloaded","code":529}}`), code: fault.ChatProviderError, want: []string{"overloaded (code 529)"}},
		{name: "error in the middle", body: sse(text("Hel"), `{"error":{"message":"overloaded"}}`, text("lo")), code: fault.ChatProviderError, want: []string{"overloaded"}, open: true},
		{name: "error in the choice", body: sse(`{"choices":[{"delta":{"content":""},"error":{"code":502,"message":"upstream","metadata":{"raw":"boom"}}}]}`), code: fault.ChatProviderError, want: []string{"upstream: boom (code 502)"}},
		{name: "error event", body: "event: error\ndata: {\"message\":\"gone\",\"type\":\"api_error\"}\n\n", code: fault.ChatProviderError, want: []string{"gone (code api_error)"}},
		{name: "error event in words", body: "event: error\ndata: gone\n\n", code: fault.ChatProviderError, want: []string{"gone"}},
		{name: "error as a string", body: sse(`{"error":"out of memory"}`), code: fault.ChatProviderError, want: []string{"out of memory"}},
		{name: "error in JSON with 200", response: response{mime: "application/json"}, body: `{"error":{"message":"no"}}`, code: fault.ChatProviderError, want: []string{"no"}},
		{name: "nothing", body: sse(), code: fault.ChatEmptyResponse},
		{name: "nothing but an end", body: sse(stop), code: fault.ChatEmptyResponse, want: []string{`finish reason "stop"`}},
		{name: "nothing but reasoning", body: sse(delta(`{"reasoning":"hm"}`), `{"choices":[{"delta":{},"finish_reason":"length"}]}`), code: fault.ChatEmptyResponse, want: []string{`"length"`}, open: true},
		{name: "a page", response: response{mime: "text/html"}, body: "<html>log in</html>", code: fault.ChatStreamError, want: []string{`"text/html"`}},
		{name: "half a JSON", response: response{mime: "application/json"}, body: `{"choices":[{"message":{"content":"Hel`, code: fault.ChatStreamError},
		{name: "connection lost", body: "data: " + text("Hel") + "\n\n", response: response{err: transport}, code: fault.ChatStreamError, want: []string{"connection reset"}, open: true},
		{name: "stalled", body: "data: " + text("Hel") + "\n\n", response: response{err: runtime.ErrIdle}, code: fault.ChatStreamStalled, want: []string{"60000 ms"}, open: true},
		{name: "an event without end", body: "data: " + strings.Repeat("a", 9<<20), code: fault.ChatStreamError, want: []string{"longer than"}},
		{name: "too many calls", body: sse(delta(`{"tool_calls":[` + strings.Repeat(`{"function":{"name":"x"}},`, 256) + `{"function":{"name":"x"}}]}`)), code: fault.ChatStreamError, want: []string{"256 tool calls"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDispatch(t)
			r := tt.response
			r.parts = split(tt.body, 0)
			d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) { return &r, nil }
			d.iterate(newExecutor(t, `{"model":"m","retry":{"maxAttempts":1}}`), 1)
			if !fault.Is(d.nacked, tt.code) {
				t.Fatalf("nacked with %v, acked: %v", d.nacked, d.acked)
			}
			for _, part := range tt.want {
				if !strings.Contains(d.nacked.Error(), part) {
					t.Errorf("%q is not in %q", part, d.nacked)
				}
			}
			if len(d.nacked.Error()) > 4<<10 {
				t.Errorf("a message of %d bytes", len(d.nacked.Error()))
			}
			if d.open() != nil || (len(d.streams) > 0) != tt.open {
				t.Errorf("streams: %q, open %q", d.events, d.open())
			}
			for kind, list := range d.records {
				if len(list) > 0 {
					t.Errorf("stored a %v", record.Kind(kind))
				}
			}
		})
	}
}

// An error of the host about a request that it did not send stays the host's error.
func TestRequestFails(t *testing.T) {
	refused := fault.New(fault.HTTPNotAllowed)
	for _, early := range []bool{true, false} {
		d := newDispatch(t)
		d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) {
			if early {
				return nil, refused
			}
			return failing{refused}, nil
		}
		d.iterate(newExecutor(t, `{"model":"m"}`), 1)
		if d.nacked != error(refused) {
			t.Errorf("nacked with %v", d.nacked)
		}
	}
	d := newDispatch(t)
	d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) { return failing{runtime.ErrIdle}, nil }
	d.iterate(newExecutor(t, `{"model":"m","requestTimeoutMs":50}`), 1)
	if !fault.Is(d.nacked, fault.ChatRequestTimeout) || !strings.Contains(d.nacked.Error(), "50 ms") {
		t.Errorf("nacked with %v", d.nacked)
	}
}

type failing struct{ err error }

func (f failing) Next() (runtime.Chunk, bool, error) { return runtime.Chunk{}, false, f.err }
func (f failing) Idle(uint64)                        {}
func (f failing) Cancel()                            {}

// A stream that announced its end has ended, whatever the connection does later.
func TestAfterDone(t *testing.T) {
	for _, err := range []error{runtime.ErrIdle, errors.New("reset")} {
		r := &response{parts: split(sse(text("a"), stop), 0), err: err}
		d := newDispatch(t)
		d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) { return r, nil }
		d.iterate(newExecutor(t, `{"model":"m","idleTimeoutMs":0}`), 1)
		if !d.acked {
			t.Errorf("%v: nacked with %v", err, d.nacked)
		}
		if r.idle == 0 || r.idle > 5000 {
			t.Errorf("waits %d ms for the end", r.idle)
		}
	}
}

// An abort at any point ends the iteration without a signal, and completes open streams.
func TestAbort(t *testing.T) {
	body := sse(delta(`{"reasoning":"hm"}`), text("Hel"), text("lo"), delta(`{"tool_calls":[{"id":"a","function":{"name":"get","arguments":"{}"}},{"id":"b","function":{"name":"get","arguments":"{}"}}]}`), stop)
	parts := len(split(body, 1))
	for at := range parts + 3 {
		d := newDispatch(t)
		d.tools = []*runtime.Tool{{Number: 1, Name: "get", InputSchema: fromJSON(t, `{"type":"object"}`)}}
		r := &response{parts: split(body, 1)}
		r.onNext = func(n int) {
			if n == at {
				d.aborted = true
				r.at, r.err = len(r.parts)+1, errors.New("aborted")
			}
		}
		d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) { return r, nil }
		d.run = func(*runtime.Tool, []byte) ([]byte, error) {
			d.aborted = true
			return nil, errors.New("aborted")
		}
		d.iterate(newExecutor(t, `{"model":"m"}`), 1)
		if d.Signalled() {
			t.Errorf("at %d: acked %v, nacked %v", at, d.acked, d.nacked)
		}
		if d.open() != nil {
			t.Errorf("at %d: open %q", at, d.open())
		}
		if len(d.records[record.ToolCalls]) > 0 {
			t.Errorf("at %d: stored a call", at)
		}
		if at <= parts && len(d.records[record.Messages]) > 0 {
			t.Errorf("at %d: stored a message", at)
		}
	}
}

// A failing report ends the iteration with its error.
func TestReportFails(t *testing.T) {
	sealed := errors.New("sealed by somebody else")
	d := newDispatch(t)
	d.failReport = sealed
	d.replies(sse(text("a"), stop))
	if err := newExecutor(t, `{"model":"m"}`).Execute(d); err != sealed {
		t.Errorf("got %v", err)
	}
	if d.Signalled() || d.open() != nil {
		t.Errorf("acked %v, nacked %v, open %q", d.acked, d.nacked, d.open())
	}
}

// The model may have nothing to add after its tools.
func TestEmptyAfterTools(t *testing.T) {
	d := newDispatch(t)
	d.tools = []*runtime.Tool{{Number: 1, Name: "get", InputSchema: fromJSON(t, `{"type":"object"}`)}}
	d.run = func(*runtime.Tool, []byte) ([]byte, error) { return fromJSON(t, `"ok"`), nil }
	d.replies(sse(delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"get"}}]}`)), sse(stop))
	d.iterate(newExecutor(t, `{"model":"m"}`), 5)
	if !d.acked || d.iteration != 2 {
		t.Errorf("acked %v, nacked %v after %d iterations", d.acked, d.nacked, d.iteration)
	}
}

// A listener may signal during the answer; the answer is stored and the first signal stands.
func TestSignalInListener(t *testing.T) {
	for _, body := range []string{sse(text("a"), stop), sse(text("a"), `{"error":"late"}`)} {
		d := newDispatch(t)
		d.onReport = func() { d.acked = true }
		d.replies(body)
		d.iterate(newExecutor(t, `{"model":"m"}`), 2)
		if !d.acked || d.nacked != nil || d.open() != nil {
			t.Errorf("acked %v, nacked %v, open %q", d.acked, d.nacked, d.open())
		}
	}
}

// The error includes the provider's own error object, unless it is large.
func TestProviderErrorDetails(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{sse(`{"error":{"message":"no","code":7,"more":[1]}}`), `{"message":"no","code":7,"more":[1]}`},
		{sse(`{"error":"no"}`), `"no"`},
		{sse(`{"error":{"message":"` + strings.Repeat("x", 20<<10) + `"}}`), ""},
		{sse(`{"error":{"message":"deep","x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`), ""},
	} {
		d := newDispatch(t)
		d.replies(tt.body)
		d.iterate(newExecutor(t, `{"model":"m"}`), 1)
		got := ""
		if details := fault.DetailsOf(d.nacked); details != nil {
			got = d.json(details)
		}
		if got != tt.want {
			t.Errorf("details %s, want %s", got, tt.want)
		}
	}
}

// A stream that ends without announcing it is not an answer; a finish reason is as good as [DONE].
func TestStreamWithoutEnd(t *testing.T) {
	for _, tt := range []struct {
		body string
		code fault.Code // empty for success
	}{
		{"data: " + text("Hel") + "\n\n", fault.ChatStreamError},
		{"data: " + text("Hel") + "\n\ndata: " + stop[:20], fault.ChatStreamError},
		{"data: " + text("Hel") + "\n\ndata: " + stop, ""},
		{"data: " + text("Hel") + "\n\ndata: [DONE]", ""},
		{"", fault.ChatEmptyResponse},
	} {
		d := newDispatch(t)
		d.replies(tt.body)
		d.iterate(newExecutor(t, `{"model":"m","retry":{"maxAttempts":1}}`), 1)
		if d.acked != (tt.code == "") || tt.code != "" && !fault.Is(d.nacked, tt.code) {
			t.Errorf("%q: acked %v, nacked with %v", tt.body, d.acked, d.nacked)
		}
		if d.open() != nil {
			t.Errorf("%q: open %q", tt.body, d.open())
		}
	}
}

// An incomplete JSON chunk was a part of the answer.
func TestBrokenChunk(t *testing.T) {
	for _, tt := range []struct {
		body  string
		acked bool
	}{
		{sse(text("Hel"), text("lo")[:30], text("."), stop), false},
		{sse(text("Hello."), stop, text("more")[:30]), true},
	} {
		d := newDispatch(t)
		d.replies(tt.body)
		d.iterate(newExecutor(t, `{"model":"m"}`), 1)
		if d.acked != tt.acked || !d.acked && !fault.Is(d.nacked, fault.ChatStreamError) || d.open() != nil {
			t.Errorf("%q: acked %v, nacked with %v, open %q", tt.body, d.acked, d.nacked, d.open())
		}
	}
}

// A stream with a finish reason has ended, whatever the connection does later.
func TestAfterFinish(t *testing.T) {
	for _, err := range []error{runtime.ErrIdle, errors.New("reset")} {
		r := &response{parts: split("data: "+text("a")+"\n\ndata: "+stop+"\n\n", 0), err: err}
		d := newDispatch(t)
		d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) { return r, nil }
		d.iterate(newExecutor(t, `{"model":"m"}`), 1)
		if !d.acked || r.idle > 10_000 {
			t.Errorf("%v: nacked with %v, waits %d ms", err, d.nacked, r.idle)
		}
	}
}

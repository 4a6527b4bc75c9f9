package chat_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// calls is a chunk with tool calls.
func calls(list string) string { return delta(`{"tool_calls":[` + list + `]}`) }

// withTools adds tools that answer with their arguments, and "boom", which fails.
func withTools(t testing.TB, d *dispatch) {
	schema := fromJSON(t, `{"type":"object"}`)
	d.tools = []*runtime.Tool{{Number: 1, Name: "get", InputSchema: schema}, {Number: 2, Name: "boom", InputSchema: schema}}
	d.hidden = []*runtime.Tool{{Number: 3, Name: "secret", InputSchema: schema}}
	d.run = func(tool *runtime.Tool, args []byte) ([]byte, error) {
		if tool.Name == "boom" {
			return nil, fault.Wrap(fault.ToolDownstreamError, errors.New("no network"))
		}
		return args, nil
	}
}

func TestCallAssembly(t *testing.T) {
	tests := []struct {
		name  string
		body  string
		calls []string // id name args
	}{
		{"in pieces", sse(calls(`{"index":0,"id":"a","type":"function","function":{"name":"ge","arguments":""}}`), calls(`{"index":0,"function":{"name":"t"}}`), calls(`{"index":0,"function":{"arguments":"{\"x\""}}`), calls(`{"index":0,"function":{"arguments":":1}"}}`)), []string{`a get {"x":1}`}},
		{"index last", sse(calls(`{"id":"a","type":"function","function":{"name":"get","arguments":"{\"x\":\"\\n\"}"},"index":0}`)), []string{`a get {"x":"\n"}`}},
		{"interleaved", sse(calls(`{"index":0,"id":"a","function":{"name":"get"}}`), calls(`{"index":1,"id":"b","function":{"name":"get"}}`), calls(`{"index":0,"function":{"arguments":"{\"x\":0}"}},{"index":1,"function":{"arguments":"{\"x\":1}"}}`)), []string{`a get {"x":0}`, `b get {"x":1}`}},
		{"id late", sse(calls(`{"index":0,"id":null,"function":{"name":"get","arguments":"{"}}`), calls(`{"index":0,"id":"a","function":{"arguments":"}"}}`)), []string{`a get {}`}},
		{"an id for every piece", sse(calls(`{"index":0,"id":"a","function":{"name":"get","arguments":"{"}}`), calls(`{"index":0,"id":"b","function":{"arguments":"}"}}`)), []string{`a get {}`}},
		{"the name with every piece", sse(calls(`{"index":0,"id":"a","function":{"name":"get","arguments":"{"}}`), calls(`{"index":0,"id":"a","function":{"name":"get","arguments":"}"}}`)), []string{`a get {}`}},
		{"index 0 for all", sse(calls(`{"index":0,"id":"a","function":{"name":"get","arguments":"{}"}}`), calls(`{"index":0,"id":"b","function":{"name":"get","arguments":"{}"}}`)), []string{`a get {}`, `b get {}`}},
		{"by id", sse(calls(`{"id":"a","function":{"name":"get","arguments":"{"}}`), calls(`{"id":"b","function":{"name":"get","arguments":"{\"x\":1}"}}`), calls(`{"id":"a","function":{"arguments":"}"}}`)), []string{`a get {}`, `b get {"x":1}`}},
		{"neither index nor id", sse(calls(`{"function":{"name":"get","arguments":"{"}}`), calls(`{"function":{"arguments":"}"}}`), calls(`{"function":{"name":"get","arguments":"{\"x\":1}"}}`)), []string{`turn.c1 get {}`, `turn.c2 get {"x":1}`}},
		{"arguments as an object", sse(calls(`{"index":0,"id":"a","function":{"name":"get","arguments":{"x":[1]}}}`)), []string{`a get {"x":[1]}`}},
		{"the same id twice", sse(calls(`{"index":0,"id":"call_0","function":{"name":"get","arguments":"{}"}},{"index":1,"id":"call_0","function":{"name":"get","arguments":"{\"x\":1}"}}`)), []string{`call_0 get {}`, `call_0#2 get {"x":1}`}},
		{"no arguments", sse(calls(`{"index":0,"id":"a","function":{"name":"get"}}`)), []string{`a get {}`}},
		{"in one piece", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get","arguments":"{}"}},{"id":"a","type":"function","function":{"name":"get","arguments":"{\"x\":1}"}}]},"finish_reason":"tool_calls"}]}`, []string{`a get {}`, `a#2 get {"x":1}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDispatch(t)
			withTools(t, d)
			d.replies(tt.body)
			d.iterate(newExecutor(t, `{"model":"m"}`), 1)
			var got []string
			for _, it := range d.records[record.ToolCalls] {
				c := record.ToolCall(it.body)
				got = append(got, string(c.ID())+" "+string(c.Tool())+" "+d.json(c.Args()))
				if sum, _ := value.Checksum(string(c.Tool()), c.Args()); string(c.Checksum()) != sum || c.IsError() || !c.IsComplete() {
					t.Errorf("call %s: checksum %s, failed %v", c.ID(), c.Checksum(), c.IsError())
				}
			}
			if !slices.Equal(got, tt.calls) {
				t.Errorf("got %q, want %q", got, tt.calls)
			}
			if d.Signalled() {
				t.Errorf("acked %v, nacked %v", d.acked, d.nacked)
			}
		})
	}
}

// The text for the model about a call, and whether the call failed.
func TestResults(t *testing.T) {
	deep := strings.Repeat(`{\"a\":`, 49) + "1" + strings.Repeat("}", 49)
	wide := `{\"a\":[` + strings.Repeat("1,", 8192) + `1]}`
	tests := []struct {
		name, call string
		want       []string
		failed     bool
	}{
		{"object", `"name":"get","arguments":"{\"x\": 1}"`, []string{`{"x":1}`}, false},
		{"hidden tool", `"name":"secret","arguments":"{}"`, []string{`{}`}, false},
		{"handler fails", `"name":"boom","arguments":"{}"`, []string{"no network"}, true},
		{"unknown tool", `"name":"nope","arguments":"{}"`, []string{`"nope"`, "boom, get"}, true},
		{"broken arguments", `"name":"get","arguments":"{\"x\":"`, []string{"JSON", `{"x":`}, true},
		{"arguments that are no object", `"name":"get","arguments":"[1]"`, []string{"object", "[1]"}, true},
		{"deep arguments", `"name":"get","arguments":"` + deep + `"`, []string{"48"}, true},
		{"arguments of many elements", `"name":"get","arguments":"` + wide + `"`, []string{"more than 8192 elements"}, true},
		{"long broken arguments", `"name":"get","arguments":"` + strings.Repeat("x", 1<<20) + `"`, []string{"…"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDispatch(t)
			withTools(t, d)
			d.replies(sse(calls(`{"index":0,"id":"a","function":{` + tt.call + `}}`)))
			d.iterate(newExecutor(t, `{"model":"m"}`), 1)
			if len(d.records[record.ToolCalls]) != 1 {
				t.Fatalf("nacked with %v", d.nacked)
			}
			c := record.ToolCall(d.records[record.ToolCalls][0].body)
			result, ok := value.String(c.Results())
			if c.IsError() != tt.failed || !ok || len(result) > 4<<10 {
				t.Errorf("failed %v, result %q", c.IsError(), result)
			}
			for _, part := range tt.want {
				if !strings.Contains(string(result), part) {
					t.Errorf("%q is not in %q", part, result)
				}
			}
		})
	}
}

func TestResultKinds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		result []byte
		want   string
	}{
		{"text", value.AppendString(nil, "plain \"text\""), "plain \"text\""},
		{"number", value.AppendNumber(nil, 1.5), "1.5"},
		{"nothing", value.AppendNil(nil), "null"},
		{"no value", nil, "null"},
		{"bytes that are text", value.AppendBytes(nil, []byte("é")), "é"},
		{"bytes", value.AppendBytes(nil, []byte{0xff, 0}), `"/wA="`},
		{"list", fromJSON(t, `[1,{"a":"b"}]`), `[1,{"a":"b"}]`},
	} {
		d := newDispatch(t)
		withTools(t, d)
		d.run = func(*runtime.Tool, []byte) ([]byte, error) { return tt.result, nil }
		d.replies(sse(calls(`{"index":0,"id":"a","function":{"name":"get"}}`)))
		d.iterate(newExecutor(t, `{"model":"m"}`), 1)
		got, _ := value.String(record.ToolCall(d.records[record.ToolCalls][0].body).Results())
		if string(got) != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The order of the events and records of an answer with text and two calls.
func TestOrder(t *testing.T) {
	d := newDispatch(t)
	withTools(t, d)
	d.replies(sse(text("Let me see."), calls(`{"index":0,"id":"a","function":{"name":"get","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"boom","arguments":"{}"}}`)))
	d.iterate(newExecutor(t, `{"model":"m"}`), 1)
	want := []string{
		"message turn.m1 Let me see.", "message turn.m1 |", "store turn.m1",
		"call a get{}", "run get{}", `call a "{}"|`, "store a",
		"call b boom{}", "run boom{}", `call b "The tool's handler failed: no network" failed|`, "store b",
	}
	for i := range d.events {
		if i < len(want) && strings.HasPrefix(want[i], "call b \"") {
			want[i] = d.events[i] // other tests check its message
		}
	}
	if !slices.Equal(d.events, want) {
		t.Errorf("got  %q\nwant %q", d.events, want)
	}
	last := int64(0)
	for _, kind := range []record.Kind{record.Messages, record.ToolCalls} {
		for _, it := range d.records[kind] {
			if at := record.CreatedAt(kind, it.body); at <= last {
				t.Errorf("created at %d after %d", at, last)
			} else {
				last = at
			}
		}
	}
}

// A handler that signals ends the answer: later calls do not run.
func TestSignalInTool(t *testing.T) {
	d := newDispatch(t)
	withTools(t, d)
	d.run = func(*runtime.Tool, []byte) ([]byte, error) { return fromJSON(t, `"done"`), d.Ack() }
	d.replies(sse(calls(`{"index":0,"id":"a","function":{"name":"get"}},{"index":1,"id":"b","function":{"name":"get"}}`)))
	d.iterate(newExecutor(t, `{"model":"m"}`), 1)
	if !d.acked || len(d.records[record.ToolCalls]) != 1 {
		t.Errorf("acked %v, %d calls", d.acked, len(d.records[record.ToolCalls]))
	}
}

// An endpoint restarts its numbering of calls in every response, in a conversation that already has such calls.
func TestReusedIDs(t *testing.T) {
	d := newDispatch(t)
	withTools(t, d)
	d.clock = 10
	d.add(record.ToolCalls, record.AppendToolCall(nil, record.ToolCallFields{
		ID: "call_0#7", Tool: "get", Args: fromJSON(t, `{}`), Checksum: "x", IsComplete: true, Results: fromJSON(t, `"old"`), CreatedAt: 1, UpdatedAt: 1, CompletedAt: 1,
	}))
	one := sse(calls(`{"index":0,"id":"call_0","function":{"name":"get","arguments":"{}"}}`))
	d.replies(one, one, sse(text("done"), stop))
	d.iterate(newExecutor(t, `{"model":"m"}`), 5)
	var ids []string
	for _, it := range d.records[record.ToolCalls] {
		ids = append(ids, string(record.ID(record.ToolCalls, it.body)))
	}
	if want := []string{"call_0#7", "call_0#8", "call_0#9"}; !slices.Equal(ids, want) {
		t.Errorf("ids %q, want %q", ids, want)
	}
	body := string(d.requests[2])
	for _, id := range ids[1:] {
		if strings.Contains(body, id) {
			t.Errorf("%q went to the endpoint", id)
		}
	}
	// Each call shares a unique id with its result.
	seen := map[string]int{}
	for _, part := range strings.Split(body, `id":"`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		seen[id]++
	}
	if len(seen) != 3 {
		t.Errorf("ids on the wire: %v", seen)
	}
	for id, n := range seen {
		if n != 2 {
			t.Errorf("%q is there %d times", id, n)
		}
	}
}

// An error without a legible call nacks: no record and no request ever has an invented tool name.
func TestFailedGenerationWithoutAName(t *testing.T) {
	for name, generation := range map[string]string{
		"empty": `""`, "blank": `" \n"`, "null": "null", "prose": `"I would rather not"`, "no name": `"{\"arguments\":{}}"`, "not there": "",
	} {
		for _, status := range []int{200, 400} {
			t.Run(name+" "+strconv.Itoa(status), func(t *testing.T) {
				member := ""
				if generation != "" {
					member = `,"failed_generation":` + generation
				}
				failure := `{"error":{"message":"does not match the schema","code":"tool_use_failed"` + member + `}}`
				body, mime := sse(text("maybe"), failure), ""
				if status != 200 {
					body, mime = failure, "application/json"
				}
				d := newDispatch(t)
				withTools(t, d)
				d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) {
					return &response{status: status, mime: mime, parts: split(body, 5)}, nil
				}
				d.iterate(newExecutor(t, `{"model":"m"}`), 3)
				if !fault.Is(d.nacked, fault.ChatToolUseFailed) || len(d.requests) != 1 || !strings.Contains(d.nacked.Error(), "does not match the schema") {
					t.Errorf("%d requests, nacked with %v", len(d.requests), d.nacked)
				}
				if n := len(d.records[record.ToolCalls]) + len(d.records[record.Messages]); n != 0 {
					t.Errorf("%d records were stored", n)
				}
				if want := []string{"message turn.m1 maybe", "message turn.m1 !"}; status == 200 && !slices.Equal(d.events, want) {
					t.Errorf("events %q", d.events)
				}
			})
		}
	}
}

// Calls without a name are dropped beside others; an answer without other calls nacks.
func TestCallsWithoutAName(t *testing.T) {
	d := newDispatch(t)
	withTools(t, d)
	d.replies(sse(calls(`{"index":0,"id":"a","function":{"arguments":"{}"}},{"index":1,"id":"b","function":{"name":"get","arguments":"{}"}}`)))
	d.iterate(newExecutor(t, `{"model":"m"}`), 1)
	if list := d.records[record.ToolCalls]; len(list) != 1 || string(record.ToolCall(list[0].body).ID()) != "b" {
		t.Errorf("%d calls, nacked with %v", len(list), d.nacked)
	}
	d = newDispatch(t)
	withTools(t, d)
	d.replies(sse(calls(`{"index":0,"id":"a","function":{"name":" ","arguments":"{}"}}`)))
	d.iterate(newExecutor(t, `{"model":"m"}`), 1)
	if !fault.Is(d.nacked, fault.ChatToolUseFailed) || len(d.records[record.ToolCalls]) != 0 {
		t.Errorf("nacked with %v", d.nacked)
	}
}

func TestFailedGeneration(t *testing.T) {
	tests := []struct {
		name, generation string
		calls            []string
	}{
		{"object", `"{\"name\": \"get\", \"arguments\": {\n  \"x\": 1\n}}"`, []string{`get {"x":1}`}},
		{"arguments as text", `"{\"name\":\"get\",\"arguments\":\"{\\\"x\\\":1}\"}"`, []string{`get {"x":1}`}},
		{"list", `"[{\"name\":\"get\",\"parameters\":{}},{\"name\":\"boom\",\"parameters\":{\"y\":2}}]"`, []string{`get {}`, `boom {"y":2}`}},
		{"not as text", `{"name":"get","arguments":{"x":1}}`, []string{`get {"x":1}`}},
		{"tagged", `"<function=get>{\"x\":1}</function>"`, []string{`get {"x":1}`}},
		{"cut off", `"{\"name\": \"get\", \"argum"`, []string{`get {}`}},
		{"tagged without a bracket", `"<function=get{\"x\":1}</function>"`, []string{`get {"x":1}`}},
		{"too many", `"[` + strings.Repeat(`{\"name\":\"get\"},`, 256) + `{\"name\":\"boom\"}]"`, slices.Repeat([]string{`get {}`}, 256)},
		{"one of them without a name", `"[{\"name\":\"get\"},{\"arguments\":{\"y\":2}}]"`, []string{`get {}`}},
	}
	for _, tt := range tests {
		for _, status := range []int{200, 400} {
			t.Run(tt.name, func(t *testing.T) {
				failure := `{"error":{"message":"does not match the schema","type":"invalid_request_error","code":"tool_use_failed","failed_generation":` + tt.generation + `}}`
				body, mime := sse(delta(`{"reasoning":"hm"}`), failure), ""
				if status != 200 {
					body, mime = failure, "application/json"
				}
				d := newDispatch(t)
				withTools(t, d)
				d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) {
					if len(d.requests) > 1 {
						return &response{parts: split(sse(text("ok"), stop), 0)}, nil
					}
					return &response{status: status, mime: mime, parts: split(body, 5)}, nil
				}
				d.iterate(newExecutor(t, `{"model":"m"}`), 3)
				if !d.acked || len(d.requests) != 2 {
					t.Fatalf("%d requests, nacked with %v", len(d.requests), d.nacked)
				}
				var got []string
				for _, it := range d.records[record.ToolCalls] {
					c := record.ToolCall(it.body)
					got = append(got, string(c.Tool())+" "+d.json(c.Args()))
					if result, _ := value.String(c.Results()); !c.IsError() || !strings.Contains(string(result), "does not match the schema") {
						t.Errorf("result %q, failed %v", result, c.IsError())
					}
				}
				if !slices.Equal(got, tt.calls) {
					t.Errorf("calls %q, want %q", got, tt.calls)
				}
				if status == 200 && len(d.records[record.Thoughts]) != 1 {
					t.Error("the thought is lost")
				}
				if slices.ContainsFunc(d.events, func(e string) bool { return strings.HasPrefix(e, "run ") }) {
					t.Errorf("a refused call was run: %q", d.events)
				}
			})
		}
	}
}

package chat_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// recordings are conversations with real providers, in a folder beside the checkout.
const recordings = "../../../shared/recordings"

type recording struct {
	Interactions []struct {
		Request struct {
			URL  string
			Body map[string]any
		}
		Response struct {
			Status      int
			ContentType string
			Body        string
		}
	}
}

// said is the content of a response, read with encoding/json.
type said struct {
	text, thought, finish string
	calls                 []struct{ id, name, args string }
	failed                bool
}

// encrypted reports whether a response has encrypted reasoning to send back.
func encrypted(body string) bool { return strings.Contains(body, `"type":"reasoning.encrypted"`) }

func listen(t *testing.T, body string) (s said) {
	t.Helper()
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Error   any
			Choices []struct {
				FinishReason string `json:"finish_reason"`
				Delta        struct {
					Content          string
					Reasoning        string
					ReasoningContent string `json:"reasoning_content"`
					ToolCalls        []struct {
						Index    int
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatal(err)
		}
		s.failed = s.failed || chunk.Error != nil
		for _, c := range chunk.Choices {
			s.text += c.Delta.Content
			s.thought += c.Delta.Reasoning + c.Delta.ReasoningContent
			if c.FinishReason != "" {
				s.finish = c.FinishReason
			}
			for _, call := range c.Delta.ToolCalls {
				for len(s.calls) <= call.Index {
					s.calls = append(s.calls, struct{ id, name, args string }{})
				}
				to := &s.calls[call.Index]
				to.id += call.ID
				to.name += call.Function.Name
				to.args += call.Function.Arguments
			}
		}
	}
	return s
}

// Allowed differences between our request and the recorded one, besides those that normal removes.
var differences = map[string]func(messages []any){
	// The recorded client sends reasoning inside the content, makes an id for the call that Groq refused, and has its
	// own error message.
	"groq-tool-use-failed": func(messages []any) {
		for _, m := range messages {
			m := m.(map[string]any)
			if text, ok := m["content"].(string); ok && strings.HasPrefix(text, "<think>") {
				delete(m, "content")
			}
		}
		if len(messages) > 3 {
			call := messages[2].(map[string]any)["tool_calls"].([]any)[0].(map[string]any)
			delete(call, "id")
			result := messages[3].(map[string]any)
			delete(result, "tool_call_id")
			delete(result, "content")
		}
	},
}

// normal removes differences without meaning: a null content, and the spelling of arguments.
func normal(t *testing.T, name string, body map[string]any) map[string]any {
	t.Helper()
	messages := body["messages"].([]any)
	for _, m := range messages {
		m := m.(map[string]any)
		if m["content"] == nil {
			delete(m, "content")
		}
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			f := c.(map[string]any)["function"].(map[string]any)
			var args any
			if err := json.Unmarshal([]byte(f["arguments"].(string)), &args); err != nil {
				t.Fatal(err)
			}
			f["arguments"] = args
		}
	}
	if fix := differences[name]; fix != nil {
		fix(messages)
	}
	return body
}

func TestRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("no recordings beside the checkout")
		}
		t.Skip("there are no recordings beside the checkout")
	}
	cases := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, seed := range []uint64{0, 1, 2, 3} {
			var r recording
			if err := json.Unmarshal(text, &r); err != nil {
				t.Fatal(err)
			}
			replay(t, name, r, seed)
			cases++
		}
	}
	t.Logf("%d recordings, %d cases", len(files), cases)
}

// replay runs the executor on a recording and compares requests, events and records.
func replay(t *testing.T, name string, r recording, seed uint64) {
	t.Helper()
	first := r.Interactions[0].Request.Body
	options := map[string]any{
		"baseURL": strings.TrimSuffix(r.Interactions[0].Request.URL, "/chat/completions"), "model": first["model"], "trust": "off",
		"includeUsage": first["stream_options"] != nil,
	}
	wire := map[string]any{}
	for key, v := range first {
		switch key {
		case "messages", "model", "stream", "stream_options", "tools":
		default:
			wire[key] = v
		}
	}
	options["body"] = wire
	d := newDispatch(t)
	extras := map[string]any{}
	tools, _ := first["tools"].([]any)
	for i, tool := range tools {
		f := tool.(map[string]any)["function"].(map[string]any)
		d.tools = append(d.tools, &runtime.Tool{
			Number: uint32(i + 1), Name: f["name"].(string), Description: f["description"].(string), InputSchema: fromJSON(t, toJSON(t, f["parameters"])),
		})
		if strict, ok := f["strict"]; ok {
			extras[f["name"].(string)] = map[string]any{"strict": strict}
		}
	}
	options["toolExtras"] = extras
	for _, m := range first["messages"].([]any) {
		m := m.(map[string]any)
		if m["role"] == "system" {
			d.prompt = m["content"].(string)
			continue
		}
		d.addMessage(m["role"].(string), m["content"].(string))
	}

	sent := 0
	d.answer = func(q *runtime.HTTPRequest) (runtime.Stream, error) {
		if sent == len(r.Interactions) {
			t.Fatalf("%s: a request too many", name)
		}
		want := r.Interactions[sent]
		if q.Method != "POST" || q.URL != want.Request.URL {
			t.Errorf("%s: %s %s", name, q.Method, q.URL)
		}
		var got map[string]any
		if err := json.Unmarshal(q.Body, &got); err != nil {
			t.Fatalf("%s: %v in %s", name, err, q.Body)
		}
		if got, want := normal(t, name, got), normal(t, name, want.Request.Body); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: request %d is\n%s\nwant\n%s", name, sent, toJSON(t, got), toJSON(t, want))
		}
		if sent > 0 {
			before := d.requests[sent-1]
			if !strings.HasPrefix(string(q.Body), string(before[:len(before)-len("]}")])) {
				t.Errorf("%s: request %d does not begin with the one before", name, sent)
			}
		}
		sent++
		return &response{status: want.Response.Status, mime: want.Response.ContentType, parts: split(want.Response.Body, seed)}, nil
	}
	// A tool returns the result in the recording's next request.
	results := map[string]string{}
	last := r.Interactions[len(r.Interactions)-1].Request.Body["messages"].([]any)
	for _, m := range last {
		if m := m.(map[string]any); m["role"] == "tool" {
			results[m["tool_call_id"].(string)] = m["content"].(string)
		}
	}
	d.run = func(tool *runtime.Tool, args []byte) ([]byte, error) {
		for _, said := range listen(t, r.Interactions[sent-1].Response.Body).calls {
			if said.name == tool.Name && results[said.id] != "" {
				return value.AppendString(nil, results[said.id]), nil
			}
		}
		return value.AppendString(nil, ""), nil
	}

	d.iterate(newExecutor(t, toJSON(t, options)), len(r.Interactions))
	if sent != len(r.Interactions) {
		t.Errorf("%s: %d requests, want %d", name, sent, len(r.Interactions))
	}
	if open := d.open(); open != nil {
		t.Errorf("%s: streams %q were not completed", name, open)
	}
	compare(t, name, d, r)
}

// compare checks stored records and reports against the responses.
func compare(t *testing.T, name string, d *dispatch, r recording) {
	t.Helper()
	var texts, thoughts, calls []string
	for i, it := range r.Interactions {
		s := listen(t, it.Response.Body)
		final := i == len(r.Interactions)-1
		switch {
		case s.failed && name == "openrouter-midstream-error":
			if !fault.Is(d.nacked, fault.ChatProviderError) || !strings.Contains(d.nacked.Error(), "Token limit reached (code 400)") {
				t.Errorf("%s: nacked with %v", name, d.nacked)
			}
			if thought := d.streams["turn.t1"]; thought == nil || string(thought.text) != s.thought {
				t.Errorf("%s: reported %v, want %q", name, thought, s.thought)
			}
			continue
		case s.failed:
			calls = append(calls, `get_something_by_name {"invalid_param":"value"} true`)
		case final && len(s.calls) == 0 && !d.acked:
			t.Errorf("%s: not acked, but %v", name, d.nacked)
		}
		if s.text != "" {
			texts = append(texts, s.text)
		}
		if s.thought != "" || encrypted(it.Response.Body) {
			thoughts = append(thoughts, s.thought)
		}
		for _, c := range s.calls {
			calls = append(calls, c.name+" "+c.args+" false")
		}
	}
	var gotTexts, gotThoughts, gotCalls []string
	for _, m := range d.records[record.Messages] {
		if strings.HasPrefix(string(record.Message(m.body).ID()), "turn.") {
			content, _ := record.Message(m.body).Content()
			gotTexts = append(gotTexts, string(content))
			if reported := d.streams[string(record.Message(m.body).ID())]; string(reported.text) != string(content) {
				t.Errorf("%s: reported %q, stored %q", name, reported.text, content)
			}
		}
	}
	for _, m := range d.records[record.Thoughts] {
		gotThoughts = append(gotThoughts, string(record.Thought(m.body).Content()))
	}
	for _, m := range d.records[record.ToolCalls] {
		c := record.ToolCall(m.body)
		text := string(c.Tool()) + " " + d.json(c.Args())
		if c.IsError() {
			text += " true"
		} else {
			text += " false"
		}
		gotCalls = append(gotCalls, text)
	}
	for _, c := range []struct {
		what      string
		got, want []string
	}{{"messages", gotTexts, texts}, {"thoughts", gotThoughts, thoughts}, {"calls", gotCalls, calls}} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %s %q, want %q", name, c.what, c.got, c.want)
		}
	}
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

package recording

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// recorded loads the conversations that lie beside the checkout.
func recorded(t *testing.T) []*Recording {
	t.Helper()
	files, err := filepath.Glob("../../../../shared/recordings/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("there are no recordings beside the checkout")
		}
		t.Skip("there are no recordings beside the checkout")
	}
	var list []*Recording
	for _, file := range files {
		r, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimSuffix(filepath.Base(file), ".json"); r.Name != want {
			t.Fatalf("%s calls itself %q", file, r.Name)
		}
		list = append(list, r)
	}
	t.Logf("%d recordings", len(list))
	return list
}

// write puts a recording into a file and loads it.
func write(t *testing.T, text string) (*Recording, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "r.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(file)
}

// made returns a recording of requests with the given bodies.
func made(t *testing.T, name string, bodies ...string) *Recording {
	t.Helper()
	var list []string
	for _, body := range bodies {
		list = append(list, `{"request": {"method": "POST", "url": "https://p.example/chat/completions", "body": `+body+`},
			"response": {"status": 200, "contentType": "text/event-stream", "body": "data: [DONE]\n\n"}}`)
	}
	r, err := write(t, `{"name": "`+name+`", "interactions": [`+strings.Join(list, ",")+`]}`)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRecordings reads every recording by a second way, plain maps, and compares.
func TestRecordings(t *testing.T) {
	for _, r := range recorded(t) {
		t.Run(r.Name, func(t *testing.T) {
			c, err := r.Conversation()
			if err != nil {
				t.Fatal(err)
			}
			var body map[string]any
			if err := json.Unmarshal(r.Interactions[0].Request.Body, &body); err != nil {
				t.Fatal(err)
			}
			messages := body["messages"].([]any)
			first, last := messages[0].(map[string]any), messages[len(messages)-1].(map[string]any)
			if c.Model != body["model"] || c.User != last["content"] || c.User == "" {
				t.Errorf("model %q, user %q", c.Model, c.User)
			}
			if system, _ := first["content"].(string); (first["role"] == "system") != (c.System != "") || c.System != "" && c.System != system {
				t.Errorf("system %q", c.System)
			}
			if len(c.History) != 0 {
				t.Errorf("history %+v", c.History)
			}
			tools, _ := body["tools"].([]any)
			if len(tools) != len(c.Tools) {
				t.Fatalf("%d tools, want %d", len(c.Tools), len(tools))
			}
			for i, tool := range c.Tools {
				function := tool.Extra
				for key, v := range map[string]any{"name": tool.Name, "description": tool.Description, "parameters": tool.Parameters} {
					text, err := json.Marshal(v)
					if err != nil {
						t.Fatal(err)
					}
					function[key] = text
				}
				if got, want := plain(t, function), tools[i].(map[string]any)["function"]; !reflect.DeepEqual(got, want) {
					t.Errorf("tool %d is %v, want %v", i, got, want)
				}
			}
			for _, key := range []string{"messages", "model", "stream", "tools"} {
				delete(body, key)
			}
			if got := plain(t, c.Body); !reflect.DeepEqual(got, body) {
				t.Errorf("rest of the body %v, want %v", got, body)
			}
		})
	}
}

// plain is v as encoding/json reads what it writes.
func plain(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLoadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                                    "the file is no JSON: ",
		`{"interactions": [`:                  "the file is no JSON: ",
		`[]`:                                  "the file must hold an object",
		`null`:                                "the file must hold an object",
		`{}`:                                  "interactions must be a list that is not empty",
		`{"interactions": []}`:                "interactions must be a list that is not empty",
		`{"interactions": "a string"}`:        "interactions must be a list that is not empty",
		`{"interactions": [null]}`:            "interactions[0] must be an object",
		`{"interactions": [{}]}`:              "interactions[0].request must be an object",
		`{"interactions": [{"request": {}}]}`: "interactions[0].response must be an object",
		`{"interactions": [{"request": {}, "response": {}}]}`:                                     "interactions[0].response.status must be a whole number from 200 to 599",
		`{"interactions": [{"request": {}, "response": {"status": 42}}]}`:                         "interactions[0].response.status ",
		`{"interactions": [{"request": {}, "response": {"status": "200"}}]}`:                      "interactions[0].response.status ",
		`{"interactions": [{"request": {}, "response": {"status": 200.5}}]}`:                      "interactions[0].response.status ",
		`{"interactions": [{"request": {"url": 1}, "response": {"status": 200}}]}`:                "interactions[0].request.url must be a string",
		`{"interactions": [{"request": {"method": []}, "response": {"status": 200}}]}`:            "interactions[0].request.method must be a string",
		`{"interactions": [{"request": {}, "response": {"status": 200, "body": 5}}]}`:             "interactions[0].response.body must be a string",
		`{"interactions": [{"request": {}, "response": {"status": 200, "contentType": "a\nb"}}]}`: "interactions[0].response.contentType must be what a header can hold",
	} {
		_, err := write(t, text)
		var invalid *InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(want, invalid.Field) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if r, err := write(t, "\ufeff"+`{"interactions": [{"request": {}, "response": {"status": 200}}]}`); err != nil || string(r.Interactions[0].Request.Body) != "null" {
		t.Errorf("a request without a body, behind a byte order mark: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.json")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestConversationWithHistory(t *testing.T) {
	r := made(t, "h", `{"model": "m", "stream": true, "temperature": 0.5, "messages": [
		{"role": "system", "content": "one"},
		{"role": "developer", "content": [{"type": "text", "text": "two"}]},
		{"role": "user", "content": "weather?"},
		{"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}}]},
		{"role": "tool", "tool_call_id": "c1", "content": "rain"},
		{"role": "assistant", "content": null, "tool_calls": [{"id": "c2", "type": "function", "function": {"name": "time", "arguments": "{}"}}]},
		{"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "ten "}, {"type": "text", "text": "to two"}]},
		{"role": "assistant", "content": "It rains."},
		{"role": "user", "content": [{"type": "text", "text": "And "}, {"type": "text", "text": "here?"}]}]}`)
	c, err := r.Conversation()
	if err != nil {
		t.Fatal(err)
	}
	want := &Conversation{
		System: "one\n\ntwo", User: "And here?", UserMessage: 8, Model: "m", BaseURL: "https://p.example",
		Stream: true, Body: map[string]json.RawMessage{"temperature": json.RawMessage("0.5")},
		History: []Entry{
			{Message: 2, Role: "user", Content: "weather?"},
			{Message: 3, Role: "assistant", Content: "I look."},
			{Message: 3, Call: &Call{ID: "c1", Tool: "weather", Args: json.RawMessage(`{"city": "Oslo"}`), Result: "rain", Answered: true}},
			{Message: 5, Call: &Call{ID: "c2", Tool: "time", Args: json.RawMessage(`{}`), Result: "ten to two", Answered: true}},
			{Message: 7, Role: "assistant", Content: "It rains."},
		},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestConversationRefuses(t *testing.T) {
	for body, want := range map[string]string{
		`{"messages": []}`: "the first chat request's messages must hold a text",
		`{"messages": [{"role": "system", "content": ""}]}`: "the first chat request's messages must hold a text",
		`{"messages": "text"}`:                              "the first chat request's messages must hold a text",
		`[]`:                                                "the first chat request's body must be an object",
	} {
		if _, err := made(t, "r", body).Conversation(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// TestConversationWithoutUser: all of a request is history that does not end with what the user says.
func TestConversationWithoutUser(t *testing.T) {
	c, err := made(t, "r", `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}`).Conversation()
	if err != nil || c.User != "" || len(c.History) != 2 || c.Stream {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAddresses(t *testing.T) {
	r := made(t, "r", `{"messages": [{"role": "user", "content": "a"}]}`)
	for url, want := range map[string]string{
		"https://a.example/v1/chat/completions":                  "https://a.example/v1",
		"https://a.example/v1/chat/completions/":                 "https://a.example/v1",
		"https://a.example/v1/chat/completions#stream":           "https://a.example/v1",
		"https://a.example/d/chat/completions?api-version=2024x": "https://a.example/d?api-version=2024x",
	} {
		r.Interactions[0].Request.URL = url
		if c, err := r.Conversation(); err != nil || c.BaseURL != want || !r.Interactions[0].isChat() {
			t.Errorf("%s: %+v, %v", url, c, err)
		}
	}
	for _, url := range []string{"https://a.example/v1/embeddings", "https://a.example/v1/messages", "https://a.example/v1/chat/completions/x"} {
		if r.Interactions[0].Request.URL = url; r.Interactions[0].isChat() {
			t.Errorf("%s is no address of chat completions", url)
		}
	}
}

func TestAnswers(t *testing.T) {
	const calls = `{"role": "assistant", "tool_calls": [
		{"id": "a", "function": {"name": "get", "arguments": "{\"x\":1,\"y\":[2]}"}},
		{"id": "b", "function": {"name": "get", "arguments": "{\"x\":1,\"y\":[2]}"}},
		{"id": "c", "function": {"name": "put", "arguments": "no JSON"}}]},
		{"role": "tool", "tool_call_id": "b", "content": "second"},
		{"role": "tool", "tool_call_id": "a", "content": "first"},
		{"role": "tool", "tool_call_id": "c", "content": "put it"}`
	r := made(
		t, "a", `{"messages": [{"role": "user", "content": "q"}]}`,
		`{"messages": [{"role": "user", "content": "q"}, `+calls+`]}`,
		`{"messages": [{"role": "user", "content": "q"}, `+calls+`,
			{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "get", "arguments": {}}}, {"id": "e", "function": {"name": "get"}}]},
			{"role": "tool", "tool_call_id": "a", "content": ""}]}`,
	)
	a := r.Answers()
	for i, step := range []struct {
		request          int
		tool, args, want string
		ok               bool
	}{
		{1, "get", `{"y": [2.0], "x": 1}`, "first", true},
		{1, "put", `no JSON`, "put it", true},
		{1, "get", `{"x":1,"z":[2]}`, "second", true}, // the client has written other arguments
		{1, "get", `{"x":1,"y":[2]}`, "", false},
		{2, "put", `{}`, "", false},
		{2, "get", `{}`, "", true},
		{2, "get", `{}`, "", false},
		{0, "get", `{}`, "", false},
		{3, "get", `{}`, "", false},
	} {
		if got, ok := a.Take(step.request, step.tool, json.RawMessage(step.args)); got != step.want || ok != step.ok {
			t.Errorf("step %d: %q, %v, want %q, %v", i, got, ok, step.want, step.ok)
		}
	}
	if _, ok := made(t, "b", `{}`).Answers().Take(1, "get", nil); ok {
		t.Error("a recording of one request has an answer")
	}
}

// TestRecordedAnswers takes every call that the requests of a recording hold, in order.
func TestRecordedAnswers(t *testing.T) {
	calls := 0
	for _, r := range recorded(t) {
		var last struct {
			Messages []struct {
				Content    any
				ToolCallID string `json:"tool_call_id"`
				ToolCalls  []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
		if err := json.Unmarshal(r.Interactions[len(r.Interactions)-1].Request.Body, &last); err != nil {
			t.Fatal(err)
		}
		results := map[string]any{}
		for _, m := range last.Messages {
			results[m.ToolCallID] = m.Content
		}
		a := r.Answers()
		n := 0
		for _, m := range last.Messages {
			if len(m.ToolCalls) > 0 {
				n++ // each answer has called
			}
			for _, call := range m.ToolCalls {
				calls++
				got, ok := a.Take(n, call.Function.Name, json.RawMessage(call.Function.Arguments))
				if want := results[call.ID]; !ok || got != want {
					t.Errorf("%s, call %s: %q, %v, want %q", r.Name, call.ID, got, ok, want)
				}
			}
		}
	}
	if calls < 6 {
		t.Errorf("only %d calls", calls)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
)

// recordings returns the recorded conversations that lie beside the checkout.
func recordings(t *testing.T) []string {
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
	return files
}

// said is what a recording's responses say, read in a way of its own.
type said struct {
	texts, thoughts []string
	calls           []string // name and arguments
	refused         int      // generations that the provider refused
	failed          bool
	responses       int
}

func listen(t *testing.T, file string) (s said) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Interactions []struct{ Response struct{ Body string } }
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	s.responses = len(r.Interactions)
	for _, it := range r.Interactions {
		var answer, thought string
		var calls []string
		var bad, failed bool
		for line := range strings.Lines(it.Response.Body) {
			data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
			if !ok || data == "[DONE]" {
				continue
			}
			var chunk struct {
				Error *struct {
					FailedGeneration string `json:"failed_generation"`
				}
				Choices []struct {
					Delta struct {
						Content          string
						Reasoning        string
						ReasoningContent string `json:"reasoning_content"`
						ToolCalls        []struct {
							Index    int
							Function struct{ Name, Arguments string }
						} `json:"tool_calls"`
					}
				}
			}
			if err := json.Unmarshal([]byte(data), &chunk); err != nil {
				t.Fatal(err)
			}
			if chunk.Error != nil {
				bad = bad || chunk.Error.FailedGeneration != ""
				failed = failed || chunk.Error.FailedGeneration == ""
			}
			for _, c := range chunk.Choices {
				answer += c.Delta.Content
				thought += c.Delta.Reasoning + c.Delta.ReasoningContent
				for _, call := range c.Delta.ToolCalls {
					for len(calls) <= call.Index {
						calls = append(calls, "")
					}
					calls[call.Index] += call.Function.Name + call.Function.Arguments
				}
			}
		}
		if failed {
			s.failed = true
			continue
		}
		if bad {
			s.refused++
		}
		if answer != "" {
			s.texts = append(s.texts, answer)
		}
		// Encrypted reasoning is kept to go back, and cannot be seen.
		if thought != "" || strings.Contains(it.Response.Body, `"type":"reasoning.encrypted"`) {
			s.thoughts = append(s.thoughts, thought)
		}
		s.calls = append(s.calls, calls...)
	}
	return s
}

// shown returns the engines for a test, under the race detector the native one only, as it sees nothing of what runs
// inside a module.
func shown(t *testing.T) []host.Engine {
	t.Helper()
	engines := hosttest.Engines(t)
	if underRace {
		return engines[:1]
	}
	return engines
}

// TestRecordings plays every recording twice on every engine.
func TestRecordings(t *testing.T) {
	files := recordings(t)
	runs := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			logs := map[string]bool{}
			for _, e := range shown(t) {
				for range 2 {
					got := turncore(t, "run", "--engine", e.Name(), "--recording", file, "--json", "--fixed-clock", "--seed", "1")
					if got.status != 0 || got.stderr != "" {
						t.Fatalf("on %s: status %d, %s", e.Name(), got.status, got.stderr)
					}
					logs[got.stdout] = true
					runs++
				}
			}
			if len(logs) != 1 {
				t.Fatalf("%d different logs", len(logs))
			}
			for log := range logs {
				checkRecording(t, name, listen(t, file), checkLog(t, log))
			}
		})
	}
	t.Logf("%d recordings, %d runs", len(files), runs)
}

func checkRecording(t *testing.T, name string, want said, end endLine) {
	t.Helper()
	if want.failed {
		if end.Status != "nack" || end.Error == nil || end.Error.Code != "E_CHAT_PROVIDER_ERROR" || len(end.Messages) != 1 {
			t.Errorf("end %+v", end)
		}
		return
	}
	if end.Status != "ack" || end.Error != nil || end.Iterations != want.responses {
		t.Errorf("%s after %d iterations, want %d; %v", end.Status, end.Iterations, want.responses, end.Error)
	}
	var texts []string
	for _, m := range end.Messages {
		if m.Role == "assistant" {
			texts = append(texts, m.Content)
		}
	}
	if !reflect.DeepEqual(texts, want.texts) || !reflect.DeepEqual(append([]string(nil), end.Thoughts...), want.thoughts) {
		t.Errorf("texts %q, want %q\nthoughts %q, want %q", texts, want.texts, end.Thoughts, want.thoughts)
	}
	var calls []string
	refused := 0
	for _, c := range end.ToolCalls {
		if c.IsError {
			refused++
			continue
		}
		calls = append(calls, c.Tool+string(c.Args))
	}
	for i := range want.calls {
		want.calls[i] = strings.NewReplacer(`": `, `":`, `, "`, `,"`).Replace(want.calls[i])
	}
	if !reflect.DeepEqual(calls, want.calls) || refused != want.refused {
		t.Errorf("calls %q, want %q; %d refused, want %d", calls, want.calls, refused, want.refused)
	}
	for i, c := range end.ToolCalls {
		// This recording ends with a call that it does not answer.
		if unanswered := name == "openai-three-tools" && i == len(end.ToolCalls)-1; unanswered != (c.Results == "") {
			t.Errorf("tool call %d: %+v", i, c)
		}
	}
}

// TestRecordingsReplay records every conversation on every engine and replays it on all of them.
func TestRecordingsReplay(t *testing.T) {
	files := recordings(t)
	replays := 0
	for _, file := range files {
		for _, e := range shown(t) {
			log := filepath.Join(t.TempDir(), "log")
			if got := turncore(t, "run", "--engine", e.Name(), "--recording", file, "--log", log, "--fixed-clock", "--seed", "3"); got.status != 0 {
				t.Fatalf("%s on %s: %+v", file, e.Name(), got)
			}
			for _, other := range shown(t) {
				got := turncore(t, "replay", log, "--engine", other.Name())
				if got.status != 0 || !strings.Contains(got.stdout, "entries from "+e.Name()+" replayed on "+other.Name()) {
					t.Errorf("%s from %s: %+v", file, e.Name(), got)
				}
				replays++
			}
		}
	}
	t.Logf("%d recordings, %d replays", len(files), replays)
}

// conversation is a recording of two requests with a history before.
const conversation = `{"name": "made", "interactions": [
	{"request": {"method": "POST", "url": "https://p.example/v1/chat/completions", "body": {
		"model": "m", "temperature": 0.5, "stream": true, "messages": [
			{"role": "system", "content": "be brief"},
			{"role": "user", "content": "weather in Oslo?"},
			{"role": "assistant", "content": "It rains."},
			{"role": "user", "content": "and in Rome?"}],
		"tools": [{"type": "function", "function": {"name": "weather", "description": "tells the weather", "strict": true,
			"parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]}},
	"response": {"status": 200, "contentType": "text/event-stream", "body": "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"weather\",\"arguments\":\"{\\\"city\\\":\\\"Rome\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"}},
	{"request": {"method": "POST", "url": "https://p.example/v1/chat/completions", "body": {
		"model": "m", "temperature": 0.5, "stream": true, "messages": [
			{"role": "system", "content": "be brief"},
			{"role": "user", "content": "weather in Oslo?"},
			{"role": "assistant", "content": "It rains."},
			{"role": "user", "content": "and in Rome?"},
			{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Rome\"}"}}]},
			{"role": "tool", "tool_call_id": "c1", "content": "sunny"}],
		"tools": [{"type": "function", "function": {"name": "weather", "description": "tells the weather", "strict": true,
			"parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]}},
	"response": {"status": 200, "contentType": "text/event-stream", "body": "data: {\"choices\":[{\"delta\":{\"content\":\"The sun shines.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}}]}`

func TestConversationWithHistory(t *testing.T) {
	path := file(t, "made.json", conversation)
	for _, clock := range [][]string{nil, {"--fixed-clock"}} {
		got := turncore(t, append([]string{"run", "--engine", "native", "--recording", path, "--json"}, clock...)...)
		end := checkLog(t, got.stdout)
		if got.status != 0 || got.stderr != "" || end.Iterations != 2 || len(end.Messages) != 4 || len(end.ToolCalls) != 1 {
			t.Fatalf("%s, end %+v", got.stderr, end)
		}
		for i, want := range []string{"weather in Oslo?", "It rains.", "and in Rome?", "The sun shines."} {
			if end.Messages[i].Content != want {
				t.Errorf("message %d is %q", i, end.Messages[i].Content)
			}
		}
		if c := end.ToolCalls[0]; c.Tool != "weather" || string(c.Args) != `{"city":"Rome"}` || c.IsError || c.Results != "sunny" {
			t.Errorf("tool call %+v", c)
		}
	}
	got := turncore(t, "run", "--engine", "native", "--recording", path)
	for _, want := range []string{`→ weather {"city":"Rome"}`, "← sunny", "made: 2 of 2 requests sent; the turn ended with ack after 2 iterations"} {
		if got.status != 0 || got.stdout != "The sun shines.\n" || !strings.Contains(got.stderr, want) {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

// TestHistoryWithToolCalls plays a recording whose history holds calls: one answer with text and two calls.
func TestHistoryWithToolCalls(t *testing.T) {
	text := strings.Replace(conversation, `{"role": "assistant", "content": "It rains."},`, `
		{"role": "assistant", "content": "I look twice.", "tool_calls": [
			{"id": "h1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}},
			{"id": "h2", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]},
		{"role": "tool", "tool_call_id": "h1", "content": "rain"},
		{"role": "tool", "tool_call_id": "h2", "content": "more rain"},
		{"role": "assistant", "content": null, "tool_calls": [
			{"id": "h3", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]},
		{"role": "tool", "tool_call_id": "h3", "content": "rain again"},
		{"role": "assistant", "content": "It rains."},`, 2)
	got := turncore(t, "run", "--engine", "native", "--recording", file(t, "h.json", text), "--json")
	end := checkLog(t, got.stdout)
	if got.status != 0 || got.stderr != "" || len(end.ToolCalls) != 4 || end.ToolCalls[1].Results != "more rain" {
		t.Errorf("%s, end %+v", got.stderr, end)
	}
}

func TestRequestsThatDiffer(t *testing.T) {
	third := `, {"request": {"method": "POST", "url": "https://p.example/v1/chat/completions", "body": {"messages": [
			{"role": "tool", "tool_call_id": "c1", "content": "sunny"}, {"role": "tool", "tool_call_id": "c2", "content": "warm"}]}},
		"response": {"status": 200, "contentType": "text/event-stream", "body": "data: [DONE]\n\n"}}]}`
	for _, c := range []struct{ old, new, want string }{
		{`"temperature": 0.5`, `"temperature": 0.25`, "request 1, /temperature: sent 0.25, recorded 0.5\n"},
		{`"content": "sunny"`, `"content": "sunny", "name": "x"`, "request 1, /messages/5/name: sent null, recorded \"x\"\n"},
		{`"role": "tool"`, `"role": "user"`, "1 requests were sent, 2 are recorded\n"},
		{"", "", ""},
	} {
		text := strings.Replace(conversation, c.old, c.new, 1)
		if c.want == "" {
			text = strings.TrimSuffix(conversation, "]}") + third
			c.want = "2 requests were sent, 3 are recorded"
		}
		for _, flags := range [][]string{nil, {"--json"}} {
			got := turncore(t, append([]string{"run", "--engine", "native", "--recording", file(t, "made.json", text)}, flags...)...)
			if got.status != 1 || !strings.Contains(got.stderr, c.want) {
				t.Errorf("%q: %+v", c.want, got)
			}
			if flags != nil {
				checkLog(t, got.stdout)
			}
		}
	}
}

// TestHostileJournals damages a journal in every way that a file can be damaged.
func TestHostileJournals(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if got := turncore(t, "run", "--engine", "native", "--log", log, "--fixed-clock", "--seed", "1", "hello"); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	good, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	header := bytes.IndexByte(good, 0x92)
	for name, content := range map[string][]byte{
		"empty":                      {},
		"text":                       []byte("hello\n"),
		"zeros":                      make([]byte, 4096),
		"header only":                good[:header],
		"half a header":              good[:header/2],
		"breaks off":                 good[:len(good)-3],
		"promises 4 GiB":             append(bytes.Clone(good), 0x92, 0xc6, 0xff, 0xff, 0xff, 0xff, 1),
		"ends with something else":   append(bytes.Clone(good), 0xc0),
		"another version":            bytes.Replace(good, []byte("\xa7version\x01"), []byte("\xa7version\x09"), 1),
		"another ABI":                bytes.Replace(good, []byte("\xa3abi\xce\x00\x02"), []byte("\xa3abi\xce\x00\x63"), 1),
		"a changed last byte":        append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^0x40),
		"a changed message":          bytes.Replace(good, []byte("hello"), []byte("jello"), 1),
		"garbage in place of frames": append(bytes.Clone(good[:header]), 0x92, 0xc4, 3, 0xff, 0xff, 0xff, 0xc4, 0),
		"a bomb of nested arrays":    append(append(bytes.Clone(good[:header]), 0x92, 0xc5, 0x40, 0x00), append(bytes.Repeat([]byte{0x91}, 0x4000), 0xc4, 0)...),
	} {
		path := file(t, "damaged", string(content))
		for _, e := range hosttest.Engines(t) {
			got := turncore(t, "replay", path, "--engine", e.Name())
			if got.status != 1 || !strings.Contains(got.stderr, "error: ") || got.stdout != "" || strings.Contains(got.stderr, "panic") || strings.Contains(got.stderr, "goroutine") {
				t.Errorf("%s on %s: %+v", name, e.Name(), got)
			}
		}
	}
	if got := turncore(t, "replay", t.TempDir(), "--engine", "native"); got.status != 1 {
		t.Errorf("a folder: %+v", got)
	}
}

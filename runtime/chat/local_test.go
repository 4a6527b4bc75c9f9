package chat_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// parts is the answer of an engine: the bytes of its lines, then perhaps an error.
type parts struct {
	data      []string
	err       error
	idle      uint64
	cancelled bool
}

func (p *parts) Next() (runtime.Chunk, bool, error) {
	if len(p.data) == 0 {
		return runtime.Chunk{}, false, p.err
	}
	data := p.data[0]
	p.data = p.data[1:]
	return runtime.Chunk{Data: []byte(data)}, true, nil
}

func (p *parts) Idle(ms uint64) { p.idle = ms }
func (p *parts) Cancel()        { p.cancelled = true }

// saying is an answer with a text, in parts of a few bytes.
func saying(text string, size int) []string {
	var list []string
	for len(text) > 0 {
		n := min(size, len(text))
		list = append(list, `{"text":`+strconv.Quote(text[:n])+"}\n")
		text = text[n:]
	}
	return append(list, `{"usage":{"promptTokens":5,"completionTokens":2},"finish":"stop"}`+"\n")
}

// localTurn runs a dispatch on an engine with the given answers.
func localTurn(t *testing.T, options string, answers ...*parts) *dispatch {
	t.Helper()
	e, err := chat.New(fromJSON(t, options), provider.All...)
	if err != nil {
		t.Fatal(err)
	}
	d := newDispatch(t)
	d.prompt = "Be brief."
	d.addMessage("user", "Weather?")
	d.tools = []*runtime.Tool{{Number: 1, Name: "get_weather", Description: "Weather in a city", InputSchema: fromJSON(t, `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}}
	d.run = func(_ *runtime.Tool, args []byte) ([]byte, error) {
		city, _ := value.Get(args, "city")
		name, _ := value.String(city)
		return value.AppendString(nil, "4 degrees in "+string(name)), nil
	}
	d.generate = func(r *runtime.ModelRequest) (runtime.Stream, error) {
		if r.Model != "tiny" {
			t.Errorf("model %q", r.Model)
		}
		if len(answers) == 0 {
			t.Fatal("one request too many")
		}
		a := answers[0]
		answers = answers[1:]
		return a, nil
	}
	d.iterate(e, 5)
	if d.open() != nil {
		t.Errorf("open streams %q", d.open())
	}
	return d
}

type localRequest struct {
	Messages []struct {
		Role, Content string
		ToolCalls     []json.RawMessage `json:"tool_calls"`
	}
	Tools   []json.RawMessage
	Options map[string]any
	Grammar string
	Schema  json.RawMessage
}

func requestOf(t *testing.T, body []byte) (r localRequest) {
	t.Helper()
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return r
}

const textCall = "Let me see.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>"

// Without tools, text that looks like a call is the answer.
func TestAnswersThatLookLikeCalls(t *testing.T) {
	const answer = `{"name": "Ada", "parameters": {"age": 36}}`
	e, err := chat.New(fromJSON(t, `{"provider":"model","model":"tiny","schema":{"type":"object","required":["name"]}}`), provider.All...)
	if err != nil {
		t.Fatal(err)
	}
	d := newDispatch(t)
	d.generate = func(*runtime.ModelRequest) (runtime.Stream, error) {
		return &parts{data: saying("<think>Who?</think>"+answer, 4)}, nil
	}
	d.iterate(e, 1)
	if !d.acked || d.lastMessage() != answer || len(d.records[record.Thoughts]) != 1 {
		t.Errorf("nacked by %v, stored %q", d.nacked, d.lastMessage())
	}
}

// The prompt describes tools to an engine without fields for them, and calls are read from its text, wherever the text
// is cut.
func TestToolsInText(t *testing.T) {
	for _, size := range []int{1, 3, 1000} {
		d := localTurn(t, `{"provider":"model","model":"tiny","temperature":0,"trust":"off","capabilities":{"grammar":"gbnf"}}`,
			&parts{data: saying("<think>Hm.</think>"+textCall, size)}, &parts{data: saying("It is 4 degrees.", size)})
		if !d.acked || len(d.requests) != 2 {
			t.Fatalf("acked %v, nacked %v, %d requests", d.acked, d.nacked, len(d.requests))
		}
		first, second := requestOf(t, d.requests[0]), requestOf(t, d.requests[1])
		if first.Tools != nil || first.Options["temperature"] != 0.0 || !strings.Contains(first.Grammar, `\"name\": \"get_weather\"`) {
			t.Errorf("request %s", d.requests[0])
		}
		if system := first.Messages[0].Content; !strings.HasPrefix(system, "Be brief.\n\n") || !strings.Contains(system, `"Weather in a city"`) || !strings.Contains(system, "<tool_call>\n{\"name\": \"TOOL\"") {
			t.Errorf("system %q", system)
		}
		m := second.Messages
		if len(m) != 4 || m[2].Role != "assistant" || m[2].Content != textCall || m[2].ToolCalls != nil ||
			m[3].Role != "user" || m[3].Content != "<tool_response>\n4 degrees in Oslo\n</tool_response>" {
			t.Errorf("request %s", d.requests[1])
		}
		if n := len(d.records[record.Thoughts]); n != 1 {
			t.Errorf("%d thoughts", n)
		}
		last := d.records[record.Messages][len(d.records[record.Messages])-1]
		if text, _ := record.Message(last.body).Content(); string(text) != "It is 4 degrees." {
			t.Errorf("answer %q", text)
		}
	}
}

func TestNativeTools(t *testing.T) {
	d := localTurn(t, `{"provider":"model","model":"tiny","trust":"off","capabilities":{"tools":"native","grammar":"gbnf"}}`,
		&parts{data: []string{
			`{"toolCall":{"index":0,"id":"c1","name":"get_weather","arguments":"{\"ci"}}` + "\n" + `{"toolCall":{"index":0,"argu`,
			`ments":"ty\":\"Rome\"}"}}` + "\n" + `{"finish":"tool_calls"}`,
		}},
		&parts{data: saying("4 degrees, <tool_call> or not.", 7)})
	second := requestOf(t, d.requests[1])
	if !d.acked || len(second.Tools) != 1 || second.Grammar != "" || len(second.Messages) != 4 || len(second.Messages[2].ToolCalls) != 1 ||
		second.Messages[3].Role != "tool" || second.Messages[3].Content != "4 degrees in Rome" {
		t.Errorf("nacked %v, request %s", d.nacked, d.requests[1])
	}
}

func TestRequiredCallsAndSchemas(t *testing.T) {
	d := localTurn(t, `{"provider":"model","model":"tiny","toolChoice":"required","capabilities":{"grammar":"gbnf","toolFormat":"phi"}}`,
		&parts{data: saying(`functools[{"name": "get_weather", "arguments": {"city": "X"}}]`, 9)}, &parts{data: saying("Done.", 9)})
	if g := requestOf(t, d.requests[0]).Grammar; !strings.HasPrefix(g, `root ::= "functools[" r`) {
		t.Errorf("grammar %q", g)
	}
	for kind, want := range map[string]string{"gbnf": "grammar", "schema": "schema", "none": ""} {
		e, err := chat.New(fromJSON(t, `{"provider":"model","model":"tiny","schema":{"type":"integer"},"capabilities":{"grammar":"`+kind+`"}}`), provider.All...)
		if err != nil {
			t.Fatal(err)
		}
		d := newDispatch(t)
		d.generate = func(*runtime.ModelRequest) (runtime.Stream, error) { return &parts{data: saying("12", 1)}, nil }
		d.iterate(e, 1)
		r := requestOf(t, d.requests[0])
		if !d.acked || (r.Grammar != "") != (want == "grammar") || (r.Schema != nil) != (want == "schema") || !strings.HasSuffix(r.Messages[0].Content, "{\"type\":\"integer\"}") {
			t.Errorf("%s: request %s", kind, d.requests[0])
		}
	}
}

func TestLocalFailures(t *testing.T) {
	const options = `{"provider":"model","model":"tiny"}`
	failed := fault.New(fault.ModelFailed, "out of memory")
	for _, c := range []struct {
		name   string
		answer *parts
		want   fault.Code
	}{
		{"at once", &parts{err: failed}, fault.ModelFailed},
		{"later", &parts{data: []string{"{\"text\":\"a\"}\n"}, err: failed}, fault.ChatStreamError},
		{"an error part", &parts{data: []string{"{\"text\":\"a\"}\n{\"error\":{\"code\":\"x\",\"message\":\"no\"}}\n"}}, fault.ChatProviderError},
		{"nothing", &parts{}, fault.ChatEmptyResponse},
		{"half a line", &parts{data: []string{"{\"text\":\"a\"}\n{\"te"}}, fault.ChatStreamError},
		{"a line without end", &parts{data: []string{"{\"text\":\"a\"}\n", `{"text":"` + strings.Repeat("a", 9<<20)}}, fault.ChatStreamError},
		{"silence", &parts{err: runtime.ErrIdle}, fault.ChatStreamStalled},
	} {
		d := localTurn(t, options, c.answer)
		var f *fault.Error
		if !errors.As(d.nacked, &f) || f.Code != c.want {
			t.Errorf("%s: %v, want %v", c.name, d.nacked, c.want)
		}
		if c.answer.idle != 0 {
			t.Errorf("%s: waits %d ms", c.name, c.answer.idle)
		}
	}
	// The model learns about an incomplete call.
	d := localTurn(t, options, &parts{data: saying("<tool_call>\n{\"name\": \"get_weather\", \"argu", 5)}, &parts{data: saying("Sorry.", 5)})
	if !d.acked || !strings.Contains(string(d.requests[1]), "the text ends inside the call") {
		t.Errorf("nacked %v, requests %s", d.nacked, d.requests)
	}
}

func TestLocalOptions(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{`{"provider":"model"}`, "`model` is required"},
		{`{"provider":"model","model":"m","baseURL":"http://x"}`, "`baseURL` is not for an engine of the host"},
		{`{"provider":"model","model":"m","capabilities":1}`, "`capabilities` must be an object"},
		{`{"provider":"model","model":"m","capabilities":{"tools":"some"}}`, "`capabilities.tools` must be one of native, text"},
		{`{"provider":"model","model":"m","capabilities":{"toolFormat":"loose_keyed"}}`, "`capabilities.toolFormat` must be one of hermes, llama3_json, mistral, phi"},
		{`{"provider":"model","model":"m","capabilities":{"grammar":true}}`, "`capabilities.grammar` must be one of gbnf, schema, none"},
		{`{"provider":"model","model":"m","capabilities":{"contextWindow":512}}`, "`capabilities.contextWindow` is not a known option"},
		{`{"provider":"model","model":"m","capabilities":{"media":1}}`, "`capabilities.media` must be a list"},
		{`{"provider":"model","model":"m","capabilities":{"media":["text"]}}`, "`capabilities.media` must be one of image, audio, video, document"},
		{`{"provider":"model","model":"m","capabilities":{"speed":1}}`, "`capabilities.speed` is not a known option"},
		{`{"provider":"model","model":"m","capabilities":{"gramar":"gbnf"}}`, "`capabilities.gramar` is not a known option; did you mean `grammar`?"},
		{`{"provider":"model","model":"m","tool_choice":"none"}`, "`tool_choice` is not a known option; did you mean `toolChoice`?"},
		{`{"provider":"model","model":"m","capability":{}}`, "`capability` is not a known option; other members of the request belong in `body`"},
		{`{"provider":"model","model":"m","capabilites":{}}`, "`capabilites` is not a known option; did you mean `capabilities`?"},
		{`{"provder":"model","model":"m"}`, "`provder` is not a known option; did you mean `provider`?"},
		{`{"provider":"model","model":"m","toolChoice":"required"}`, "`toolChoice` can be required of engines with text tools and GBNF grammars only"},
		{`{"provider":"model","model":"m","schema":{"$ref":"#/x"},"capabilities":{"grammar":"gbnf"}}`, "`schema` cannot be used: schema: /$ref: \"#/x\" points nowhere"},
		{`{"provider":"model","model":"m","pace":1}`, "`pace` is not a known option; other members of the request belong in `body`"},
		{`{"provider":"model","model":"m","sed":1}`, "`sed` is not a known option; did you mean `seed`?"},
		{`{"model":"m","temprature":1}`, "`temprature` is not a known option; did you mean `temperature`?"},
		{`{"model":"m","base_url":"http://x"}`, "`base_url` is not a known option; did you mean `baseURL`?"},
		{`{"model":"m","outputSchema":{}}`, "`outputSchema` is not a known option; did you mean `schema`?"},
		{`{"model":"m","retry":{"maxAttempt":1}}`, "`retry.maxAttempt` is not a known option; did you mean `maxAttempts`?"},
		{`{"model":"m","includeUsege":true}`, "`includeUsege` is not a known option; did you mean `includeUsage`?"},
		{`{"provider":"gemini","model":"m","includeUsege":true}`, "`includeUsege` is not a known option; other members of the request belong in `body`"},
		{`{"model":"m","capabilities":{}}`, "`capabilities` is not a known option; other members of the request belong in `body`"},
	} {
		_, err := chat.New(fromJSON(t, c.options), provider.All...)
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.options, err, c.want)
		}
	}
}

package provider_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/record"
)

// inJSON is a text as JSON has it; one that is not UTF-8 stands there as it is.
func inJSON(text string) string {
	if !utf8.ValidString(text) {
		return `"` + text + `"`
	}
	return string(value.AppendJSONString(nil, text))
}

// turns plays an answer in n turns, each with its own executor and user message, and returns the request of one more
// turn.
func (d *dispatch) turns(options string, p chat.Provider, body string, n int) *runtime.HTTPRequest {
	d.t.Helper()
	for range n {
		d.say("user", "again")
		d.state, d.iteration = nil, 0
		d.play(newExecutor(d.t, options, p), reply{body: body})
		if d.Signalled() {
			d.t.Fatalf("%s: acked %v, nacked by %v", p.Protocol().Name, d.acked, d.nackedBy)
		}
	}
	d.state = nil
	d.play(newExecutor(d.t, options, p), reply{status: 400})
	return d.requests[len(d.requests)-1]
}

// Providers count the ids of calls anew in each answer, or give none. Over five turns every call keeps its own result,
// in the records and in what is sent, and ids do not grow with the turns.
func TestFiveTurnsOfOneCallID(t *testing.T) {
	pairs := map[string]*regexp.Regexp{
		"openai":           regexp.MustCompile(`"(?:id|tool_call_id)":"([^"]*)"`),
		"model":            regexp.MustCompile(`"(?:id|tool_call_id|toolCallId)":"([^"]*)"`),
		"anthropic":        regexp.MustCompile(`"(?:id|tool_use_id)":"([^"]*)"`),
		"openai-responses": regexp.MustCompile(`"call_id":"([^"]*)"`),
	}
	for i, talk := range talks {
		name := talk.provider.Protocol().Name
		options := `{"model":"m"}`
		if talk.provider.Protocol().Local != nil {
			options = `{"model":"m",` + strings.TrimSuffix(talk.options[0], ",") + `}`
		}
		d := newDispatch(t)
		var results []string
		result := func(string) (string, error) {
			results = append(results, fmt.Sprintf("result %d.", len(results)+1))
			return results[len(results)-1], nil
		}
		d.offer("get", `{"type":"object"}`, result)
		d.offer("time", `{"type":"object"}`, result)
		sent := string(d.turns(options, talk.provider, talk.body, 5).Body)
		if len(results) < 5 {
			t.Fatalf("%d %s: %d calls", i, name, len(results))
		}
		ids := map[string]bool{}
		for n, it := range d.records[record.ToolCalls] {
			c := record.ToolCall(it.body)
			if got, _ := value.String(c.Results()); string(got) != results[n] || ids[string(c.ID())] || len(c.ID()) > len("toolu_1#10") {
				t.Errorf("%d %s: call %d is %s with %q", i, name, n, c.ID(), got)
			}
			ids[string(c.ID())] = true
		}
		at := 0
		for _, text := range results {
			next := strings.Index(sent[at:], text)
			if next < 0 || strings.Count(sent, text) != 1 {
				t.Fatalf("%d %s: %q is not in its place: %s", i, name, text, sent)
			}
			at += next
		}
		if pair := pairs[name]; pair != nil && (name != "model" || strings.Contains(sent, "call_0")) {
			seen := map[string]int{}
			for _, match := range pair.FindAllStringSubmatch(sent, -1) {
				seen[match[1]]++
			}
			for id, n := range seen {
				if n != 2 || id == "" {
					t.Errorf("%d %s: %q is there %d times", i, name, id, n)
				}
			}
			if len(seen) != len(results) {
				t.Errorf("%d %s: %d ids for %d calls: %s", i, name, len(seen), len(results), sent)
			}
		}
	}
}

// Wherever a stream is cut in two, whatever ends its lines, and with its last line end missing, the same comes of it.
func TestStreamsAtEveryByte(t *testing.T) {
	played := 0
	for _, talk := range talks {
		p := talk.provider
		if p.Protocol().Local != nil {
			continue // hosts write those lines
		}
		ends := []string{"\n", "\r\n", "\r"}
		if strings.HasPrefix(talk.body, "{") {
			ends = ends[:2] // lines of JSON
		}
		e := newExecutor(t, `{"model":"m"}`, p)
		var want []string
		for _, end := range ends {
			body := strings.ReplaceAll(strings.ReplaceAll(talk.body, "\r\n", "\n"), "\n", end)
			body = strings.TrimRight(body, "\r\n")
			for first := range len(body) {
				d := weatherDispatch(t)
				d.play(e, reply{body: body, first: first})
				if want == nil {
					want = d.events
				}
				if played++; d.Signalled() || d.stored(record.ToolCalls) < 2 || !slices.Equal(d.events, want) {
					t.Fatalf("%s, lines end with %q, cut at %d of %d: nacked by %v, events\n%q, want\n%q",
						p.Protocol().Name, end, first, len(body), d.nackedBy, d.events, want)
				}
			}
		}
	}
	t.Logf("%d streams", played)
}

// What vendors' pages call invalid is sent all the same: the executor refuses no conversation because of its order or
// for what is missing in it. An API that minds says so itself.
func TestOddConversationsAreSent(t *testing.T) {
	call := func(id, tool string, results []byte, complete bool) []byte {
		return record.AppendToolCall(nil, record.ToolCallFields{
			ID: id, Tool: tool, Args: value.AppendMapHeader(nil, 0), Checksum: "s", IsComplete: complete,
			Results: results, CreatedAt: 1, UpdatedAt: 1, CompletedAt: 1,
		})
	}
	thought := func(d *dispatch, text string) {
		d.clock++
		d.add(record.Thoughts, record.AppendThought(nil,
			record.ThoughtFields{
				ID: "t" + strconv.FormatInt(d.clock, 10), Content: []byte(text), CreatedAt: d.clock,
				UpdatedAt: d.clock,
			}))
	}
	odd := map[string]func(d *dispatch){
		"nothing":                       func(*dispatch) {},
		"an empty prompt":               func(d *dispatch) { d.prompt = ""; d.say("user", "hi") },
		"the assistant begins":          func(d *dispatch) { d.say("assistant", "hello"); d.say("user", "hi") },
		"the assistant has spoken last": func(d *dispatch) { d.say("user", "hi"); d.say("assistant", "hello") },
		"two of the user's":             func(d *dispatch) { d.say("user", "hi"); d.say("user", "you") },
		"two of the assistant's":        func(d *dispatch) { d.say("user", "hi"); d.say("assistant", "a"); d.say("assistant", "b") },
		"blank texts":                   func(d *dispatch) { d.say("user", " "); d.say("assistant", "\n"); d.say("user", "\t") },
		"a thought alone":               func(d *dispatch) { thought(d, "hm") },
		"thoughts last":                 func(d *dispatch) { d.say("user", "hi"); thought(d, "hm"); thought(d, "so") },
		"a call before all": func(d *dispatch) {
			d.add(record.ToolCalls, call("c", "get", value.AppendString(nil, "r"), true))
			d.say("user", "hi")
		},
		"a call of a tool that is gone": func(d *dispatch) {
			d.say("user", "hi")
			d.add(record.ToolCalls, call("c", "gone", value.AppendString(nil, "r"), true))
		},
		"a call that goes on": func(d *dispatch) {
			d.say("user", "hi")
			d.add(record.ToolCalls, call("c", "get", value.AppendString(nil, "so far"), false))
		},
		"a result that is empty": func(d *dispatch) {
			d.say("user", "hi")
			d.add(record.ToolCalls, call("c", "get", value.AppendString(nil, ""), true))
		},
		"odd ids": func(d *dispatch) {
			d.say("user", "hi")
			for _, id := range []string{" ", "a b", "é", "\x00", strings.Repeat("x", 300)} {
				d.add(record.ToolCalls, call(id, "get", value.AppendString(nil, "r"), true))
			}
		},
	}
	for _, p := range provider.All {
		for name, happen := range odd {
			d := newDispatch(t)
			d.prompt = "Be brief."
			d.offer("get", `{"type":"object"}`, nil)
			happen(d)
			d.play(newExecutor(t, `{"model":"m"}`, p), reply{status: 500})
			if len(d.requests) != 1 || !json.Valid(d.requests[0].Body) {
				t.Errorf("%s: %s: %d requests, nacked by %v", p.Protocol().Name, name, len(d.requests), d.nackedBy)
			}
		}
	}
}

// The schema of a tool goes to every provider as it was given: what it takes, and what it leaves open, stays so.
// OpenAI's protocol says of objects and lists that they leave open what they hold, see TestSchemasOfTools; nothing else
// is added, and nothing is lost.
func TestToolSchemasAreSentWhole(t *testing.T) {
	schemas := []string{
		`{"type":"object"}`,
		`{"type":"object","properties":{}}`,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"]}},"required":["a"]}`,
		`{"type":"object","properties":{"unit":{"type":"string","enum":["","c","f"]}},"additionalProperties":true}`,
		`{"type":"object","properties":{"unit":{"anyOf":[{"const":"c"},{"type":"string"}],"default":""}}}`,
		`{"type":"object","properties":{"n":{"type":"number","minimum":-0.5,"exclusiveMaximum":1e300,` +
			`"multipleOf":0.25},"l":{"type":"array","items":{},"maxItems":0}}}`,
		`{"type":"object","properties":{"s":{"type":"string","pattern":"^\\d+$","minLength":0,"format":"date"}},` +
			`"patternProperties":{"^x-":{}},"additionalProperties":{"type":"integer"}}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
			`"properties":{"t":{"$ref":"#/$defs/t"}},` +
			`"$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"}}}}}`,
		`{"type":"object","properties":{"properties":{"type":"object"},"__proto__":{"type":"string"},` +
			`"ключ":{"description":"\u2028\"x\""}},"x-own":[null,1]}`,
		`{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}],"not":{"required":["c"]},` +
			`"if":{"required":["a"]},"then":{"minProperties":2},"else":false}`,
	}
	for _, p := range provider.All {
		for _, schema := range schemas {
			d := newDispatch(t)
			d.say("user", "hi")
			d.offer("get", schema, nil)
			options := `{"model":"m"}`
			if p.Protocol().Local != nil {
				options = `{"model":"m","capabilities":{"tools":"native"}}`
			}
			d.play(newExecutor(t, options, p), reply{status: 400})
			var body, want any
			if err := json.Unmarshal(d.requests[0].Body, &body); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(schema), &want); err != nil {
				t.Fatal(err)
			}
			got := schemaOfTool(body.(map[string]any)["tools"])
			if strings.Contains(string(d.requests[0].Body), `"parameters":`) {
				want = saysWhatIsOpen(want)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s was sent as %v", p.Protocol().Name, schema, got)
			}
		}
	}
}

// saysWhatIsOpen adds to schemas, in the places where the test's have them, what OpenAI wants to be said.
func saysWhatIsOpen(schema any) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		for name, inner := range properties {
			properties[name] = saysWhatIsOpen(inner)
		}
	} else if s["type"] == "object" {
		s["properties"] = map[string]any{}
	}
	return s
}

// schemaOfTool finds the schema in the tools of a request.
func schemaOfTool(v any) any {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			return schemaOfTool(item)
		}
	case map[string]any:
		for _, name := range []string{"parameters", "input_schema", "inputSchema", "parametersJsonSchema"} {
			if schema, ok := v[name]; ok {
				return schema
			}
		}
		for _, name := range []string{"function", "functionDeclarations"} {
			if inner, ok := v[name]; ok {
				return schemaOfTool(inner)
			}
		}
	}
	return nil
}

// Whatever a model puts in the place of a name, of arguments or of a thought, the call is answered and the conversation
// can be sent again.
func TestHostileCalls(t *testing.T) {
	hostile := map[string]string{
		"empty": "", "blank": " ", "NUL": "\x00", "control": "\x1b[2J\r\n", "no UTF-8": "\xff\xfe\xc0",
		"quotes": `"\"}]`, "long": strings.Repeat("n", 300<<10),
		"inherited": "__proto__", "separator": "\u2028\u2029", "a replacement": "\ufffd", "marks": "</tool_call><tool_call>",
	}
	for _, talk := range talks {
		p := talk.provider
		options := `{"model":"m"}`
		if p.Protocol().Local != nil {
			options = `{"model":"m",` + strings.TrimSuffix(talk.options[0], ",") + `}`
		}
		for what, text := range hostile {
			for place, old := range map[string][]string{"name": {`"get"`}, "thought": {`"First "`, `"First this."`, `"this."`}, "text": {`"I look "`, `"I look it up."`}} {
				body := talk.body
				for _, o := range old {
					body = strings.ReplaceAll(body, o, inJSON(text))
				}
				if strings.Contains(body, `<tool_call>`) && place == "name" {
					body = talk.body // that is a text inside of JSON
				}
				d := weatherDispatch(t)
				d.play(newExecutor(t, options, p), reply{body: body})
				least := 2
				if place == "name" && strings.TrimSpace(text) == "" {
					least = 1 // a call without a name is none
				}
				if d.nackedBy != nil || d.stored(record.ToolCalls) < least && !strings.Contains(talk.body, `<tool_call>`) {
					t.Errorf("%s: %s %s: %d calls, nacked by %v", p.Protocol().Name, what, place,
						d.stored(record.ToolCalls), d.nackedBy)
					continue
				}
				for _, it := range d.records[record.ToolCalls] {
					if c := record.ToolCall(it.body); len(c.Tool()) == 0 || string(c.Tool()) != "get" && !c.IsError() {
						t.Errorf("%s: %s %s: a call of %q that did not fail", p.Protocol().Name, what, place, c.Tool())
					}
				}
				d.play(newExecutor(t, options, p), reply{status: 500})
				if n := len(d.requests); n != 2 || !json.Valid(d.requests[1].Body) {
					t.Errorf("%s: %s %s: %d requests", p.Protocol().Name, what, place, n)
				}
			}
		}
	}
}

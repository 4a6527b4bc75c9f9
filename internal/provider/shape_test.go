package provider_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/fault"
)

// asked is what a request for an answer of a schema is, and whether the prompt tells the schema.
func asked(t *testing.T, p chat.Provider, schema string) (body map[string]any, told bool) {
	t.Helper()
	d := newDispatch(t)
	d.say("user", "hi")
	d.play(newExecutor(t, `{"model":"m","schema":`+schema+`}`, p), reply{status: 400})
	text := string(d.requests[0].Body)
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return body, strings.Contains(text, "# Answer")
}

// in is a part of a request, as JSON; empty if it is not there.
func in(body map[string]any, path ...string) string {
	var v any = body
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	if v == nil {
		return ""
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func same(a, b string) bool {
	var x, y any
	return a == b || json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b),
		&y) == nil && reflect.DeepEqual(x, y)
}

// OpenAI's strict schemas are closed, and have all properties required; others are sent as they are.
func TestStrictSchemas(t *testing.T) {
	for _, c := range []struct {
		schema string
		strict string // empty if it is not
	}{
		{`{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":false}`},
		{`{"type":"object"}`, ""},
		{`{"type":"object","properties":{}}`, ""},
		{
			`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
				`"properties":{"a":{"type":"object","properties":{"b":{"type":["string","null"]}},"required":["b"]},` +
				`"l":{"type":"array","items":{"anyOf":[{"type":"integer","minimum":1},{"const":"x"}]}}},` +
				`"required":["l","a"]}`,
			`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
				`"properties":{"a":{"type":"object","properties":{"b":{"type":["string","null"]}},"required":["b"],` +
				`"additionalProperties":false},"l":{"type":"array","items":{"anyOf":[{"type":"integer","minimum":1},` +
				`{"const":"x"}]}}},"required":["l","a"],"additionalProperties":false}`,
		},
		{
			`{"type":"object","properties":{"t":{"$ref":"#/$defs/t"}},"required":["t"],` +
				`"$defs":{"t":{"type":"object",` +
				`"properties":{"next":{"anyOf":[{"$ref":"#/$defs/t"},{"type":"null"}]}},"required":["next"]}}}`,
			`{"type":"object","properties":{"t":{"$ref":"#/$defs/t"}},` +
				`"$defs":{"t":{"type":"object",` +
				`"properties":{"next":{"anyOf":[{"$ref":"#/$defs/t"},{"type":"null"}]}},"required":["next"],` +
				`"additionalProperties":false}},"required":["t"],"additionalProperties":false}`,
		},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, ""},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":true}`, ""},
		{`{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}},` +
			`"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{}},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":true},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]}},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{"type":"string","format":"uri"}},"required":["a"]}`, ""},
		{
			`{"type":"object","properties":{"a":{"type":"string","format":"date-time"}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"type":"string","format":"date-time"}},"required":["a"],` +
				`"additionalProperties":false}`,
		},
		{`{"type":"object","properties":{"a":{"type":"array"}},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{"type":["array","null"]}},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/s","description":"d"}},"required":["a"],` +
			`"$defs":{"s":{"type":"string"}}}`, ""},
	} {
		for _, p := range []struct {
			provider chat.Provider
			path     []string
		}{{provider.OpenAI, []string{"response_format", "json_schema"}}, {provider.Responses, []string{"text", "format"}}} {
			body, told := asked(t, p.provider, c.schema)
			strict, want := "true", c.strict
			if want == "" {
				strict, want = "false", c.schema
			}
			if got := in(body, append(p.path, "schema")...); told || in(body, append(p.path, "strict")...) != strict || !same(got, want) {
				t.Errorf("%s: strict %s, told %v, %s, want %s", c.schema, in(body, append(p.path, "strict")...), told, got, want)
			}
		}
	}
	for _, schema := range []string{`{}`, `{"type":"string"}`, `{"type":["object","null"]}`, `{"type":"object","anyOf":[{"required":["a"]}]}`} {
		for _, p := range []chat.Provider{provider.OpenAI, provider.Responses, provider.Anthropic} {
			if body, told := asked(t, p, schema); !told || in(body, "response_format")+in(body, "text")+in(body, "output_config") != "" {
				t.Errorf("%s: told %v, %v", schema, told, body)
			}
		}
	}
}

// OpenAI refuses tool schemas that leave open what objects and lists hold. Other protocols get them unchanged.
func TestSchemasOfTools(t *testing.T) {
	for _, c := range []struct{ schema, sent string }{
		{`{"type":"object"}`, `{"type":"object","properties":{}}`},
		{
			`{"type":"object","additionalProperties":{"type":"array"}}`,
			`{"type":"object","additionalProperties":{"type":"array","items":{}},"properties":{}}`,
		},
		{
			`{"type":"object","properties":{"l":{"type":"array"},"n":{"type":["string","array"]},` +
				`"o":{"type":"object"},"any":true,"type":{"enum":["array"]}},"required":["l"]}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{}},"n":{"type":["string","array"],` +
				`"items":{}},"o":{"type":"object","properties":{}},"any":true,"type":{"enum":["array"]}},` +
				`"required":["l"]}`,
		},
		{
			`{"type":"object","properties":{"l":{"type":"array",` +
				`"items":{"anyOf":[{"type":"array"},{"$ref":"#/$defs/d"}]}}},"$defs":{"d":{"type":"object"}}}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{"anyOf":[{"type":"array","items":{}},` +
				`{"$ref":"#/$defs/d"}]}}},"$defs":{"d":{"type":"object","properties":{}}}}`,
		},
		{
			`{"type":"object","properties":{"a":{"const":{"type":"array"},"default":{"type":"object"}}}}`,
			`{"type":"object","properties":{"a":{"const":{"type":"array"},"default":{"type":"object"}}}}`,
		},
		{`{"type":"object","properties":[],"anyOf":{}}`, `{"type":"object","properties":[],"anyOf":{}}`},
	} {
		tool := &runtime.Tool{Name: "f", Description: "d", InputSchema: schemaValue(t, c.schema)}
		for _, p := range []struct {
			provider chat.Provider
			path     []string
			sent     string
		}{
			{provider.OpenAI, []string{"function", "parameters"}, c.sent},
			{provider.Ollama, []string{"function", "parameters"}, c.sent},
			{provider.Responses, []string{"parameters"}, c.sent},
			{provider.Anthropic, []string{"input_schema"}, c.schema},
			{provider.Gemini, []string{"parametersJsonSchema"}, c.schema},
		} {
			var body map[string]any
			text := p.provider.AppendTool(nil, tool, nil)
			if err := json.Unmarshal(text, &body); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if got := in(body, p.path...); !same(got, p.sent) {
				t.Errorf("%T: %s, want %s", p.provider, got, p.sent)
			}
		}
	}
}

func schemaValue(t *testing.T, text string) []byte {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Anthropic gets what it knows of a schema; the prompt tells it where that is not all.
func TestClosedSchemas(t *testing.T) {
	for _, c := range []struct {
		schema, sent string // empty if nothing is
		told         bool
	}{
		{
			`{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}}}`,
			`{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}},"additionalProperties":false}`,
			false,
		},
		{
			`{"type":"object","properties":{"a":{"type":"string","maxLength":3,"description":"d"}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"d"}},"required":["a"],` +
				`"additionalProperties":false}`,
			true,
		},
		{
			`{"type":"object","properties":{"a":{"oneOf":[{"type":"integer","minimum":1},{"type":"null"}]}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}},` +
				`"additionalProperties":false}`,
			true,
		},
		{
			`{"type":"object","properties":{"l":{"type":"array","minItems":2,"items":{"type":"object",` +
				`"properties":{"b":{"type":"boolean"}}}}}}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object",` +
				`"properties":{"b":{"type":"boolean"}},"additionalProperties":false}}},"additionalProperties":false}`,
			true,
		},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}}`, "", true},
		{`{"type":"object","properties":{"a":{"type":"object"}}}`, "", true},
		{`{"type":"object","properties":{}}`, "", true},
		{`{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":false}`, false},
		{`{"type":"object","properties":{"a":{"type":"object","properties":{},` +
			`"additionalProperties":{"type":"string"}}}}`, "", true},
		{`{"type":"object","properties":{"a":{}}}`, "", true},
	} {
		body, told := asked(t, provider.Anthropic, c.schema)
		if got := in(body, "output_config", "format", "schema"); told != c.told || !same(got, c.sent) {
			t.Errorf("%s: told %v, %s, want %s", c.schema, told, got, c.sent)
		}
	}
}

func TestDeclinesInParts(t *testing.T) {
	for _, body := range []string{
		`{"choices":[{"message":{"content":[{"type":"refusal","refusal":"I cannot."}]},"finish_reason":"stop"}]}`,
		`{"choices":[{"message":{"content":null,"refusal":"I cannot."},"finish_reason":"stop"}]}`,
	} {
		d := newDispatch(t)
		d.say("user", "hi")
		d.play(newExecutor(t, `{"model":"m","stream":false,"schema":{"type":"object"}}`, provider.OpenAI),
			reply{body: body, mediaType: "application/json"})
		if d.nackedBy == nil || !strings.HasPrefix(d.nackedBy.Error(), string(fault.ChatRefused)) || !strings.Contains(d.nackedBy.Error(), "I cannot.") {
			t.Errorf("nacked by %v", d.nackedBy)
		}
		d = newDispatch(t)
		d.say("user", "hi")
		d.play(newExecutor(t, `{"model":"m","stream":false}`, provider.OpenAI),
			reply{body: body, mediaType: "application/json"})
		if !d.acked || shown(d, "message") != "I cannot." {
			t.Errorf("nacked by %v, %q", d.nackedBy, d.events)
		}
	}
}

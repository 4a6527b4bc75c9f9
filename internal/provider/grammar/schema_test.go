package grammar_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider/grammar"
	"github.com/turncore/turncore/internal/schema"
)

func encoded(t testing.TB, text string) []byte {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func compile(t testing.TB, text string) (*grammar.Grammar, *gbnf) {
	t.Helper()
	g, err := grammar.Schema(encoded(t, text), "value")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	parsed, err := parseGBNF(g.Text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return g, parsed
}

var languages = []struct {
	name, schema string
	yes, no      []string // separated here, so that a text may hold anything
	widened      string
}{
	{
		"any",
		`true`,
		[]string{`null`, `1`, `-1.5e+9`, `"a"`, `[1, {"a":[]}]`, `{}`, `{"a": 1, "b":2}`},
		[]string{``, `{a:1}`, `[1,]`, `01`, `+1`, `"a`, `"\q"`, "\"a\nb\"", ` 1`, `1  `},
		"",
	},
	{"types", `{"type": ["integer", "null"]}`, []string{`0`, `-12`, `null`}, []string{`1.0`, `"1"`, `true`}, ""},
	{"boolean", `{"type": "boolean"}`, []string{`true`, `false`}, []string{`True`, `null`}, ""},
	{"const", `{"const": {"a": [1, "x\"y"]}}`, []string{`{"a":[1,"x\"y"]}`}, []string{`{"a":[1]}`}, ""},
	{"enum", `{"type": "string", "enum": ["a", "b c", 3]}`, []string{`"a"`, `"b c"`}, []string{`"b"`, `3`}, ""},

	{
		"properties in order", `{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}, "required": ["a", "b"]}`,
		[]string{`{"a":1,"b":true}`, `{"a": 1, "b": false}`},
		[]string{`{"b":true,"a":1}`, `{"a":1}`, `{}`, `{"a":1,"b":true,"c":1}`, `{"a":1,"b":true,}`},
		"",
	},
	{
		"optional properties", `{"properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}}, "required": ["b"]}`,
		[]string{`{"b":2}`, `{"a":1,"b":2}`, `{"b":2,"c":3}`, `{"a":1,"b":2,"c":3}`},
		[]string{`{}`, `{"a":1}`, `{"a":1,"c":3}`, `{,"b":2}`, `{"a":1,,"b":2}`},
		"",
	},
	{
		"all optional",
		`{"properties": {"a": {"const": 1}, "b": {"const": 2}}}`,
		[]string{`{}`, `{"a":1}`, `{"b":2}`, `{"a":1,"b":2}`},
		[]string{`{"b":2,"a":1}`, `{"a":1 }`},
		"",
	},
	{"no properties", `{"type": "object", "additionalProperties": false}`, []string{`{}`}, []string{`{"a":1}`}, ""},
	{"a dictionary", `{"type": "object", "additionalProperties": {"type": "integer"}}`, []string{`{}`, `{"x":1,"y":-2}`}, []string{`{"x":"1"}`}, ""},
	{
		"others beside declared ones", `{"properties": {"a": {"const": 1}, "ab": {"const": 2}}, "additionalProperties": {"type": "null"}}`,
		[]string{`{}`, `{"a":1}`, `{"a":1,"x":null}`, `{"x":null}`, `{"abc":null,"b":null,"":null}`, `{"ac":null}`},
		[]string{`{"a":null}`, `{"ab":null}`, `{"x":1}`, `{"x":null,"a":1}`},
		"",
	},
	{
		"the empty name is taken",
		`{"properties": {"": {"const": 1}}, "additionalProperties": {"type": "null"}}`,
		[]string{`{"":1}`, `{"a":null}`},
		[]string{`{"":null}`},
		"",
	},
	{"required, and not declared", `{"type": "object", "required": ["x"]}`, []string{`{"x":[null]}`}, []string{`{}`, `{"y":1}`}, ""},
	{
		"names that need escapes",
		`{"properties": {"a\"b\\c\nd é": {"const": 1}}, "required": ["a\"b\\c\nd é"]}`,
		[]string{`{"a\"b\\c\nd é":1}`},
		[]string{`{}`},
		"",
	},
	{
		"nested", `{"properties": {"a": {"properties": {"b": {"type": "array", "items": {"type": "string"}}}, "required": ["b"]}}, "required": ["a"]}`,
		[]string{`{"a":{"b":[]}}`, `{"a": {"b": ["x", "y"]}}`},
		[]string{`{"a":{}}`, `{"a":{"b":[1]}}`},
		"",
	},
	{"no such property", `{"properties": {"a": false, "b": {"const": 1}}}`, []string{`{}`, `{"b":1}`}, []string{`{"a":1}`}, ""},
	{
		"additionalProperties of a part",
		`{"allOf": [{"properties": {"a": {"const": 1}}, "additionalProperties": false}, {"properties": {"b": {"const": 1}}}]}`,
		[]string{`{}`, `{"a":1}`},
		[]string{`{"b":1}`, `{"a":1,"b":1}`},
		"",
	},

	{"lists", `{"type": "array", "items": {"enum": [1, 2]}}`, []string{`[]`, `[1]`, `[1,2]`, `[1, 2]`}, []string{`[3]`, `[1,]`, `[,1]`, `[ 1]`}, ""},
	{"bounded lists", `{"items": {"const": 1}, "minItems": 2, "maxItems": 3}`, []string{`[1,1]`, `[1,1,1]`}, []string{`[]`, `[1]`, `[1,1,1,1]`}, ""},
	{"at most one", `{"items": {"const": 1}, "maxItems": 1}`, []string{`[]`, `[1]`}, []string{`[1,1]`}, ""},
	{"none", `{"type": "array", "maxItems": 0}`, []string{`[]`}, []string{`[1]`}, ""},
	{"at least one", `{"items": {"const": 1}, "minItems": 1}`, []string{`[1]`, `[1,1,1,1,1]`}, []string{`[]`}, ""},
	{
		"tuples",
		`{"prefixItems": [{"const": 1}, {"const": 2}], "items": {"const": 3}, "minItems": 1}`,
		[]string{`[1]`, `[1,2]`, `[1,2,3,3]`},
		[]string{`[]`, `[2]`, `[1,3]`},
		"",
	},
	{
		"closed tuples",
		`{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"const": 1}, {"const": 2}], "additionalItems": false, "minItems": 2}`,
		[]string{`[1,2]`},
		[]string{`[1]`, `[1,2,3]`},
		"",
	},
	{"short tuples", `{"prefixItems": [{"const": 1}, {"const": 2}], "maxItems": 1}`, []string{`[]`, `[1]`}, []string{`[1,2]`}, ""},

	{
		"lengths",
		`{"type": "string", "minLength": 1, "maxLength": 2}`,
		[]string{`"a"`, `"\n"`, `"é中"`, `"\u00e9"`, `"😀"`},
		[]string{`""`, `"abc"`, `"\ud83d\ude00"`},
		"",
	},
	{"pattern", `{"type": "string", "pattern": "^[A-Z]{2,3}-\\d+$"}`, []string{`"AB-1"`, `"ABC-123"`}, []string{`"A-1"`, `"AB-"`, `"xAB-1"`, `"AB-1x"`}, ""},
	{"pattern anywhere", `{"pattern": "a+b|^c?$"}`, []string{`"xaaby"`, `"ab"`, `""`, `"c"`}, []string{`"ba"`, `"cc"`}, ""},
	{"pattern of what is escaped", `{"pattern": "^[\"\\\\]\\.(?:x|y\\/z)*[^a]$"}`, []string{`"\".b"`, `"\\.xy/zb"`}, []string{`".b"`, `"\".a"`}, ""},
	{"pattern beyond", `{"pattern": "^\\p{L}$"}`, []string{`"1"`}, nil, "value: pattern"},
	{
		"date",
		`{"type": "string", "format": "date"}`,
		[]string{`"2024-12-31"`, `"1999-02-28"`, `"2024-04-30"`},
		[]string{`"2024-02-30"`, `"2024-04-31"`, `"2024-13-01"`, `"2024-00-01"`, `"2024-1-1"`},
		"",
	},
	{
		"date-time",
		`{"format": "date-time"}`,
		[]string{`"2024-12-31T23:59:59Z"`, `"2024-01-01T00:00:00.123+05:30"`},
		[]string{`"2024-12-31"`, `"2024-12-31T24:00:00Z"`},
		"",
	},
	{"uuid", `{"format": "uuid"}`, []string{`"00000000-0000-4000-8000-0123456789ab"`}, []string{`"x"`}, ""},
	{"ipv4", `{"format": "ipv4"}`, []string{`"0.0.0.0"`, `"255.19.200.1"`}, []string{`"256.1.1.1"`, `"01.1.1.1"`, `"1.1.1"`}, ""},
	{"email", `{"format": "email"}`, []string{`"nobody"`}, nil, "value: format"},
	{"a format of one's own", `{"format": "color"}`, []string{`"red"`}, []string{`1`}, ""},

	{"integers", `{"type": "integer", "minimum": -3, "maximum": 12}`, []string{`-3`, `-1`, `0`, `7`, `12`}, []string{`-4`, `13`, `-0`, `20`, `1.5`, `00`}, ""},
	{"integers from", `{"type": "integer", "exclusiveMinimum": 98}`, []string{`99`, `100`, `12345`}, []string{`98`, `9`, `-100`}, ""},
	{"integers up to", `{"type": "integer", "maximum": -8.5}`, []string{`-9`, `-10`, `-123`}, []string{`-8`, `0`, `9`}, ""},
	{
		"integers of several lengths",
		`{"type": "integer", "minimum": 95, "maximum": 10203}`,
		[]string{`95`, `99`, `100`, `999`, `1000`, `10000`, `10199`, `10203`},
		[]string{`94`, `10204`, `10300`, `20000`, `9`},
		"",
	},
	{"numbers", `{"type": "number", "minimum": 0, "maximum": 1}`, []string{`0`, `1`, `0.5`, `0.0`}, []string{`1.5`, `-0.5`, `2`, `1.0`, `1e3`}, ""},
	{
		"open numbers",
		`{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 2}`,
		[]string{`0.1`, `0.01`, `1`, `1.0`, `1.99`},
		[]string{`0`, `0.0`, `2`, `2.0`, `-1`},
		"",
	},
	{
		"negative numbers",
		`{"type": "number", "minimum": -90, "maximum": 90}`,
		[]string{`-90`, `-89.99`, `-0.5`, `0`, `90`, `89.9`},
		[]string{`-90.5`, `-0`, `91`, `-0.0`},
		"",
	},
	{"numbers below 0", `{"type": "number", "minimum": -2, "exclusiveMaximum": -1}`, []string{`-2`, `-1.5`, `-1.01`}, []string{`-1`, `-1.0`, `0`, `-2.5`}, ""},
	{"bounds that are no integers", `{"type": "number", "minimum": 0.5}`, []string{`0.1`, `7`}, nil, "value: minimum, maximum"},
	{"multipleOf", `{"type": "integer", "multipleOf": 5}`, []string{`1`}, nil, "value: multipleOf"},

	{"anyOf", `{"anyOf": [{"type": "integer"}, {"const": "x"}]}`, []string{`1`, `"x"`}, []string{`"y"`, `null`}, ""},
	{
		"anyOf beside properties", `{"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}`,
		[]string{`{"a":1}`, `{"b":2}`, `{"a":1,"b":2}`},
		[]string{`{}`},
		"",
	},
	{"oneOf by type", `{"oneOf": [{"type": "integer"}, {"type": "string"}]}`, []string{`1`, `"a"`}, []string{`true`}, ""},
	{"oneOf by a property", `{"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
		{"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]}]}`, []string{`{"kind":"a","x":1}`, `{"kind":"b"}`}, []string{`{"kind":"a"}`, `{"kind":"c"}`}, ""},
	{"oneOf that may overlap", `{"oneOf": [{"type": "integer"}, {"type": "integer", "minimum": 3}]}`, []string{`1`, `5`}, nil, "value: oneOf"},
	{"allOf", `{"allOf": [{"type": "integer"}, {"minimum": 2}, {"maximum": 3}]}`, []string{`2`, `3`}, []string{`1`, `4`, `2.5`}, ""},
	{"impossible branches", `{"type": "string", "anyOf": [{"type": "integer"}, {"const": "a"}, false]}`, []string{`"a"`}, []string{`1`}, ""},
	{"not", `{"type": "integer", "not": {"const": 3}}`, []string{`3`}, nil, "value: not"},

	{
		"references", `{"$defs": {"n": {"type": "integer"}, "a~/b": {"const": "x"}}, "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/$defs/a~0~1b"}}, "required": ["a", "b"]}`,
		[]string{`{"a":1,"b":"x"}`},
		[]string{`{"a":"x","b":"x"}`},
		"",
	},
	{
		"recursion", `{"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#"}}, "required": ["v"]}`,
		[]string{`{"v":1}`, `{"v":1,"next":{"v":2,"next":{"v":3}}}`},
		[]string{`{"v":1,"next":{}}`},
		"",
	},
	{
		"a tree", `{"$ref": "#/definitions/node", "definitions": {"node": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"$ref": "#/definitions/node"}]}}}}`,
		[]string{`[]`, `[[],[null,[[]]]]`},
		[]string{`[1]`},
		"",
	},
	{
		"places of what is wider",
		`{"properties": {"a": {"type": "array", "items": {"multipleOf": 3}}}, "minProperties": 1}`,
		[]string{`{"a":[4]}`},
		nil,
		"value.a[]: multipleOf; value: minProperties",
	},
}

func TestLanguages(t *testing.T) {
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			g, parsed := compile(t, l.schema)
			for _, text := range l.yes {
				if !parsed.matches(text) {
					t.Errorf("%s is refused\n%s", text, g.Text)
				}
			}
			for _, text := range l.no {
				if parsed.matches(text) {
					t.Errorf("%s is accepted\n%s", text, g.Text)
				}
			}
			if got := strings.Join(sorted(g.Widened), "; "); got != l.widened {
				t.Errorf("widened %q, want %q", got, l.widened)
			}
			checkSamples(t, l.schema, g, parsed, 200)
		})
	}
}

// checkSamples holds what a grammar makes against the schema.
func checkSamples(t testing.TB, text string, g *grammar.Grammar, parsed *gbnf, count int) {
	t.Helper()
	s, err := schema.Compile(encoded(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	random := rand.New(rand.NewPCG(1, uint64(len(text))))
	for range count {
		made := parsed.sample(random)
		v, err := value.FromJSON(nil, []byte(made))
		if err != nil {
			t.Fatalf("%s: %s is no JSON: %v\n%s", text, made, err, g.Text)
		}
		if len(g.Widened) > 0 {
			continue
		}
		if _, wrong := s.Validate(v); wrong != nil {
			t.Fatalf("%s: %s is not valid: %s\n%s", text, made, wrong[0].Message, g.Text)
		}
	}
}

func TestSchemasWithoutAGrammar(t *testing.T) {
	deep := strings.Repeat(`{"properties":{"a":`, 50) + `{"type":"null"}` + strings.Repeat(`}}`, 50)
	if _, err := grammar.Schema(encoded(t, deep), "value"); err != nil {
		t.Errorf("a deep schema: %v", err)
	}
	many := make([]string, 6)
	for i := range many {
		many[i] = `{"anyOf": [{"minimum": 1}, {"minimum": 2}, {"minimum": 3}, {"minimum": 4}, {"minimum": 5}, {"minimum": 6}, {"minimum": 7}]}`
	}
	for _, c := range []struct{ schema, want string }{
		{`1`, "value: a schema is an object or a boolean"},
		{`false`, "value: nothing can match it"},
		{`{"type": "integer", "minimum": 3, "maximum": 2}`, "value: nothing can match it"},
		{`{"type": "number", "minimum": 3, "exclusiveMaximum": 3}`, "value: nothing can match it"},
		{`{"enum": []}`, "value: nothing can match it"},
		{`{"type": "string", "enum": [1]}`, "value: nothing can match it"},
		{`{"allOf": [{"const": 1}, {"const": 2}]}`, "value: nothing can match it"},
		{`{"anyOf": []}`, "value: nothing can match it"},
		{`{"type": "array", "minItems": 2, "maxItems": 1}`, "value: nothing can match it"},
		{`{"type": "array", "minItems": 1, "items": false}`, "value: nothing can match it"},
		{`{"type": "string", "minLength": 2, "maxLength": 1}`, "value: nothing can match it"},
		{`{"properties": {"a": false}, "required": ["a"]}`, "value.a: nothing can match it"},
		{`{"properties": {"a": {"type": "text"}}}`, "value.a: type: is no type of JSON"},
		{`{"properties": {"a": {"$ref": "other.json"}}}`, `value.a: $ref: "other.json" is not a place in the schema itself`},
		{`{"$ref": "#/nowhere"}`, `value: $ref: "#/nowhere" leads nowhere`},
		{`{"$ref": "#anchor"}`, `value: $ref: "#anchor" is not a place in the schema itself`},
		{`{"$ref": 1}`, "value: $ref: must be a string"},
		{`{"$dynamicRef": "#"}`, "value: $dynamicRef: is not supported"},
		{`{"properties": 1}`, "value: properties: must be an object"},
		{`{"required": [1]}`, "value: required: must hold strings only"},
		{`{"enum": 1}`, "value: enum: must be a list"},
		{`{"anyOf": 1}`, "value: anyOf: must be a list"},
		{`{"minItems": "1"}`, "value: minItems: must be a number that is not negative"},
		{`{"maxLength": -1}`, "value: maxLength: must be a number that is not negative"},
		{`{"minimum": "1"}`, "value: minimum: must be a number"},
		{`{"pattern": 1}`, "value: pattern: must be a string"},
		{`{"allOf": [` + strings.Join(many, ",") + `]}`, "value: the schema is too large for a grammar"},
	} {
		_, err := grammar.Schema(encoded(t, c.schema), "value")
		if err == nil || err.Error() != "grammar: "+c.want {
			t.Errorf("%.200s: %v, want %q", c.schema, err, c.want)
		}
	}
}

// A grammar grows with its schema, not with the combinations of optional properties.
func TestManyOptionalProperties(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"property` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26)) + `": {"type": "integer"}`)
	}
	g, parsed := compile(t, `{"properties": {`+b.String()+`}}`)
	if len(g.Text) > 100_000 {
		t.Errorf("%d bytes", len(g.Text))
	}
	if !parsed.matches(`{}`) {
		t.Error("an empty object is refused")
	}
}

func sorted(list []string) []string {
	return slices.Sorted(slices.Values(list))
}

package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/schema"
)

func text(t testing.TB, v []byte) string {
	t.Helper()
	out, err := value.AppendJSON(nil, v)
	if err != nil {
		t.Fatalf("AppendJSON(%x): %v", v, err)
	}
	return string(out)
}

// report puts violations into lines.
func report(violations []schema.Violation) string {
	var lines []string
	for _, v := range violations {
		lines = append(lines, v.Path+" "+v.Keyword+": "+v.Message)
	}
	return strings.Join(lines, "\n")
}

func TestViolations(t *testing.T) {
	for _, c := range []struct{ schema, args, want string }{
		{
			`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1}},"required":["city","days"],"additionalProperties":false}`,
			`{"days":0,"unit":"c"}`,
			"/days minimum: days must be at least 1\n/unit additionalProperties: unit is not allowed\n required: city is required",
		},
		{`{"type":"object"}`, `[1]`, " type: the value must be object, not array"},
		{`{"type":["string","null","number"]}`, `true`, " type: the value must be null, number or string, not boolean"},
		{`{"type":"integer"}`, `1.5`, " type: the value must be integer, not number"},
		{`{"properties":{"a":{"items":{"properties":{"b/~":{"enum":["x",2]}}}}}}`, `{"a":[{},{"b/~":3}]}`, `/a/1/b~1~0 enum: a[1].b/~ must be one of "x", 2`},
		{`{"const":{"a":1}}`, `2`, ` const: the value must be {"a":1}`},
		{`{"const":1,"enum":[1,2]}`, `2`, " const: the value must be 1"},
		{`{"minLength":2}`, `"x"`, " minLength: the value must have at least 2 characters"},
		{`{"maxLength":1}`, `"xy"`, " maxLength: the value must have at most 1 character"},
		{`{"maxItems":1,"uniqueItems":true}`, `[2,2.0]`, " maxItems: the value must have at most 1 item\n uniqueItems: the value must not repeat an item: 0 and 1 are equal"},
		{`{"minProperties":1}`, `{}`, " minProperties: the value must have at least 1 member"},
		{`{"multipleOf":0.1}`, `0.35`, " multipleOf: the value must be a multiple of 0.1"},
		{`{"exclusiveMaximum":5}`, `5`, " exclusiveMaximum: the value must be less than 5"},
		{`{"properties":{"n":{"pattern":"^a+$"}}}`, `{"n":"b"}`, "/n pattern: n must match the pattern ^a+$"},
		{`{"properties":{"n":{"format":"email"}}}`, `{"n":"b"}`, "/n format: n must be in the format email"},
		{`{"contains":{"type":"null"},"minContains":2}`, `[null]`, " minContains: the value must hold at least 2 of the items asked for, not 1"},
		{`{"contains":{"type":"null"}}`, `[]`, " contains: the value must hold at least 1 of the items asked for, not 0"},
		{`{"contains":{"type":"null"},"maxContains":0,"minContains":0}`, `[null]`, " maxContains: the value must hold at most 0 of the items asked for, not 1"},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, ` dependentRequired: b is required, as "a" is there`},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, "/ab propertyNames: ab has a name that is not allowed"},
		{`{"not":{"type":"null"}}`, `null`, " not: the value must not be what its schema excludes"},
		{`{"properties":{"x":false}}`, `{"x":1}`, "/x properties: x is not allowed"},
		{`false`, `1`, " false schema: the value is not allowed"},
		{`{"oneOf":[{"type":"integer"},{"minimum":2}]}`, `3`, " oneOf: the value must match exactly one of 2 alternatives, not 2"},
		{`{"anyOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}]}`, `{}`, " anyOf: the value must match one of 2 alternatives"},
		// The one alternative for this type speaks for itself.
		{`{"properties":{"o":{"anyOf":[{"type":"object","required":["a"]},{"type":"null"}]}}}`, `{"o":{}}`, "/o required: o.a is required"},
		{`{"properties":{"a":true},"unevaluatedProperties":false}`, `{"a":1,"b":2}`, "/b unevaluatedProperties: b is not allowed"},
		{`{"prefixItems":[true],"unevaluatedItems":false}`, `[1,2]`, "/1 unevaluatedItems: [1] is not allowed"},
	} {
		_, violations := compile(t, c.schema).Validate(enc(t, c.args))
		if got := report(violations); got != c.want {
			t.Errorf("%s on %s:\n got %q\nwant %q", c.args, c.schema, got, c.want)
		}
	}
	items := "[" + strings.TrimSuffix(strings.Repeat("1,", 500), ",") + "]"
	if _, violations := compile(t, `{"items":{"type":"string"}}`).Validate(enc(t, items)); len(violations) != schema.MaxViolations {
		t.Errorf("%d violations", len(violations))
	}
}

func TestDefaults(t *testing.T) {
	for _, c := range []struct{ schema, args, want string }{
		{`{"properties":{"a":{"default":1},"b":{"default":[2]}}}`, `{"b":null,"c":3}`, `{"b":null,"c":3,"a":1}`},
		{`{"properties":{"o":{"properties":{"a":{"default":1}}}}}`, `{"x":[1],"o":{},"y":2}`, `{"x":[1],"o":{"a":1},"y":2}`},
		{`{"properties":{"o":{"default":{},"properties":{"a":{"default":1}}}}}`, `{}`, `{"o":{"a":1}}`},
		{`{"items":{"properties":{"a":{"default":1}}}}`, `[0,{"a":2},{"b":3},{}]`, `[0,{"a":2},{"b":3,"a":1},{"a":1}]`},
		{`{"prefixItems":[true,{"properties":{"a":{"default":1}}}]}`, `[{},{},{}]`, `[{},{"a":1},{}]`},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":{"$ref":"#/$defs/y"}}},"y":{"default":5}}}`, `{}`, `{"a":5}`},
		{`{"allOf":[{"properties":{"a":{"default":1}}},{"properties":{"a":{"default":2},"b":{"default":2}}}]}`, `{}`, `{"a":1,"b":2}`},
		{`{"anyOf":[{"required":["x"],"properties":{"a":{"default":1}}},{"properties":{"a":{"default":2}}}]}`, `{}`, `{"a":2}`},
		{`{"oneOf":[{"type":"null"},{"properties":{"a":{"default":2}}}]}`, `{}`, `{"a":2}`},
		{`{"if":{"required":["x"]},"then":{"properties":{"a":{"default":1}}},"else":{"properties":{"a":{"default":2}}}}`, `{"x":0}`, `{"x":0,"a":1}`},
		{`{"if":{"required":["x"]},"then":{"properties":{"a":{"default":1}}},"else":{"properties":{"a":{"default":2}}}}`, `{}`, `{"a":2}`},
		{`{"dependentSchemas":{"x":{"properties":{"a":{"default":1}}}}}`, `{"x":0}`, `{"x":0,"a":1}`},
		{`{"patternProperties":{"^o":{"properties":{"a":{"default":1}}}},"additionalProperties":{"properties":{"b":{"default":2}}}}`, `{"o":{},"p":{}}`, `{"o":{"a":1},"p":{"b":2}}`},
		{`{"properties":{"1":{"default":"one"},"0":{"default":"zero"}}}`, `{"a":0}`, `{"0":"zero","1":"one","a":0}`},
		{`{"not":{"required":["z"],"properties":{"a":{"default":1}}}}`, `{}`, `{}`},
		{`{"properties":{"a":{"type":"integer","default":"none"}}}`, `{}`, `{"a":"none"}`},
		{`{"type":"object","properties":{"a":{"default":1}}}`, `[]`, ``},
		{`{"required":["a"],"properties":{"a":{"default":1}}}`, `{}`, ``},
	} {
		args := enc(t, c.args)
		before := string(args)
		out, violations := compile(t, c.schema).Validate(args)
		if c.want == "" {
			if violations == nil || &out[0] != &args[0] {
				t.Errorf("%s: %s is valid, out %x", c.schema, c.args, out)
			}
			continue
		}
		if got := text(t, out); violations != nil || got != c.want {
			t.Errorf("%s on %s: %s, %v, want %s", c.schema, c.args, got, violations, c.want)
		}
		if string(args) != before {
			t.Errorf("%s changed its argument", c.schema)
		}
		if c.want == c.args && &out[0] != &args[0] {
			t.Errorf("%s: a copy of what did not change", c.schema)
		}
	}
	s := compile(t, `{"properties":{"a":{"default":1},"o":{"properties":{"b":{"default":2}}}}}`)
	args := enc(t, `{"a":3,"o":{"b":4}}`)
	if out, _ := s.Validate(args); &out[0] != &args[0] {
		t.Error("a copy where nothing is missing")
	}
}

func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		schema, want string
		unsupported  bool
	}{
		{`1`, `schema: /: a schema is an object or a boolean`, false},
		{`{"properties":{"a":{"type":"strin"}}}`, `schema: /properties/a/type: names an unknown type "strin"`, false},
		{`{"type":[]}`, `schema: /type: is neither a type nor a list of types`, false},
		{`{"allOf":[true,{"minLength":"x"}]}`, `schema: /allOf/1/minLength: is not an integer of 0 or more`, false},
		{`{"minItems":-1}`, `schema: /minItems: is not an integer of 0 or more`, false},
		{`{"maximum":"x"}`, `schema: /maximum: is not a number`, false},
		{`{"exclusiveMinimum":true}`, `schema: /exclusiveMinimum: is not a number`, false},
		{`{"multipleOf":0}`, `schema: /multipleOf: is not a number above 0`, false},
		{`{"required":["a",1]}`, `schema: /required: is not a list of strings`, false},
		{`{"enum":1}`, `schema: /enum: is not a list`, false},
		{`{"anyOf":[]}`, `schema: /anyOf: is not a list of at least one schema`, false},
		{`{"properties":[]}`, `schema: /properties: is not an object`, false},
		{`{"items":[{}]}`, `schema: /items: is a list: in draft 2020-12 that is prefixItems`, false},
		{`{"pattern":"("}`, `schema: /pattern: pattern "(": missing )`, false},
		{`{"patternProperties":{"[":{}}}`, `schema: /patternProperties/[: pattern "[": missing ]`, false},
		{`{"pattern":"a(?=b)"}`, `schema: /pattern: pattern "a(?=b)": look-around is not supported`, true},
		{`{"pattern":"(a)\\1"}`, `schema: /pattern: pattern "(a)\\1": a back reference is not supported`, true},
		{`{"pattern":"\\p{Emoji}"}`, `schema: /pattern: pattern "\\p{Emoji}": the Unicode property Emoji is not supported`, true},
		{`{"pattern":"((a{999}){99}){99}"}`, `schema: /pattern: pattern "((a{999}){99}){99}": a pattern that large is not supported`, true},
		{`{"$ref":"#/nowhere"}`, `schema: /$ref: "#/nowhere" points nowhere`, false},
		{`{"items":{"$ref":"#name"}}`, `schema: /items/$ref: "#name" points nowhere`, false},
		{`{"$ref":"http://example.com/s#/a"}`, `schema: /$ref: a reference to "http://example.com/s", which is not part of the schema, is not supported`, true},
		{`{"$schema":"http://json-schema.org/draft-04/schema#"}`, `schema: /$schema: the meta-schema "http://json-schema.org/draft-04/schema" is not supported`, true},
		{`{"$recursiveRef":"#"}`, `schema: /$recursiveRef: $recursiveRef of draft 2019-09 is not supported`, true},
		{`{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, `schema: /$defs/b/$id: is the identity of two schemas`, false},
		{`{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, `schema: /$defs/b/$anchor: names two schemas`, false},
		{`{"$id":"a#b"}`, `schema: /$id: has a fragment`, false},
	} {
		_, err := schema.Compile(enc(t, c.schema))
		var typed *schema.Error
		if !errors.As(err, &typed) || err.Error() != c.want || typed.Unsupported != c.unsupported {
			t.Errorf("%s:\n got %v\nwant %s", c.schema, err, c.want)
		}
	}
	if _, err := schema.Compile([]byte{0x81}); err == nil {
		t.Error("a truncated schema compiles")
	}
	deep := []byte(strings.Repeat("\x81\xa3not", value.MaxDepth) + "\xc3")
	if _, err := schema.Compile(deep); err != nil {
		t.Errorf("at the depth limit: %v", err)
	}
	if _, err := schema.Compile(append([]byte("\x81\xa3not"), deep...)); !errors.Is(err, value.ErrTooDeep) {
		t.Errorf("beyond the depth limit: %v", err)
	}
}

// A schema may not change under its owner's hands: hosts reuse the buffer it came in.
func TestCompileCopies(t *testing.T) {
	source := enc(t, `{"const":"abc","properties":{"a":{"default":"x"}}}`)
	s, err := schema.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	clear(source)
	if _, violations := s.Validate(enc(t, `"abc"`)); violations != nil {
		t.Error(violations)
	}
}

func TestOlderDrafts(t *testing.T) {
	const draft7 = `{"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, c := range []struct {
		schema, args string
		valid        bool
	}{
		{draft7 + `"definitions":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/definitions/a","maxLength":1}}}`, `{"x":"long"}`, true},
		{draft7 + `"definitions":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/definitions/a"}}}`, `{"x":1}`, false},
		{draft7 + `"items":[{"type":"string"}],"additionalItems":false}`, `["a"]`, true},
		{draft7 + `"items":[{"type":"string"}],"additionalItems":false}`, `["a","b"]`, false},
		{draft7 + `"items":{"type":"string"},"additionalItems":false}`, `["a","b"]`, true},
		{draft7 + `"dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1}`, false},
		{draft7 + `"dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"c":1}`, false},
		{draft7 + `"dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"b":1}`, true},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema","$ref":"#/$defs/a","maxLength":1,"$defs":{"a":{"type":"string"}}}`, `"long"`, false},
	} {
		if _, violations := compile(t, c.schema).Validate(enc(t, c.args)); (violations == nil) != c.valid {
			t.Errorf("%s on %s: %v", c.schema, c.args, violations)
		}
	}
}

// Schemas and data that are made to hurt end in time, with a violation that says so.
func TestHostile(t *testing.T) {
	double := func(keyword string, levels int) string {
		var defs []string
		for i := range levels {
			defs = append(defs, fmt.Sprintf(`"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, keyword, i+1, i+1))
		}
		return fmt.Sprintf(`{"$ref":"#/$defs/d0","$defs":{%s,"d%d":{"type":"string"}}}`, strings.Join(defs, ","), levels)
	}
	for name, c := range map[string]struct{ schema, args string }{
		"endless reference":         {`{"$ref":"#"}`, `1`},
		"endless references":        {`{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`, `1`},
		"endless dynamic reference": {`{"$dynamicAnchor":"a","allOf":[{"$dynamicRef":"#a"},{"$dynamicRef":"#a"}]}`, `1`},
		"doubling allOf":            {strings.Replace(double("allOf", 60), "string", "integer", 1), `1`},
		"doubling anyOf":            {double("anyOf", 60), `1`},
		"doubling oneOf":            {double("oneOf", 60), `1`},
		"defaults without end":      {`{"properties":{"a":{"$ref":"#","default":{}}}}`, `{}`},
		"defaults doubling":         {`{"properties":{"a":{"$ref":"#","default":{}},"b":{"$ref":"#","default":{}}}}`, `{}`},
		"slow pattern":              {`{"pattern":"((a?){50}){20}b"}`, `"` + strings.Repeat("a", 300000) + `"`},
	} {
		start := time.Now()
		args := enc(t, c.args)
		out, violations := compile(t, c.schema).Validate(args)
		if !strings.Contains(report(violations), " "+schema.KeywordLimit+": ") || &out[0] != &args[0] {
			t.Errorf("%s: %v", name, violations)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	if _, violations := compile(t, `true`).Validate([]byte{0x91}); report(violations) != " limit: the value is not a value that can be checked (value: truncated)" {
		t.Errorf("truncated arguments: %v", violations)
	}
	many := "[" + strings.TrimSuffix(strings.Repeat("{},", 70000), ",") + "]"
	if _, err := schema.Compile(enc(t, `{"allOf":`+many+`}`)); err == nil || !strings.Contains(err.Error(), "a schema that large is not supported") {
		t.Errorf("70000 schemas: %v", err)
	}
	patterns := `[` + strings.TrimSuffix(strings.Repeat(`{"pattern":"a{9000}"},`, 20), ",") + `]`
	if _, err := schema.Compile(enc(t, `{"allOf":`+patterns+`}`)); err == nil || !strings.Contains(err.Error(), "patterns that large") {
		t.Errorf("large patterns: %v", err)
	}
}

const toolSchema = `{"type":"object","properties":{"city":{"type":"string","minLength":1},"unit":{"enum":["c","f"]},` +
	`"days":{"type":"integer","minimum":1,"maximum":14},"tags":{"type":"array","items":{"type":"string"}},"note":{"anyOf":[{"type":"string"},{"type":"null"}]}},` +
	`"required":["city","days"],"additionalProperties":false}`

const toolArgs = `{"city":"Paris","unit":"c","days":3,"tags":["a","b"],"note":null}`

func TestValidateAllocatesNothing(t *testing.T) {
	args := enc(t, toolArgs)
	for _, source := range []string{
		toolSchema, `{"properties":{"city":{"pattern":"^[A-Z][a-z]+$"}}}`, `{"properties":{"city":true},"unevaluatedProperties":true}`,
		`{"properties":{"tags":{"uniqueItems":true,"contains":{"const":"a"}}},"$ref":"#/$defs/x","$defs":{"x":{"maxProperties":9}}}`,
		`{"properties":{"city":{"default":"x"}}}`,
	} {
		s := compile(t, source)
		if n := testing.AllocsPerRun(100, func() {
			if _, violations := s.Validate(args); violations != nil {
				t.Fatal(violations)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", source, n)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	s, args := compile(b, toolSchema), enc(b, toolArgs)
	b.ReportAllocs()
	for b.Loop() {
		if _, violations := s.Validate(args); violations != nil {
			b.Fatal(violations)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	source := enc(b, toolSchema)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile(source); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPattern(b *testing.B) {
	s, args := compile(b, `{"pattern":"^[a-z0-9]+(-[a-z0-9]+)*$"}`), enc(b, `"a-slug-of-some-ordinary-length"`)
	b.ReportAllocs()
	for b.Loop() {
		if _, violations := s.Validate(args); violations != nil {
			b.Fatal(violations)
		}
	}
}

func ExampleSchema_Validate() {
	source, _ := value.FromJSON(nil, []byte(`{
		"type": "object",
		"properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
		"required": ["city"]
	}`))
	s, err := schema.Compile(source)
	if err != nil {
		panic(err)
	}
	for _, args := range []string{`{"city": "Oslo"}`, `{"city": 7}`} {
		v, _ := value.FromJSON(nil, []byte(args))
		out, violations := s.Validate(v)
		if len(violations) > 0 {
			fmt.Println(violations[0].Message)
			continue
		}
		text, _ := value.AppendJSON(nil, out)
		fmt.Println(string(text))
	}
	// Output:
	// {"city":"Oslo","days":1}
	// city must be string, not number
}

// What could not be looked at for want of steps is not said to break a rule.
func TestLimitInsideEnum(t *testing.T) {
	var options, list []byte
	const n = 8192
	options, list = value.AppendListHeader(nil, n), value.AppendListHeader(nil, n)
	for i := range n {
		options = value.AppendInt(options, int64(i))
		list = value.AppendInt(list, int64(i))
	}
	items := append(value.AppendString(value.AppendMapHeader(nil, 1), "enum"), options...)
	s, err := schema.Compile(append(value.AppendString(value.AppendMapHeader(nil, 1), "items"), items...))
	if err != nil {
		t.Fatal(err)
	}
	if _, violations := s.Validate(list); len(violations) != 1 || violations[0].Keyword != schema.KeywordLimit {
		t.Errorf("%v", violations)
	}
}

// As many defaults as a list that fits a frame may call for are no reason to refuse it.
func TestManyDefaults(t *testing.T) {
	s := compile(t, `{"items":{"properties":{"a":{"default":1},"b":{"default":"x"},"c":{"default":[]},"d":{"default":null}}}}`)
	const n = 8192
	list := value.AppendListHeader(nil, n)
	for range n {
		list = value.AppendMapHeader(list, 0)
	}
	out, violations := s.Validate(list)
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	text, _ := value.AppendJSON(nil, out)
	if want := `{"a":1,"b":"x","c":[],"d":null}`; strings.Count(string(text), want) != n {
		t.Errorf("%.100s", text)
	}
}

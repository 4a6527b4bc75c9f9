package grammar_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider/grammar"
	"github.com/turncore/turncore/internal/provider/markup"
	"github.com/turncore/turncore/internal/schema"
)

const weatherSchema = `{"type": "object", "properties": {"city": {"type": "string", "minLength": 1}, "days": {"type": "integer", "minimum": 1, "maximum": 9}}, "required": ["city"]}`

func offered(t testing.TB) []grammar.Tool {
	return []grammar.Tool{
		{Name: "get_weather", Schema: encoded(t, weatherSchema)},
		{Name: "say \"hi\"", Schema: encoded(t, `{"type": "object", "properties": {}}`)},
		{Name: "nothing", Schema: encoded(t, `{"type": "object"}`)},
	}
}

func calls(t testing.TB, o grammar.CallOptions) *gbnf {
	t.Helper()
	g, err := grammar.Calls(offered(t), o)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parseGBNF(g.Text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestHermesCalls(t *testing.T) {
	call := "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>"
	for _, c := range []struct {
		options  grammar.CallOptions
		yes, not []string
	}{
		{
			grammar.CallOptions{Format: "hermes"},
			[]string{call},
			[]string{"", "Hi.", call + "\n" + call, "Hi. " + call, "<tool_call>\n{\"name\": \"other\", \"arguments\": {}}\n</tool_call>"},
		},
		{grammar.CallOptions{Format: "hermes", Many: true}, []string{call, call + "\n" + call}, []string{"", "Hi. " + call}},
		{
			grammar.CallOptions{Format: "hermes", Text: true},
			[]string{"", "Hi.", "a < b, <tool_call, <<tool_cal", call, "Wait.\n" + call, "<" + call, "<tool_cal" + call},
			[]string{"<tool_call>", "Hi. <tool_call>\n{\"name\": \"x\"", call + "x", call + "\n" + call},
		},
		{grammar.CallOptions{Format: "hermes", Text: true, Many: true}, []string{"Hi.", "Wait.\n" + call + "\n" + call}, []string{call + " and " + call}},
	} {
		g := calls(t, c.options)
		for _, text := range c.yes {
			if !g.matches(text) {
				t.Errorf("%+v: %q is refused", c.options, text)
			}
		}
		for _, text := range c.not {
			if g.matches(text) {
				t.Errorf("%+v: %q is accepted", c.options, text)
			}
		}
	}
}

// What a grammar of calls makes is read as calls of the tools, whose arguments are valid, and nothing else.
func TestCallsAreRead(t *testing.T) {
	schemas := map[string]*schema.Schema{}
	var names []string
	for _, tool := range offered(t) {
		s, err := schema.Compile(tool.Schema)
		if err != nil {
			t.Fatal(err)
		}
		schemas[tool.Name] = s
		names = append(names, tool.Name)
	}
	formats := map[string]markup.Formats{"hermes": markup.Hermes, "llama3_json": markup.Llama3JSON, "mistral": markup.Mistral, "phi": markup.Phi}
	if len(formats) != len(grammar.Formats()) {
		t.Errorf("formats %v", grammar.Formats())
	}
	for _, format := range grammar.Formats() {
		for _, o := range []grammar.CallOptions{{Format: format}, {Format: format, Many: true}, {Format: format, Text: true, Many: true}} {
			g := calls(t, o)
			random := rand.New(rand.NewPCG(6, 7))
			called := 0
			for range 200 {
				text := g.sample(random)
				r := markup.New(markup.Options{Formats: formats[format], Tools: names})
				var out markup.Output
				r.Write([]byte(text), out.Add)
				result := r.End(out.Add)
				called += len(result.Calls)
				if !o.Text && (len(result.Calls) == 0 || !o.Many && len(result.Calls) > 1 || len(strings.TrimSpace(string(out.Prose))) > 0) {
					t.Fatalf("%+v: %q: %d calls, text %q", o, text, len(result.Calls), out.Prose)
				}
				for _, c := range result.Calls {
					s := schemas[c.Name]
					args, err := value.FromJSON(nil, c.Arguments)
					if s == nil || c.Defect != markup.None || err != nil {
						t.Fatalf("%+v: %q: call %+v: %v", o, text, c, err)
					}
					if _, wrong := s.Validate(args); wrong != nil {
						t.Fatalf("%+v: %q: %s", o, text, wrong[0].Message)
					}
				}
			}
			if called == 0 {
				t.Errorf("%+v: no calls", o)
			}
		}
	}
}

func TestCallsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		tools []grammar.Tool
		o     grammar.CallOptions
		want  string
	}{
		{offered(t), grammar.CallOptions{Format: "pythonic"}, `grammar: calls: format: "pythonic" is none of hermes, llama3_json, mistral, phi`},
		{nil, grammar.CallOptions{Format: "hermes"}, "grammar: calls: there are no tools"},
		{
			[]grammar.Tool{{Name: "x", Schema: encoded(t, `{"type": "object", "properties": {"a": {"$ref": "#/b"}}}`)}},
			grammar.CallOptions{Format: "hermes"},
			`grammar: x.a: $ref: "#/b" leads nowhere`,
		},
	} {
		if _, err := grammar.Calls(c.tools, c.o); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

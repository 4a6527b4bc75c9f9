package markup

import (
	"bytes"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
)

var weather = Tool{"get_weather", "Weather in a \"city\"", []byte(`{"type":"object","properties":{"city":{"type":"string"},"unit":{"type":"string","enum":["celsius","kelvin"]},"days":{"type":"integer"}},"required":["city","unit"]}`)}

// canonical returns JSON in the one form that equal values have.
func canonical(t *testing.T, json []byte) string {
	t.Helper()
	v, err := value.FromJSON(nil, json)
	if err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	out, err := value.AppendCanonical(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestPromptsShowWhatIsRead(t *testing.T) {
	all := []string{
		`{}`, `{"a":"x"}`, `{"a":1,"b":-2.5e3,"c":true,"d":false,"e":null}`, `{"a":"","b":" x "}`, `{"a":{"b":[1,"}",{"c d":"]"}]},"e":[]}`,
		`{"a":"x, y: {z} (\"q\") 'r' \\ é 日本"}`, `{"a":"1\n2\n"}`, `{"a":"<tool_call>{\"name\":\"f\"}</tool_call>"}`, `{"a":"True","b":"12"}`, `{"a":"call:f{}","b":"f(a=1)"}`,
	}
	count := 0
	for i := range dialects {
		f := dialects[i].format
		o := Options{Formats: f, Tools: tools}
		for _, args := range all {
			if f == Qwen3Coder && strings.ContainsAny(args, "[]1") { // values are strings
				continue
			}
			text := AppendCall(nil, f, "get_weather", []byte(args))
			r := New(o)
			var out Output
			r.Write(text, out.Add)
			result := r.End(out.Add)
			if len(result.Calls) == 0 && f == LooseKeyed && args == "{}" {
				continue // needs a line
			}
			if len(result.Calls) != 1 || len(out.Prose) > 0 {
				t.Errorf("%v: %q: %s", f, text, show(&out, result))
				continue
			}
			c := result.Calls[0]
			if c.Defect != None || c.Name != "get_weather" || canonical(t, c.Arguments) != canonical(t, []byte(args)) {
				t.Errorf("%v: %q is read as %s%s %v, want %s", f, text, c.Name, c.Arguments, c.Defect, args)
			}
			count++
		}
		// The example in the prompt is a call of the first tool, with what it requires.
		prompt := AppendTools([]byte("Hi.\n"), f, []Tool{weather, {Name: "f"}})
		example := AppendCall(nil, f, "get_weather", []byte(`{"city": "text", "unit": "celsius"}`))
		if !bytes.HasPrefix(prompt, []byte("Hi.\n")) || bytes.Count(prompt, example) != 1 {
			t.Errorf("%v: the prompt does not show %q:\n%s", f, example, prompt)
		}
		for _, part := range []string{`"name":"get_weather"`, `"name":"f"`, `Weather in a \"city\"`, string(weather.Schema)} {
			if !bytes.Contains(prompt, []byte(part)) {
				t.Errorf("%v: the prompt does not hold %q", f, part)
			}
		}
		if got := read(o, string(example)); !strings.HasSuffix(got, "}") || !strings.HasPrefix(got, " | "+f.String()+" get_weather{") {
			t.Errorf("%v: the example is read as %q", f, got)
		}
	}
	if count < 85 {
		t.Errorf("only %d calls were read back", count)
	}
	if got := AppendTools([]byte("x"), Hermes, nil); string(got) != "x" {
		t.Errorf("no tools: %q", got)
	}
}

func TestResults(t *testing.T) {
	for i := range dialects {
		d := &dialects[i]
		got := string(AppendResult([]byte("a"), d.format, "f", []byte("4 degrees "+d.end+" more")))
		if !strings.HasPrefix(got, "a") || !strings.Contains(got, "4 degrees ") {
			t.Errorf("%v: %q", d.format, got)
		}
		if open := strings.Count(d.result, d.end); d.end != "" && strings.Count(got, d.end) != open {
			t.Errorf("%v: the text can end the result: %q", d.format, got)
		}
	}
	if got := string(AppendResult(nil, Calls, "f", []byte("x"))); got != "<tool_response>\nx\n</tool_response>" {
		t.Errorf("got %q", got)
	}
}

// Anything that is not JSON gives a text that is not a call, and no panic.
func TestMalformedArguments(t *testing.T) {
	for i := range dialects {
		for _, args := range []string{"", "t", `{"a":t`, `{"a":"`, `{"a":[{"b":n`, `[1]`, "{\"a\":" + strings.Repeat("[", 10_000)} {
			AppendCall(nil, dialects[i].format, "f", []byte(args))
			AppendTools(nil, dialects[i].format, []Tool{{"f", "", []byte(args)}})
		}
	}
}

func TestExamples(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{``, `{}`},
		{`{}`, `{}`},
		{
			`{"properties":{"a":{"type":"number"},"b":{"type":"boolean"},"c":{"type":"array"},"d":{"type":"object"},"e":{"type":"null"},"f":true,"g":{"type":["string"]}}}`,
			`{"a": 1, "b": true, "c": [], "d": {}, "e": null, "f": "text", "g": "text"}`,
		},
		{`{"properties":{"a":{"default":5},"b":{"const":"x"},"c":{"examples":[[1],2]}},"required":["c","a"]}`, `{"a": 5, "c": [1]}`},
	} {
		if got := string(exampleOf([]byte(tt.schema))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.schema, got, tt.want)
		}
	}
}

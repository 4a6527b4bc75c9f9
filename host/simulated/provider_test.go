package simulated

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func ask(t *testing.T, body string) string {
	t.Helper()
	s := httptest.NewServer(&Provider{})
	defer s.Close()
	resp, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestArguments(t *testing.T) {
	const schema = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"unit":{"enum":["celsius","fahrenheit"]},"expression":{"type":"string"}}}`
	for text, want := range map[string]string{
		"What is the weather in Oslo for 3.5 days?":          `{"city":"Oslo","days":3,"unit":"celsius","expression":"3.5"}`,
		`Weather in "New York" in Fahrenheit`:                `{"city":"New York","days":1,"unit":"fahrenheit","expression":"York"}`,
		"Calculate (2 + 3) * 4 please and tell me in Berlin": `{"city":"Berlin","days":2,"unit":"celsius","expression":"(2 + 3) * 4"}`,
	} {
		if got := arguments(text, json.RawMessage(schema)); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestStream(t *testing.T) {
	body := `{"stream":true,"messages":[{"role":"user","content":"weather in Oslo"}],"tools":[{"function":{"name":"get_weather","parameters":{"properties":{"city":{"type":"string"}}}}}]}`
	text := ask(t, body)
	for _, want := range []string{`"name":"get_weather"`, `"finish_reason":"tool_calls"`, `"prompt_tokens":4`, "data: [DONE]\n\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if again := ask(t, body); again != text {
		t.Error("the same request got another answer")
	}
}

func TestToolResult(t *testing.T) {
	text := ask(t, `{"messages":[{"role":"user","content":"x"},{"role":"tool","content":"4 degrees"}]}`)
	if !strings.Contains(text, "The tool answered: 4 degrees") {
		t.Error(text)
	}
}

func TestRefusals(t *testing.T) {
	if text := ask(t, `{`); !strings.Contains(text, `"error"`) {
		t.Error(text)
	}
}

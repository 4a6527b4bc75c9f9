package provider_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/internal/provider/markup"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/record"
)

// openAIInFull is OpenAI's protocol as the full module has it.
var openAIInFull = provider.All[0]

// speaks is a stream of chat completions that says a text in pieces of some bytes.
func speaks(text string, size int) reply {
	var body strings.Builder
	for i := 0; i < len(text); i += size {
		piece, _ := json.Marshal(text[i:min(i+size, len(text))])
		body.WriteString(`data: {"choices":[{"delta":{"content":` + string(piece) + "}}]}\n\n")
	}
	body.WriteString("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	return reply{body: body.String()}
}

func asksForWeather(t *testing.T) *dispatch {
	d := newDispatch(t)
	d.prompt = "Be brief."
	d.say("user", "Weather?")
	d.offer("get_weather", `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`, func(args string) (string, error) { return "4 degrees for " + args, nil })
	return d
}

// shown is what listeners were told of messages, or of thoughts.
func shown(d *dispatch, kind string) (text string) {
	for _, e := range d.events {
		if rest, ok := strings.CutPrefix(e, kind+" "); ok {
			_, delta, _ := strings.Cut(rest, " ")
			text += strings.TrimSuffix(delta, "|")
		}
	}
	return text
}

// Each format that a model can be told is told, read, and sent back, wherever the stream is cut; nothing of it is
// shown.
func TestCallsInTextsOfAnAPI(t *testing.T) {
	n := 0
	for format := markup.Formats(1); format&markup.Calls != 0; format <<= 1 {
		call := string(markup.AppendCall(nil, format, "get_weather", []byte(`{"city":"Oslo"}`)))
		alone := format == markup.Llama3JSON || format == markup.LooseKeyed || format == markup.Pythonic
		for _, size := range []int{1, 3, 1000} {
			d := asksForWeather(t)
			text := call
			if !alone {
				text = "Let me see.\n" + call
			}
			d.play(newExecutor(t, `{"model":"m",`+
				`"toolFormat":"`+format.String()+`","toolDelivery":"prompt","tool_choice":"auto"}`, openAIInFull),
				speaks(text, size), speaks("It is 4 degrees.", size))
			if !d.acked || len(d.requests) != 2 || d.stored(record.ToolCalls) != 1 {
				t.Fatalf("%s: nacked by %v, %d requests, %q", format, d.nackedBy, len(d.requests), d.events)
			}
			first, second := string(d.requests[0].Body), string(d.requests[1].Body)
			if strings.Contains(first, `"tools":`) || strings.Contains(first, "tool_choice") || !strings.Contains(first, `\"name\":\"get_weather\"`) {
				t.Errorf("%s: request %s", format, first)
			}
			quoted := value.AppendJSONString(nil, call)
			if !strings.Contains(second, strings.Trim(string(quoted), `"`)) || strings.Contains(second, "tool_calls") || strings.Contains(second, `"role":"tool"`) || !strings.Contains(second, "4 degrees for") {
				t.Errorf("%s: request %s", format, second)
			}
			if got := shown(d, "message"); strings.TrimSpace(strings.Replace(got, "Let me see.", "", 1)) != "It is 4 degrees." {
				t.Errorf("%s: shown %q", format, got)
			}
		}
		n++
	}
	if n != 10 {
		t.Errorf("%d formats", n)
	}
}

// With native delivery, tools and results stay in their fields, and calls are read from both places.
func TestCallsInTextBesideFields(t *testing.T) {
	d := asksForWeather(t)
	d.play(newExecutor(t, `{"model":"m","toolFormat":"auto","reasoningFormat":"auto"}`, openAIInFull),
		speaks("<think>Hm.</think>So:\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>", 5), speaks("<think>Ah.</think>4.", 2))
	if !d.acked || d.stored(record.ToolCalls) != 1 || shown(d, "message") != "So:4." || shown(d, "thought") != "Hm.Ah." {
		t.Fatalf("nacked by %v, %q", d.nackedBy, d.events)
	}
	if s := string(d.requests[1].Body); !strings.Contains(s, `"tools":[`) || !strings.Contains(s, `"tool_calls":[`) || !strings.Contains(s, `"role":"tool"`) {
		t.Errorf("request %s", s)
	}
}

// Prose comes as it is written, up to the marker. Without tools there are no calls.
func TestProseBeforeCalls(t *testing.T) {
	d := asksForWeather(t)
	prose := "One. Two. Three. "
	d.play(newExecutor(t, `{"model":"m","toolFormat":"hermes"}`, openAIInFull),
		speaks(prose+"<tool_call>{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Rome\"}}</tool_call>", 5),
		speaks("Done.", 5))
	if events := slices.DeleteFunc(slices.Clone(d.events), func(e string) bool { return !strings.HasPrefix(e, "message ") }); len(events) < 5 || !d.acked {
		t.Errorf("nacked by %v, %q", d.nackedBy, events)
	}
	d = newDispatch(t)
	d.say("user", "hi")
	d.play(newExecutor(t, `{"model":"m","toolFormat":"auto"}`, openAIInFull),
		speaks("<tool_call>{\"name\":\"x\",\"arguments\":{}}</tool_call>", 5))
	if !d.acked || shown(d, "message") == "" {
		t.Errorf("nacked by %v, %q", d.nackedBy, d.events)
	}
}

func TestReasoningThatThePromptOpens(t *testing.T) {
	for _, size := range []int{1, 4, 100} {
		d := newDispatch(t)
		d.say("user", "hi")
		d.play(newExecutor(t, `{"model":"m","reasoningFormat":"think_tag","reasoningOpened":true}`, openAIInFull),
			speaks("I think.\n</think>\nHello.", size))
		if !d.acked || shown(d, "message") != "Hello." || strings.TrimSpace(shown(d, "thought")) != "I think." {
			t.Errorf("nacked by %v, %q", d.nackedBy, d.events)
		}
	}
}

// A stream that breaks off inside of a call is no answer.
func TestTextThatBreaksOff(t *testing.T) {
	d := asksForWeather(t)
	r := speaks("<tool_call>{\"name\":\"get_weather\",", 100)
	r.body, _, _ = strings.Cut(r.body, `data: {"choices":[{"delta":{},"finish`)
	d.play(newExecutor(t, `{"model":"m","toolFormat":"hermes"}`, openAIInFull), r)
	if d.acked || d.nackedBy == nil || d.stored(record.ToolCalls) != 0 {
		t.Errorf("acked %v, nacked by %v, %q", d.acked, d.nackedBy, d.events)
	}
	d = asksForWeather(t)
	r.err = errors.New("reset")
	d.play(newExecutor(t, `{"model":"m","toolFormat":"hermes"}`, openAIInFull), r)
	if d.acked || d.nackedBy == nil || d.stored(record.ToolCalls) != 0 {
		t.Errorf("acked %v, nacked by %v, %q", d.acked, d.nackedBy, d.events)
	}
}

// The schema of the answer does not keep the model from writing calls.
func TestSchemaBesideCallsInText(t *testing.T) {
	d := asksForWeather(t)
	d.play(newExecutor(t, `{"model":"m","toolFormat":"hermes","toolDelivery":"prompt","reasoningFormat":"auto",`+
		`"schema":{"type":"object"}}`, openAIInFull), speaks("<think>{</think>{}", 3))
	if s := string(d.requests[0].Body); !d.acked || strings.Contains(s, "response_format") || !strings.Contains(s, "When you call no more tools") {
		t.Errorf("nacked by %v, request %s", d.nackedBy, s)
	}
}

func TestOptionsOfCallsInText(t *testing.T) {
	for _, c := range []struct {
		provider      chat.Provider
		options, want string
	}{
		{
			openAIInFull,
			`"toolFormat":"think_tag"`,
			"`toolFormat` must be one of off, auto, hermes, gemma, gpt_oss, phi, pythonic, bare_pythonic, llama3_json, mistral, qwen3_coder, loose_keyed",
		},
		{
			openAIInFull, `"reasoningFormat":"hermes"`,
			"`reasoningFormat` must be one of leading, off, auto, think_tag, harmony_analysis, gemma_channel",
		},
		{openAIInFull, `"toolDelivery":"x"`, "`toolDelivery` must be one of native, prompt"},
		{
			openAIInFull, `"toolDelivery":"prompt","toolFormat":"off"`,
			"`toolDelivery` can be prompt with a toolFormat only",
		},
		{openAIInFull, `"reasoningOpened":1`, "`reasoningOpened` must be a boolean"},
		{provider.OpenAI, `"toolFormat":"auto"`, "`toolFormat` is not in this module, but in turncore-full.wasm"},
		{provider.Gemini, `"toolFormat":"auto"`, "`toolFormat` is not for provider gemini"},
		{provider.Ollama, `"toolFormat":1`, "`toolFormat` must be one of off"},
	} {
		optionsFail(t, c.provider, `{"model":"m",`+c.options+`}`, c.want)
	}
}

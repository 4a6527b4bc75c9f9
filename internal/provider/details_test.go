package provider_test

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/record"
)

// gatewayTools is an answer of a gateway that thinks, says something and calls two tools, all of it signed.
var gatewayTools = messages(
	deltaOf(`{"role":"assistant","content":"","reasoning":null,"reasoning_details":[]}`),
	deltaOf(`{"content":"","reasoning":"First ","reasoning_details":[{"type":"reasoning.text","text":"First ",`+
		`"format":"anthropic-claude-v1","index":0}]}`),
	deltaOf(`{"content":"","reasoning":"this.","reasoning_details":[{"type":"reasoning.text","text":"this.",`+
		`"format":"anthropic-claude-v1","index":0}]}`),
	deltaOf(`{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","format":"anthropic-claude-v1",`+
		`"index":0}]}`),
	deltaOf(`{"content":"I look it up.","extra_content":{"google":{"thought_signature":"of the text"}}}`),
	deltaOf(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"get","arguments":"{\"city\":"},`+
		`"extra_content":{"google":{"thought_signature":"one"}}}]}`),
	deltaOf(`{"tool_calls":[{"index":0,"function":{"arguments":"\"Oslo\"}"}},`+
		`{"index":1,"id":"c2","function":{"name":"time","arguments":""},`+
		`"extra_content":{"vertex":{"thought_signature":"two"}}}]}`),
	`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`,
)

func deltaOf(members string) string { return `{"choices":[{"index":0,"delta":` + members + `}]}` }

const getCall = `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"get","arguments":"{}"}}]}`

// replayed plays an answer with a call of get, and returns the assistant's message as the next request has it.
func replayed(t *testing.T, d *dispatch, options string, first reply) string {
	t.Helper()
	d.say("user", "hi")
	d.offer("get", `{"type":"object"}`, func(string) (string, error) { return "1", nil })
	d.play(newExecutor(t, options, provider.OpenAI), first,
		reply{body: messages(deltaOf(`{"content":"ok"}`), `{"choices":[{"delta":{},"finish_reason":"stop"}]}`)})
	if !d.acked || len(d.requests) != 2 {
		t.Fatalf("acked %v, nacked by %v after %d requests", d.acked, d.nackedBy, len(d.requests))
	}
	_, message, _ := strings.Cut(string(d.requests[1].Body), `{"role":"user","content":"hi"},`)
	message, _, _ = strings.Cut(message, `,{"role":"tool"`)
	return message
}

// What stands in reasoning_details goes back where anything in it is signed or encrypted: whole, in order, with all
// members.
func TestReasoningDetails(t *testing.T) {
	const text, openai, gemini = `"type":"reasoning.text"`, `"format":"openai-responses-v1"`,
		`"format":"google-gemini-v1"`
	for _, c := range []struct {
		name     string
		deltas   []string
		details  string // that go back, "" for none
		thoughts []string
	}{
		{"a text and its signature", []string{
			`{"reasoning":null,"reasoning_details":[{` + text +
				`,"text":"","signature":"","format":"anthropic-claude-v1","index":0}]}`,
			`{"reasoning":"h","reasoning_details":[{` + text +
				`,"text":"h","format":"anthropic-claude-v1","index":0}]}`,
			`{"reasoning":"m\n","reasoning_details":[{` + text +
				`,"text":"m\n","format":"anthropic-claude-v1","index":0}]}`,
			`{"reasoning":null,"reasoning_details":[{` + text +
				`,"signature":"s1","format":"anthropic-claude-v1","index":0}]}`,
			`{"reasoning_details":[{` + text + `,"text":"so","format":"anthropic-claude-v1","index":1}],` +
				`"reasoning":"so"}`,
			`{"reasoning_details":[{` + text + `,"signature":"s2","format":"anthropic-claude-v1","index":1}]}`,
		}, `[{` + text + `,"text":"hm\n","signature":"s1","format":"anthropic-claude-v1","index":0},{` + text +
			`,"text":"so","format":"anthropic-claude-v1","index":1,"signature":"s2"}]`, []string{"hm\nso"}},
		{"a summary and what it is of", []string{
			`{"reasoning":"h","reasoning_details":[{"type":"reasoning.summary","summary":"h",` + openai +
				`,"index":0}]}`,
			`{"reasoning":"m","reasoning_details":[{"type":"reasoning.summary","summary":"m",` + openai +
				`,"index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"gAAA","id":"rs_1",` + openai + `,"index":0}]}`,
		}, `[{"type":"reasoning.summary","summary":"hm",` + openai + `,"index":0},{"type":"reasoning.encrypted",` +
			`"data":"gAAA","id":"rs_1",` + openai + `,"index":0}]`, []string{"hm"}},
		{"encrypted for two calls, nothing to be seen", []string{
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"A","id":"c1",` + gemini +
				`,"index":0},{"type":"reasoning.encrypted","data":"B","id":"c2",` + gemini + `,"index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"C",` + gemini + `,"index":0}]}`,
		}, `[{"type":"reasoning.encrypted","data":"A","id":"c1",` + gemini +
			`,"index":0},{"type":"reasoning.encrypted","data":"B","id":"c2",` + gemini + `,"index":0},` +
			`{"type":"reasoning.encrypted","data":"C",` + gemini + `,"index":0}]`, []string{""}},
		{"encrypted piece by piece", []string{
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"AB","id":"e","index":3}]}`,
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"CD","id":"e","index":3}]}`,
		}, `[{"type":"reasoning.encrypted","data":"ABCD","id":"e","index":3}]`, []string{""}},
		{"a text in chunks that are alike", []string{
			`{"reasoning_details":[{` + text + `,"text":"a","index":0}]}`,
			`{"reasoning_details":[{` + text + `,"text":"b","index":0}]}`,
			`{"reasoning_details":[{` + text + `,"text":"c","index":0}]}`,
			`{"reasoning_details":[{` + text + `,"text":"d","index":0,"signature":"s"}]}`,
		}, `[{` + text + `,"text":"abcd","index":0,"signature":"s"}]`, []string{"abcd"}},
		{"two texts without a number, one after another", []string{
			`{"reasoning_details":[{` + text + `,"text":"a"}]}`,
			`{"reasoning_details":[{` + text + `,"signature":"s1"}]}`,
			`{"reasoning_details":[{` + text + `,"text":"b"}]}`,
			`{"reasoning_details":[{` + text + `,"signature":"s2"}]}`,
		}, `[{` + text + `,"text":"a","signature":"s1"},{` + text + `,"text":"b","signature":"s2"}]`, []string{"ab"}},
		{"members of any kind", []string{
			`{"reasoning_details":[{"a\u0062":{"x":[1,null,1.5]},` + text +
				`,"text":"\u0000\ud83d\ude00","id":null,"format":null,"index":0}]}`,
			`{"reasoning_details":[{` + text +
				`,"text":"b","signature":"s","id":null,"format":"f","index":0,"c":true}]}`,
			`{"reasoning_details":[{` + text + `,"text":null,"signature":null,"format":null,"index":0,"c":false}]}`,
		}, `[{"ab":{"x":[1,null,1.5]},` + text + `,"text":"\u0000😀b","id":null,"format":"f","index":0,` +
			`"signature":"s","c":false}]`, []string{"\x00😀b"}},
		{"a signature before another source says the text", []string{
			`{"reasoning_details":[{` + text + `,"text":"a","signature":"s"}]}`, `{"reasoning_content":"b"}`,
		}, `[{` + text + `,"text":"a","signature":"s"}]`, []string{"a", "b"}},
		{"no signature", []string{`{"reasoning_details":[{` + text +
			`,"text":"a","signature":"","data":null,"index":0}]}`}, "", []string{"a"}},
		{
			"no list",
			[]string{
				`{"reasoning_details":{"signature":"s"}}`,
				`{"reasoning_details":"s"}`,
				`{"reasoning_details":null}`,
				`{"reasoning_details":7}`,
			},
			"",
			nil,
		},
		{"no objects in it", []string{`{"reasoning_details":["signature",7,null,[{"data":"x"}]]}`}, "", nil},
		{
			"a number for a text and for a signature",
			[]string{`{"reasoning_details":[{` + text + `,"text":5,"signature":6}]}`},
			"", nil,
		},
		{"a number for a text", []string{
			`{"reasoning_details":[{"text":5,"signature":"s"}]}`, `{"reasoning_details":[{"text":6}]}`,
		}, `[{"text":6,"signature":"s"}]`, []string{""}},
		{
			"names given twice",
			[]string{`{"reasoning_details":[{"data":"x","id":"1","id":"2"}]}`},
			`[{"data":"x","id":"2"}]`,
			[]string{""},
		},
		{
			"an object in it that is empty",
			[]string{`{"reasoning_details":[{},{"data":"x"}]}`},
			`[{},{"data":"x"}]`,
			[]string{""},
		},
	} {
		stream := messages(append(append([]string{}, mapped(c.deltas, deltaOf)...), deltaOf(getCall),
			`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)...)
		d := newDispatch(t)
		got := replayed(t, d, `{"model":"m"}`, reply{body: stream})
		want := `{"role":"assistant",`
		if c.details != "" {
			want += `"reasoning_details":` + c.details + `,`
		}
		if want += `"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":"{}"}}]}`; got != want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, want)
		}
		var thoughts []string
		for _, it := range d.records[record.Thoughts] {
			thoughts = append(thoughts, string(record.Thought(it.body).Content()))
		}
		if strings.Join(thoughts, "|") != strings.Join(c.thoughts, "|") || len(thoughts) != len(c.thoughts) {
			t.Errorf("%s: thoughts %q, want %q", c.name, thoughts, c.thoughts)
		}
	}
}

func mapped(list []string, f func(string) string) (out []string) {
	for _, s := range list {
		out = append(out, f(s))
	}
	return out
}

// An answer in one piece says its details once: none goes on with another. A text behind which it thinks follows its
// thought.
func TestDetailsInOnePiece(t *testing.T) {
	const details = `[{"type":"reasoning.text","text":"a","index":0},{"type":"reasoning.text","text":"b","index":0,` +
		`"signature":"s"}]`
	for _, message := range []string{
		`{"content":"say","reasoning":"ab","reasoning_details":` + details + `,"tool_calls":` +
			getCall[len(`{"tool_calls":`):],
		`{"reasoning_details":` + details + `,"content":"say","tool_calls":` + getCall[len(`{"tool_calls":`):],
	} {
		body := `{"choices":[{"message":` + message + `,"finish_reason":"tool_calls"}]}`
		d := newDispatch(t)
		got := replayed(t, d, `{"model":"m","stream":false,"thoughts":"reasoning_content"}`,
			reply{body: body, mediaType: "application/json"})
		if want := `{"role":"assistant","reasoning_details":` + details + `,"content":"say","tool_calls":[{"id":"c1",`; !strings.HasPrefix(got, want) {
			t.Errorf("%s, want\n%s", got, want)
		}
		if content := string(record.Thought(d.records[record.Thoughts][0].body).Content()); d.stored(record.Thoughts) != 1 || content != "ab" {
			t.Errorf("%d thoughts, %q", d.stored(record.Thoughts), content)
		}
	}
}

// What comes behind the text of an answer without calls goes back with that text, and with no other.
func TestDetailsBehindTheText(t *testing.T) {
	d := newDispatch(t)
	e := newExecutor(t, `{"model":"m"}`, provider.OpenAI)
	answer := func(text, more string) reply {
		return reply{body: messages(deltaOf(`{"content":"`+text+`"}`), deltaOf(more),
			`{"choices":[{"delta":{},"finish_reason":"stop"}]}`)}
	}
	for i, r := range []reply{
		answer("one", `{"reasoning_details":[{"type":"reasoning.encrypted","data":"1"}]}`), answer("two", `{}`),
		answer("three", `{"content":"","extra_content":{"google":{"thought_signature":"3"}}}`),
		answer("four", `{"content":"","extra_content":{"google":{"thought":true}}}`),
		{status: 400},
	} {
		d.acked, d.iteration, d.state = false, 0, nil
		d.say("user", "hi")
		if d.play(e, r); d.acked != (i < 4) {
			t.Fatal(d.nackedBy)
		}
	}
	const hi = `{"role":"user","content":"hi"}`
	want := `"messages":[` + hi +
		`,{"role":"assistant","reasoning_details":[{"type":"reasoning.encrypted","data":"1"}],"content":"one"},` + hi +
		`,{"role":"assistant","content":"two"},` +
		hi + `,{"role":"assistant","extra_content":{"google":{"thought_signature":"3"}},"content":"three"},` + hi +
		`,{"role":"assistant","content":"four"},` + hi + `]}`
	if got := string(d.requests[4].Body); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// The extra_content of a call goes back on that call, from a stream and from an answer in one piece.
func TestExtraContent(t *testing.T) {
	const want = `[{"id":"c1","type":"function","function":{"name":"get","arguments":"{\"a\":1}"},` +
		`"extra_content":{"google":{"thought_signature":"one"}}},` +
		`{"id":"c2","type":"function","function":{"name":"get","arguments":"{}"}},` +
		`{"id":"c3","type":"function","function":{"name":"get","arguments":"{}"},"extra_content":{"x":[{"y":null}]}}]`
	stream := messages(
		deltaOf(`{"role":"assistant","tool_calls":[{"extra_content":{"google":{"thought_signature":"one"}},"index":0,`+
			`"id":"c1","function":{"name":"get","arguments":"{\"a\""}}]}`),
		deltaOf(`{"tool_calls":[{"index":0,"extra_content":null,"function":{"arguments":":1}"}},`+
			`{"index":0,"extra_content":{}}]}`),
		deltaOf(`{"tool_calls":[{"index":1,"id":"c2","function":{"name":"get","arguments":"{}"},`+
			`"extra_content":"none"}]}`),
		deltaOf(`{"tool_calls":[{"index":2,"id":"c3","function":{"name":"get","arguments":"{}"}}]}`),
		deltaOf(`{"tool_calls":[{"index":2,"extra_content":{"x":[{"y":null}]}}]}`),
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`,
	)
	whole := `{"choices":[{"message":{"role":"assistant","tool_calls":` + want + `},"finish_reason":"tool_calls"}]}`
	for name, r := range map[string]reply{"stream": {body: stream}, "JSON": {body: whole, mediaType: "application/json"}} {
		if got := replayed(t, newDispatch(t), `{"model":"m"}`, r); got != `{"role":"assistant","content":null,"tool_calls":`+want+`}` {
			t.Errorf("%s: %s, want\n%s", name, got, want)
		}
	}
}

// What one endpoint has given to have it back goes to no other one, nor to another provider.
func TestDetailsOfAnotherHost(t *testing.T) {
	d := weatherDispatch(t)
	d.play(newExecutor(t, `{"model":"m","baseURL":"https://gateway.example:444/v1"}`, provider.OpenAI),
		reply{body: gatewayTools})
	const tag = "chat-completions-reasoning-v1@gateway.example"
	own := []string{`{"reasoning_details":[{"data":"own"}],"extra_content":{"a":1}}`, `"odd"`, `{}`}
	for i, payload := range own {
		at := d.Stamp()
		d.add(record.Thoughts, record.AppendThought(nil, record.ThoughtFields{
			ID: "own" + string(rune('0'+i)), Payload: fromJSON(t, payload), ReplayCompatibility: tag, CreatedAt: at,
			UpdatedAt: at,
		}))
		d.say("assistant", "mine")
		at = d.Stamp()
		d.add(record.ToolCalls, record.AppendToolCall(nil, record.ToolCallFields{
			ID: "call" + string(rune('0'+i)), Tool: "get", Args: fromJSON(t, `{}`), Checksum: "s", IsComplete: true,
			Results: fromJSON(t, `"1"`), CreatedAt: at, UpdatedAt: at, CompletedAt: at,
			Payload:             fromJSON(t, `{"`+tag+`":`+payload+`,"extra":`+payload+`}`),
			ReplayCompatibility: "chat-completions-v1",
		}))
	}
	const given, extra = `"reasoning_details":[{"type":"reasoning.text","text":"First this.",` +
		`"format":"anthropic-claude-v1","index":0,"signature":"c2ln"}]`, `"extra_content":{"`
	for _, c := range []struct {
		options     string
		provider    chat.Provider
		given, mine bool
		extras      int
	}{
		{`{"model":"m","baseURL":"https://gateway.example/v2"}`, provider.OpenAI, true, true, 5},
		{`{"model":"m","baseURL":"https://other.example/v1"}`, provider.OpenAI, false, false, 0},
		{`{"model":"m"}`, provider.Anthropic, false, false, 0},
		{`{"model":"m"}`, provider.Responses, false, false, 0},
		{`{"model":"m","baseURL":"https://gateway.example/v2"}`, provider.Gemini, false, false, 0},
		{`{"model":"m"}`, provider.Ollama, false, false, 0},
		{`{"model":"m","capabilities":{"tools":"native"}}`, engine, false, false, 0},
	} {
		d.state, d.iteration, d.nackedBy = nil, 0, nil
		d.play(newExecutor(t, c.options, c.provider), reply{status: 400})
		got := string(d.requests[len(d.requests)-1].Body)
		mine := strings.Contains(got, `"reasoning_details":[{"data":"own"}],"extra_content":{"a":1},"content":"mine"`)
		if strings.Contains(got, given) != c.given || mine != c.mine || strings.Count(got, extra) != c.extras || strings.Contains(got, "odd") {
			t.Errorf("%s %s: %s", c.provider.Protocol().Name, c.options, got)
		}
	}
	// What other providers keep with calls does not go there either.
	for _, talk := range talks {
		if talk.provider.Protocol().Local != nil || talk.provider.Protocol().Name == "openai" {
			continue
		}
		d := weatherDispatch(t)
		d.play(newExecutor(t, `{"model":"m","baseURL":"https://one.example"}`, talk.provider), reply{body: talk.body})
		d.state, d.iteration = nil, 0
		d.play(newExecutor(t, `{"model":"m","baseURL":"https://one.example"}`, provider.OpenAI), reply{status: 400})
		got := string(d.requests[1].Body)
		if !strings.Contains(got, `"name":"get","arguments":"{\"city\":\"Oslo\"}"}}`) && !strings.Contains(got, `"name":"get","arguments":"{\"city\": \"Oslo\"}"}}`) {
			t.Errorf("%s: %s", talk.provider.Protocol().Name, got)
		}
	}
}

// Reasoning of megabytes is kept once for each time it is said, in time that grows with it; what is longer than an
// answer may be is an error.
func TestLongDetails(t *testing.T) {
	data := strings.Repeat("A", 5<<20)
	got := replayed(t, newDispatch(t), `{"model":"m"}`, reply{part: 64 << 10, body: messages(
		deltaOf(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"`+data+`"}]}`), deltaOf(getCall),
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)})
	if !strings.Contains(got, `"data":"`+data+`"}]`) {
		t.Errorf("%d bytes went back", len(got))
	}
	piece := deltaOf(`{"reasoning":"` + data[:500] + `","reasoning_details":[{"type":"reasoning.text","text":"` +
		data[:500] + `","index":0}]}`)
	pieces := make([]string, 4000)
	for i := range pieces {
		pieces[i] = piece
	}
	signed := messages(append(pieces,
		deltaOf(`{"reasoning_details":[{"type":"reasoning.text","signature":"s","index":0}]}`), deltaOf(getCall),
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)...)
	if got := replayed(t, newDispatch(t), `{"model":"m"}`, reply{body: signed}); !strings.Contains(got, `"text":"`+data[:2_000_000]+`","index":0,"signature":"s"}]`) {
		t.Errorf("%d bytes went back", len(got))
	}
	entries := strings.Repeat(`{},`, 100_000)
	for _, body := range []string{
		deltaOf(`{"reasoning_details":[{"data":"`+data+`"}]}`) + "\n\ndata: " +
			deltaOf(`{"reasoning_details":[{"data":"`+data+`"}]}`),
		deltaOf(`{"reasoning_details":[`+entries+`{}]}`) + "\n\ndata: " +
			deltaOf(`{"reasoning_details":[`+entries+`{}]}`),
	} {
		d := newDispatch(t)
		d.say("user", "hi")
		d.play(newExecutor(t, `{"model":"m"}`, provider.OpenAI), reply{body: "data: " + body + "\n\n"})
		if d.nackedBy == nil || !strings.Contains(d.nackedBy.Error(), "the answer is longer than") {
			t.Errorf("nacked by %v", d.nackedBy)
		}
	}
}

// What an attempt has said that failed is not in the answer of the next one.
func TestDetailsOfAFailedAttempt(t *testing.T) {
	e, err := chat.New(fromJSON(t, `{"model":"m","trust":"off","retry":{"maxAttempts":2}}`), provider.OpenAI)
	if err != nil {
		t.Fatal(err)
	}
	d := weatherDispatch(t)
	d.replies = []reply{{body: messages(deltaOf(`{"reasoning_details":[{"data":"lost"}]}`))}, {body: gatewayTools}}
	for range 2 {
		if err := e.Execute(d); err != nil {
			t.Fatal(err)
		}
		if d.iteration++; d.iteration == 1 {
			d.replies = []reply{{status: 400}}
		}
	}
	if got := string(d.requests[len(d.requests)-1].Body); len(d.requests) != 3 || strings.Contains(got, "lost") || !strings.Contains(got, `"signature":"c2ln"`) {
		t.Errorf("%d requests, %s", len(d.requests), got)
	}
}

// Whatever an endpoint says in them, the next request is JSON, and goes on as the one before.
func FuzzDetails(f *testing.F) {
	f.Add(`[{"type":"reasoning.text","text":"a","index":0}]`, `[{"type":"reasoning.text","signature":"s","index":0}]`,
		`{"google":{"thought_signature":"s"}}`)
	f.Add(`[{"data":"\u0000\ud83d","data":7,"id":"1"},{},[]]`, `[{"data":"x","id":"1"},{"\u0022":{"summary":"s"}}]`,
		`{"":{"signature":[null]}}`)
	f.Add(`[{"text":5,"signature":"s","type":null}]`, `{"signature":"s"}`, `7`)
	f.Fuzz(func(t *testing.T, one, two, extra string) {
		body := messages(deltaOf(`{"reasoning_details":`+one+`}`),
			deltaOf(`{"extra_content":`+extra+`,"reasoning_details":`+two+`}`),
			deltaOf(`{"tool_calls":[{"index":0,"id":"c","extra_content":`+extra+`,"function":{"name":"get",`+
				`"arguments":"{}"}}]}`), `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)
		anyBytes(t, provider.OpenAI, []byte(body), 0, true)
	})
}

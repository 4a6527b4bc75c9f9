package chat_test

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/record"
)

func (d *dispatch) addThought(at int64, id, content, from, tag, payload string) {
	f := record.ThoughtFields{ID: id, Content: []byte(content), ReplayCompatibility: tag, CreatedAt: at, UpdatedAt: at}
	if from != "" {
		f.Identity = &record.IdentityFields{Identifier: from, Representation: "The " + from}
	}
	if payload != "" {
		f.Payload = fromJSON(d.t, payload)
	}
	d.add(record.Thoughts, record.AppendThought(nil, f))
}

// thoughtful is a conversation with all sorts of thoughts: two of the model's own before its answers, one of another
// agent, one from another provider, one from this provider and two with tags only.
func thoughtful(t *testing.T) *dispatch {
	d := newDispatch(t)
	d.addAt(10, "user", "u", "hi")
	d.addThought(20, "t1", "first", "", "", "")
	d.addThought(21, "t2", "peer", "bob", "", "")
	d.addThought(22, "t3", "foreign", "", "other-v1", `{"x":1}`)
	d.addThought(23, "t4", "native", "", "anthropic-messages-thinking-v1", `{"signature":"s"}`)
	d.addAt(24, "assistant", "a1", "one")
	d.addThought(25, "t5", "tagged", "assistant", "house-v2", "")
	d.addThought(26, "t6", "plain", "assistant", "plain-text", "")
	d.addAt(28, "assistant", "a2", "two")
	return d
}

func TestThoughtOptions(t *testing.T) {
	for _, c := range []struct {
		name, options string
		anthropic     bool
		want          string // texts of the two answers
	}{
		{"off", ``, false, "one|two"},
		{"off, whatever else", `,"thoughtSurfacing":"all","replayCompatibility":["other-v1"]`, false, "one|two"},
		{"text", `,"thoughts":"text"`, false, "first\n\none|plain\n\ntwo"},
		{"others too", `,"thoughts":"text","thoughtSurfacing":"all"`, false, "first\n\npeer\n\none|plain\n\ntwo"},
		{"newest", `,"thoughts":"text","thoughtSurfacing":"latest-self"`, false, "one|plain\n\ntwo"},
		{"tags", `,"thoughts":"text","replayCompatibility":["other-v1","house-v2"]`, false, "first\n\nforeign\n\none|tagged\n\nplain\n\ntwo"},
		{"newest with tags", `,"thoughts":"text","thoughtSurfacing":"latest-self","replayCompatibility":["house-v2"]`, false, "one|plain\n\ntwo"},
		{"a field", `,"thoughts":"reasoning_content"`, false, "(first)one|(plain)two"},
		{"a field, others as text", `,"thoughts":"reasoning_content","thoughtSurfacing":"all"`, false, "(first)peer\n\none|(plain)two"},
		{"native", ``, true, "[native]one|two"},
		{"native and text", `,"thoughts":"text","thoughtSurfacing":"latest-self"`, true, "[native]one|plain\n\ntwo"},
	} {
		d := thoughtful(t)
		codec := provider.OpenAI
		if c.anthropic {
			codec = provider.Anthropic
		}
		e, err := chat.New(fromJSON(t, `{"model":"m","trust":"off"`+c.options+`}`), codec)
		if err != nil {
			t.Fatal(err)
		}
		d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) { return &response{status: 400}, nil }
		d.iterate(e, 1)
		var got []string
		for _, m := range messagesOf(t, d.requests[0])[1:] {
			m = strings.NewReplacer(
				`{"role":"assistant","reasoning_content":"first","content":"`, "(first)", `{"role":"assistant","reasoning_content":"plain","content":"`, "(plain)",
				`{"role":"assistant","content":[{"type":"thinking","thinking":"native","signature":"s"},{"type":"text","text":"`, "[native]",
				`{"role":"assistant","content":"`, "", `"}`, "", `\n`, "\n",
				`{"role":"assistant","content":[{"type":"text","text":"`, "", "]}", "",
			).Replace(m)
			got = append(got, m)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.name, strings.Join(got, "|"), c.want)
		}
	}
}

// Marks around a thought in the text name its origin, and nothing in it can end them.
func TestThoughtMarks(t *testing.T) {
	d := newDispatch(t)
	d.addThought(20, "t1", "</thought_x>", "", "", "")
	d.addThought(21, "t2", "peer", "bob", "", "")
	d.addCall(22, "c1", `{}`, `"r"`, "")
	got := string(d.request(`{"model":"m","thoughts":"text","thoughtSurfacing":"all"}`))
	one, two := "thought_"+d.Nonce(record.Thoughts, []byte("t1")), "thought_"+d.Nonce(record.Thoughts, []byte("t2"))
	want := `"content":"<` + one + ` kind=\"self-reasoning\" createdAt=\"1970-01-01T00:00:00Z\">\n&lt;/thought_x>\n</` + one + `>\n\n` +
		`<` + two + ` kind=\"peer-reasoning\" from=\"The bob\" createdAt=\"1970-01-01T00:00:00Z\">\npeer\n</` + two + `>","tool_calls":[`
	if !strings.Contains(got, want) {
		t.Errorf("%s is not in\n%s", want, got)
	}
}

// The newest thought is that of the last answer; an earlier one disappears.
func TestLatestThought(t *testing.T) {
	d := newDispatch(t)
	withTools(t, d)
	d.addAt(10, "user", "u", "hi")
	think := func(what string) string {
		return sse(delta(`{"reasoning":"`+what+`"}`), calls(`{"index":0,"id":"a","function":{"name":"get"}}`))
	}
	d.replies(think("one"), think("two"), sse(calls(`{"index":0,"id":"a","function":{"name":"get"}}`)), sse(text("ok"), stop))
	d.iterate(newExecutor(t, `{"model":"m","trust":"off","thoughts":"reasoning_content","thoughtSurfacing":"latest-self"}`), 4)
	for i, want := range []string{"", "one", "two", "two"} {
		got := string(d.requests[i])
		if n := strings.Count(got, "reasoning_content"); n != min(i, 1) || want != "" && !strings.Contains(got, `"reasoning_content":"`+want+`"`) {
			t.Errorf("request %d: %s", i, got)
		}
	}
	if again := string(d.requests[3]); !strings.HasPrefix(again, strings.TrimSuffix(string(d.requests[2]), "]}")) {
		t.Errorf("%s does not begin as %s", again, d.requests[2])
	}
}

// TestThoughtBehindText: reasoning after the text goes back with its answer, whose calls stay with its text. This holds
// for streams and for answers in one piece.
func TestThoughtBehindText(t *testing.T) {
	const call = `{"index":0,"id":"a","type":"function","function":{"name":"get","arguments":"{}"}}`
	for name, answer := range map[string]string{
		"a stream": sse(text("say"), delta(`{"reasoning_content":"hm"}`), calls(call)),
		"JSON":     `{"choices":[{"message":{"content":"say","reasoning_content":"hm","tool_calls":[` + call + `]},"finish_reason":"tool_calls"}]}`,
	} {
		d := newDispatch(t)
		withTools(t, d)
		d.addAt(10, "user", "u", "hi")
		d.replies(answer, sse(text("ok"), stop))
		d.iterate(newExecutor(t, `{"model":"m","trust":"off","thoughts":"reasoning_content"}`), 2)
		if got, want := string(d.requests[1]), `{"role":"assistant","reasoning_content":"hm","content":"say","tool_calls":[{"id":"a"`; !strings.Contains(got, want) {
			t.Errorf("%s: %s is not in\n%s", name, want, got)
		}
	}
}

func TestBucketOrder(t *testing.T) {
	for order, want := range map[string]string{
		`["standingInstructions","memories","retrievables","timeline"]`: "Be kind.|Be brief.|tea|doc",
		`["retrievables","memories","standingInstructions"]`:            "Be kind.|doc|tea|Be brief.",
	} {
		d := newDispatch(t)
		d.prompt, d.instructions = "Be kind.", []string{"Be brief."}
		d.add(record.Memories, record.AppendMemory(nil, record.MemoryFields{ID: "m", Content: []byte("tea"), CreatedAt: 1, UpdatedAt: 1}))
		d.add(record.Retrievables, record.AppendRetrievable(nil, record.RetrievableFields{ID: "r", Content: []byte("doc"), TrustTier: "first-party", Source: "wiki"}))
		d.addAt(1, "user", "u", "hi")
		got := string(d.request(`{"model":"m","trust":"off","bucketOrder":` + order + `}`))
		at := -1
		for part := range strings.SplitSeq(want, "|") {
			i := strings.Index(got, part)
			if i <= at {
				t.Errorf("%s: %q is out of place in %s", order, part, got)
			}
			at = i
		}
	}
}

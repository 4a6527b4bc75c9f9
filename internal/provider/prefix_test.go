package provider_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/record"
)

// talks are answers of each provider that think, say something and call tools, and options to have them.
var talks = []struct {
	provider chat.Provider
	body     string
	options  []string
}{
	{provider.OpenAI, messages(
		`{"choices":[{"delta":{"reasoning_content":"First this."}}]}`,
		`{"choices":[{"delta":{"content":"I look it up."}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_0","function":{"name":"get",`+
			`"arguments":"{\"city\": \"Oslo\"}"}},{"index":1,"id":"call_0","function":{"name":"time",`+
			`"arguments":""}}]},"finish_reason":"tool_calls"}]}`,
	), []string{``, `"thoughts":"reasoning_content",`, `"thoughts":"text","thoughtSurfacing":"all",`}},
	{
		provider.OpenAI, gatewayTools,
		[]string{``, `"thoughts":"reasoning_content",`, `"thoughts":"text","thoughtSurfacing":"all",`},
	},
	{provider.Anthropic, thinkingAndTools, []string{``, `"thoughts":"text",`}},
	{provider.Responses, reasoningAndTools, []string{``, `"thoughts":"text",`}},
	{provider.Ollama, ollamaTools, []string{``, `"thoughts":"thinking",`}},
	{provider.Gemini, geminiTools, []string{``, `"media":[],"thoughts":"text","thoughtSurfacing":"all",`}},
	{engine, lines(
		`{"reasoning":"First this."}`, `{"text":"I look it up."}`,
		`{"toolCall":{"index":0,"id":"call_0","name":"get","arguments":"{\"city\": \"Oslo\"}"}}`,
		`{"toolCall":{"index":1,"name":"time","arguments":"{}"},"finish":"tool_calls"}`,
	), []string{
		`"capabilities":{"tools":"native","media":["image","document"]},`,
		`"thoughts":"text","capabilities":{"tools":"native"},`,
	}},
	{engine, lines(
		`{"reasoning":"First this."}`,
		`{"text":"I look it up.\n<tool_call>\n{\"name\": \"get\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>"}`,
		`{"finish":"stop"}`,
	), []string{`"capabilities":{"media":["image"]},`, ``}},
}

// converse is a conversation at random.
type converse struct {
	*dispatch
	r *rand.Rand
	p chat.Provider
}

func (c *converse) word() string {
	words := []string{
		"a", "ä\n", `"q"`, " ", "</memories>", "tc0123456789abcdef",
		strings.Repeat("long ", 50), "\u2028",
	}
	return words[c.r.IntN(len(words))] + strconv.Itoa(c.r.IntN(1000))
}

func fromJSON(t testing.TB, text string) []byte {
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (c *converse) at() int64 { c.clock += int64(c.r.IntN(2)); return c.clock }

func (c *converse) media() []byte {
	kinds := [][2]string{
		{"image", "image/png"},
		{"document", "application/pdf"},
		{"video", "video/mp4"},
		{"audio", "audio/wav"},
	}
	kind := kinds[c.r.IntN(len(kinds))]
	return medium(c.t.(*testing.T), kind[0], kind[1], "a.b")
}

func (c *converse) parts() []byte {
	n := 1 + c.r.IntN(3)
	list := value.AppendListHeader(nil, n)
	for range n {
		list = append(list, c.media()...)
	}
	return list
}

// happen adds a record at random.
func (c *converse) happen() {
	c.minted++
	id := "r" + strconv.Itoa(c.minted)
	var from *record.IdentityFields
	if c.r.IntN(3) == 0 {
		from = &record.IdentityFields{Identifier: "bob", Representation: "Bob " + c.word()}
	}
	switch at := c.at(); c.r.IntN(6) {
	case 0, 1:
		m := record.MessageFields{
			ID: id, Role: "user", Content: []byte(c.word()), Identity: from, CreatedAt: at,
			UpdatedAt: at,
		}
		if c.r.IntN(2) == 0 {
			m.Attachments = c.parts()
		}
		c.add(record.Messages, record.AppendMessage(nil, m))
	case 2:
		c.add(record.Messages, record.AppendMessage(nil,
			record.MessageFields{
				ID: id, Role: "assistant", Content: []byte(c.word()), Identity: from, CreatedAt: at,
				UpdatedAt: at,
			}))
	case 3, 4:
		t := record.ThoughtFields{ID: id, Content: []byte(c.word()), Identity: from, CreatedAt: at, UpdatedAt: at}
		if tag := c.p.Protocol().Reasoning; tag != "" && c.r.IntN(2) == 0 {
			if t.ReplayCompatibility = tag; c.p.Protocol().ByHost {
				t.ReplayCompatibility += "@api.openai.com"
			}
			t.Payload = value.AppendText(value.AppendString(value.AppendMapHeader(nil, 2), "signature"), []byte("s"))
			t.Payload = append(value.AppendString(t.Payload, "reasoning_details"),
				fromJSON(c.t, `[{"data":"s","index":0}]`)...)
		}
		c.add(record.Thoughts, record.AppendThought(nil, t))
	default:
		results := value.AppendString(nil, c.word())
		if c.r.IntN(2) == 0 {
			results = c.parts()
		}
		c.add(record.ToolCalls, record.AppendToolCall(nil, record.ToolCallFields{
			ID: id, Tool: "get", Args: value.AppendMapHeader(nil, 0), Checksum: "s", IsComplete: true,
			IsError: c.r.IntN(3) == 0, Results: results,
			CreatedAt: at, UpdatedAt: at, CompletedAt: at,
		}))
	}
}

func executorOf(t testing.TB, options string, p chat.Provider) *chat.Executor {
	v, err := value.FromJSON(nil, []byte(options))
	if err != nil {
		t.Fatal(err)
	}
	e, err := chat.New(v, p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// sent runs an iteration and returns its request.
func (c *converse) sent(e *chat.Executor, body string) *runtime.HTTPRequest {
	c.t.Helper()
	c.replies = []reply{{body: body}}
	n := len(c.requests)
	if err := e.Execute(c); err != nil {
		c.t.Fatal(err)
	}
	if c.Signalled() || len(c.requests) != n+1 {
		c.t.Fatalf("%d requests, acked %v, nacked by %v", len(c.requests)-n, c.acked, c.nackedBy)
	}
	c.iteration++
	return c.requests[n]
}

// afresh is what an executor that knows no earlier request sends.
func (c *converse) afresh(options string) *runtime.HTTPRequest {
	other := newDispatch(c.t)
	other.prompt, other.clock, other.records, other.tools = c.prompt, c.clock, c.records, c.tools
	for kind := range other.records {
		other.records[kind] = slices.Clone(other.records[kind])
	}
	other.replies = []reply{{status: 400}}
	if err := executorOf(c.t, options, c.p).Execute(other); err != nil {
		c.t.Fatal(err)
	}
	return other.requests[0]
}

// A request begins with the one before it, byte for byte, up to what closes it, as long as nobody changes the earlier
// records. Media keep their places too. A measured request equals the one that is sent. After any change the request is
// that of a fresh executor.
func TestEachRequestBeginsAsTheOneBefore(t *testing.T) {
	grown, media := 0, 0
	for which, talk := range talks {
		for seed := range uint64(60) {
			c := &converse{newDispatch(t), rand.New(rand.NewPCG(seed, uint64(which))), talk.provider}
			options := `{"model":"m",` + talk.options[seed%uint64(len(talk.options))] + `"retry":{"maxAttempts":1}}`
			c.prompt = c.word()
			c.offer("get", `{"type":"object"}`, func(args string) (string, error) {
				for range c.r.IntN(3) {
					c.happen()
				}
				return args + c.word(), nil
			})
			c.offer("time", `{"type":"object"}`, func(string) (string, error) { return c.word(), nil })
			c.gives = func() []byte {
				if c.r.IntN(3) > 0 {
					return nil
				}
				return c.parts()
			}
			c.add(record.Memories, record.AppendMemory(nil, record.MemoryFields{ID: "m", Content: []byte(c.word())}))
			c.add(record.Retrievables,
				record.AppendRetrievable(nil,
					record.RetrievableFields{ID: "f", Content: []byte(c.word()), TrustTier: "third-party-public"}))
			for range 2 + c.r.IntN(12) {
				c.happen()
			}
			e := executorOf(t, options, talk.provider)
			closing := talk.provider.Protocol().Close
			before := c.sent(e, talk.body)
			for range 5 {
				changed := c.r.IntN(6) == 0
				if changed { // somebody takes a record out of the conversation, or puts one in its middle
					if list := c.records[record.Messages]; len(list) > 2 && c.r.IntN(2) == 0 {
						c.records[record.Messages] = slices.Delete(slices.Clone(list), 1, 2)
					} else {
						now := c.clock
						c.clock = 1000
						c.happen()
						c.clock = now
					}
				}
				fresh := c.afresh(options)
				var measured []byte
				var told []int64
				if c.r.IntN(2) == 0 {
					if err := e.Measure(c, func(text []byte, handles []int64, inside bool) {
						if told = append(told, handles...); !inside {
							measured = append(measured, text...)
						}
					}); err != nil {
						t.Fatal(err)
					}
				}
				r := c.sent(e, talk.body)
				if slices.Sort(told); measured != nil && (string(measured) != string(r.Body) || len(slices.Compact(told)) != len(told)) {
					t.Fatalf("%s, seed %d: sent\n%s\nmeasured\n%s\nfor %v", talk.provider.Protocol().Name, seed, r.Body,
						measured, told)
				}
				if string(fresh.Body) != string(r.Body) || !slices.Equal(fresh.Splices, r.Splices) {
					t.Fatalf("%s, seed %d: sent\n%s\nafresh it would be\n%s", talk.provider.Protocol().Name, seed, r.Body, fresh.Body)
				}
				first, ok := strings.CutSuffix(string(before.Body), closing)
				begins := ok && strings.HasPrefix(string(r.Body), first) && slices.Equal(before.Splices,
					r.Splices[:min(len(before.Splices), len(r.Splices))])
				if !changed && !begins {
					t.Fatalf("%s, seed %d:\n%s\nis not the beginning of\n%s", talk.provider.Protocol().Name, seed, first, r.Body)
				}
				if !changed {
					grown++
				}
				media += len(r.Splices)
				before = r
			}
		}
	}
	if grown < 1500 || media < 1500 {
		t.Errorf("only %d requests have grown, with %d media", grown, media)
	}
}

package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/guest"
	"github.com/turncore/turncore/internal/provider"
)

// register makes d the module's agent for a test.
func register(t *testing.T, d Definition) {
	t.Helper()
	registered = nil
	Register(d)
	t.Cleanup(func() { registered, said = nil, nil })
}

// talk is a host that runs one turn of an agent.
type talk struct {
	t    *testing.T
	in   *guest.Instance
	logs []string
	set  []string // what the stashes of contexts are told to have
	end  *abi.End
	// answer gives the value of an effect, or an error.
	answer func(e *abi.Effect) (abi.Raw, *abi.ErrorValue)
	gate   func(open *abi.GateOpenEvent) abi.Raw
	reply  map[uint32]abi.Reply
	calls  uint32
}

func newTalk(t *testing.T) *talk {
	in := guest.New(provider.Core...)
	in.Serve(module{})
	h := &talk{t: t, in: in, reply: map[uint32]abi.Reply{}, calls: 100}
	h.step(&abi.Hello{Major: abi.Major, Features: abi.MaxInt, Seed: make([]byte, abi.SeedSize)})
	t.Cleanup(in.Close)
	return h
}

// step sends a frame and what its answers ask for, until nothing is asked.
func (h *talk) step(f abi.Frame) {
	h.t.Helper()
	for queue := []abi.Frame{f}; len(queue) > 0; {
		batch := abi.Append(nil, queue[0])
		queue = queue[1:]
		out := append([]byte(nil), h.in.Step(append(h.in.Inbox(uint32(len(batch)))[:0], batch...))...)
		for len(out) > 0 {
			op, frame, rest, err := abi.Next(out, abi.Limits{})
			if err != nil {
				h.t.Fatal(err)
			}
			out = rest
			if next := h.take(op, frame); next != nil {
				queue = append(queue, next)
			}
		}
	}
}

func (h *talk) take(op abi.Op, frame []byte) abi.Frame {
	h.t.Helper()
	switch op {
	case abi.OpFault:
		f, _ := abi.Decode[abi.Fault](frame)
		h.logs = append(h.logs, "fault "+f.Code)
	case abi.OpSync:
		s, err := abi.Decode[abi.Sync](frame)
		if err != nil {
			h.t.Fatal(err)
		}
		if s.Sync == abi.SyncSet {
			set, err := abi.BytesOf(s.Data)
			r := abi.NewReader(set)
			key := string(r.Text())
			text, bad := value.AppendJSON(nil, r.Rest())
			if err := errors.Join(err, r.Err(), bad); err != nil || s.Collection != abi.CollectionStash {
				h.t.Errorf("%+v: %v", s, err)
			}
			h.set = append(h.set, fmt.Sprintf("%d %s %s", s.Context, key, text))
		}
	case abi.OpReply:
		r, _ := abi.Decode[abi.Reply](frame)
		h.reply[r.Call] = r
	case abi.OpEvent:
		e, err := abi.Decode[abi.Event](frame)
		if err != nil {
			h.t.Fatal(err)
		}
		return h.event(&e)
	case abi.OpEffect:
		e, err := abi.Decode[abi.Effect](frame)
		if err != nil {
			h.t.Fatal(err)
		}
		r := &abi.Result{Turn: e.Turn, Effect: e.Effect}
		if h.answer != nil {
			r.Value, r.Error = h.answer(&e)
		}
		return r
	case abi.OpEnd:
		e, err := abi.Decode[abi.End](frame)
		if err != nil {
			h.t.Fatal(err)
		}
		h.end = &e
	}
	return nil
}

func (h *talk) event(e *abi.Event) abi.Frame {
	switch e.Kind {
	case abi.EventLog:
		l, _ := abi.Decode[abi.LogEvent](e.Payload)
		h.logs = append(h.logs, l.Kind+": "+l.Message)
	case abi.EventMessage:
		m, _ := abi.Decode[abi.StreamEvent](e.Payload)
		h.logs = append(h.logs, "delta: "+m.Delta)
	case abi.EventTurnGateOpen:
		g, _ := abi.Decode[abi.GateOpenEvent](e.Payload)
		h.calls++
		args := (&abi.SettleGateArgs{Gate: g.Gate, Settle: abi.SettleResolve, Value: h.gate(&g)}).Append(nil)
		return &abi.Call{Turn: e.Turn, Call: h.calls, Method: abi.MethodSettleGate, Args: args}
	}
	return nil
}

// run opens a runner of the agent and runs a turn.
func (h *talk) run(open abi.OpenRunner) {
	h.t.Helper()
	open.Runner, open.Call, open.Executor = 1, 1, abi.ExecutorModule
	h.step(&open)
	if r := h.reply[1]; r.Error != nil {
		h.t.Fatalf("the runner does not open: %v", r.Error)
	}
	h.step(&abi.StartTurn{Turn: 1, Runner: 1, Now: 1_767_225_600_000, Seed: make([]byte, 16), ID: "t", SystemPrompt: "p"})
	if h.end == nil {
		h.t.Fatalf("the turn does not end: %q", h.logs)
	}
}

func encoded(text string) []byte {
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func TestDescribe(t *testing.T) {
	register(t, Definition{
		Name: "a", Version: "1.2.3", Description: `says "hi"`, Options: `{"type":"object"}`,
		Executor: func(*Context) error { return nil },
		Tools: []*Tool{
			RawTool("x", "Does x.", `{"type":"object"}`, nil),
			RawTool("y", "", `{"type":"object","properties":{}}`, nil).Confirmed(),
		},
		TurnInput: []Middleware{{Name: "i"}}, DispatchOutput: []Middleware{{Name: "o"}, {Name: "p"}},
		Asks: Asks{
			HTTP: []Origin{{"https://h", "w"}}, Credentials: []Credential{{"n", "https://h", "w"}}, Tools: []Ask{{"t", "w"}},
			Models: []Ask{{"default", "w"}}, Stores: []Ask{{"s", "w"}}, Log: 5, Quota: Quota{Steps: 1, Tokens: 2},
		},
	})
	h := newTalk(t)
	h.step(&abi.Call{Call: 7, Method: abi.MethodDescribe})
	text, ok := value.String(h.reply[7].Value)
	const want = `{"manifest":1,"name":"a","version":"1.2.3","description":"says \"hi\"","tools":[{"name":"x","description":"Does x.",` +
		`"inputSchema":{"type":"object"}},{"name":"y","description":"","inputSchema":{"type":"object","properties":{}},"confirm":true}],` +
		`"options":{"type":"object"},"executor":true,"middleware":[{"pipeline":"turnInput","name":"i"},{"pipeline":"dispatchOutput","name":"o"},` +
		`{"pipeline":"dispatchOutput","name":"p"}],"asks":{"http":[{"origin":"https://h","why":"w"}],"credentials":[{"name":"n","origin":` +
		`"https://h","why":"w"}],"tools":[{"name":"t","why":"w"}],"models":[{"name":"default","why":"w"}],"stores":[{"name":"s","why":"w"}],` +
		`"log":5,"quota":{"steps":1,"tokens":2}}}`
	if !ok || string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestDescribeEmpty(t *testing.T) {
	register(t, Definition{Name: "e"})
	if !json.Valid(said[2:]) && !strings.Contains(string(said), `"asks":{}`) {
		t.Errorf("%s", said)
	}
}

func TestRegister(t *testing.T) {
	panics := func(name string, f func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s does not panic", name)
			}
		}()
		f()
	}
	register(t, Definition{Name: "a"})
	panics("a second agent", func() { Register(Definition{Name: "b"}) })
	registered = nil
	panics("a schema of malformed JSON", func() { Register(Definition{Options: "{"}) })
}

// A turn of an agent with an executor, tools, a gate and all middleware.
func TestTurn(t *testing.T) {
	around := func(name string) []Middleware {
		return []Middleware{{Name: name, Run: func(c *Context, next func()) error {
			if c.Dispatch() {
				if err := c.Log(Info, name, "before", nil); err != nil {
					return err
				}
			}
			next()
			if c.Dispatch() {
				return c.Log(Info, name, "after", nil)
			}
			if _, err := c.StoreMessage(Message{}); err == nil {
				return errors.New("a message is stored without a dispatch")
			}
			return c.Set(name, value.AppendBool(nil, true))
		}}}
	}
	register(t, Definition{
		Name: "a", TurnInput: around("ti"), TurnOutput: around("to"), DispatchInput: around("di"), DispatchOutput: around("do"),
		Tools: []*Tool{RawTool("ask", "", `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, func(c *Context, args []byte) ([]byte, error) {
			decision, err := c.WaitFor(Gate{Reason: "Go on?", Schema: `{"type":"boolean"}`, Payload: args})
			if err != nil {
				return nil, err
			}
			return decision, nil
		})},
		Executor: func(c *Context) error {
			if c.Iteration() == 0 {
				if err := c.Set("seen", []byte{0xc1}); err == nil {
					return errors.New("the stash takes a byte that encodes nothing")
				}
				if err := c.Set("seen", encoded(`{"n":0}`)); err != nil {
					return err
				}
				got, err := c.CallTool("ask", encoded(`{"n":3}`))
				if yes, _ := value.Bool(got); err != nil || !yes {
					return errors.Join(err, errors.New("no"))
				}
				if v, ok := c.Get("ti"); !ok || !bytes.Equal(v, value.AppendBool(nil, true)) {
					return errors.New("the dispatch lacks what the turn's middleware has set")
				}
				if _, err := c.CallTool("ask", nil); err == nil {
					return errors.New("arguments that are missing are taken")
				}
				return nil
			}
			order := ""
			err := c.Together(
				func(c *Context) error { err := c.Sleep(20); order += "a"; return err },
				func(c *Context) error { order += "b"; return nil },
			)
			if err != nil || order != "ba" {
				return errors.Join(err, errors.New("order "+order))
			}
			if err := c.Report("m", "hel", false); err != nil {
				return err
			}
			if err := c.Report("m", "lo", true); err != nil {
				return err
			}
			if _, err := c.StoreMessage(Message{Role: Assistant, Content: "hello"}); err != nil {
				return err
			}
			n := 0
			for m := range c.Messages() {
				if n++; m.Content != "hello" || m.CreatedAt < 1_767_225_600_000 {
					return errors.New("message " + m.Content)
				}
			}
			if n != 1 {
				return errors.New("not one message")
			}
			return c.Ack()
		},
	})
	h := newTalk(t)
	h.gate = func(g *abi.GateOpenEvent) abi.Raw {
		h.logs = append(h.logs, "gate: "+g.Reason)
		return value.AppendBool(nil, true)
	}
	mw := func(name string) []abi.Middleware { return []abi.Middleware{{Kind: abi.MiddlewareBuiltin, Name: name}} }
	open := abi.OpenRunner{
		Tools:     []abi.ToolDef{{Number: 1, Name: "ask", InputSchema: encoded(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`), Builtin: "ask"}},
		TurnInput: mw("ti"), TurnOutput: mw("to"), DispatchInput: mw("di"), DispatchOutput: mw("do"),
	}
	open.Runner, open.Call, open.Executor = 1, 1, abi.ExecutorModule
	h.step(&open)
	h.step(&abi.StartTurn{Turn: 1, Runner: 1, Now: 1_767_225_600_000, Seed: make([]byte, 16), ID: "t", SystemPrompt: "p"})
	if h.end != nil {
		t.Fatalf("the turn has ended before the time: %+v %q", *h.end.Error, h.logs)
	}
	h.step(&abi.Tick{Turn: 1, Elapsed: 25})
	if h.end == nil || h.end.Status != abi.StatusAck {
		t.Fatalf("%+v %v %q", h.end, h.end, h.logs)
	}
	got := strings.Join(h.logs, "; ")
	if want := "di: before; di: after; gate: Go on?; do: before; do: after; di: before; di: after; delta: hel; delta: lo; do: before; do: after"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if want := []string{"0 ti true", `1 seen {"n":0}`, "0 to true"}; !slices.Equal(h.set, want) {
		t.Errorf("the host is told of %q", h.set)
	}
}

// A tool with Confirm runs once somebody has agreed.
func TestConfirm(t *testing.T) {
	for _, yes := range []bool{true, false} {
		ran := 0
		register(t, Definition{
			Name: "a",
			Tools: []*Tool{RawTool("send", "", `{"type":"object"}`, func(*Context, []byte) ([]byte, error) {
				ran++
				return value.AppendNil(nil), nil
			}).Confirmed()},
			Executor: func(c *Context) error {
				if _, err := c.CallTool("send", encoded(`{"to":"x"}`)); (err == nil) != yes {
					return errors.Join(err, errors.New("not as decided"))
				}
				return c.Ack()
			},
		})
		h := newTalk(t)
		h.gate = func(g *abi.GateOpenEvent) abi.Raw {
			text, _ := value.AppendJSON(nil, g.Payload)
			h.logs = append(h.logs, g.Reason+" "+string(text))
			return value.AppendBool(nil, yes)
		}
		h.run(abi.OpenRunner{Tools: []abi.ToolDef{{Number: 1, Name: "send", InputSchema: encoded(`{"type":"object"}`), Builtin: "send"}}})
		want := `Call the tool send? {"tool":"send","args":{"to":"x"}}`
		if h.end.Status != abi.StatusAck || strings.Join(h.logs, "; ") != want || (ran == 1) != yes {
			t.Errorf("%v: %+v, %d runs, %q", yes, h.end, ran, h.logs)
		}
	}
}

// options are decoded by a type as toolgen writes them.
type options struct{ v string }

func (o *options) DecodeValue(v []byte) error {
	text, err := value.AppendJSON(nil, v)
	o.v = string(text)
	return err
}

func TestOptions(t *testing.T) {
	var got options
	register(t, Definition{
		Name: "a", Options: `{"type":"object","properties":{"n":{"type":"integer","default":3},"s":{"type":"string"}},"additionalProperties":false}`,
		Executor: func(c *Context) error { return errors.Join(c.Options(&got), c.Ack()) },
	})
	for given, want := range map[string]string{
		`{}`:                      `{"n":3}`,
		`{"options":null}`:        `{"n":3}`,
		`{"options":{"s":"x"}}`:   `{"s":"x","n":3}`,
		`{"options":{"n":1}}`:     `{"n":1}`,
		`{"options":{"n":"one"}}`: "E_INVALID_OPTIONS: The options are invalid: options: n must be integer, not string",
		`{"options":{"other":1}}`: "E_INVALID_OPTIONS: The options are invalid: options: other is not allowed",
		`{"options":[]}`:          "E_INVALID_OPTIONS: The options are invalid: options: the value must be object, not array",
	} {
		h := newTalk(t)
		if strings.HasPrefix(want, "E_") {
			h.step(&abi.OpenRunner{Runner: 1, Call: 1, Executor: abi.ExecutorModule, Chat: encoded(given)})
			if r := h.reply[1]; r.Error == nil || r.Error.Code+": "+r.Error.Message != want {
				t.Errorf("%s: %+v, want %s", given, r.Error, want)
			}
			continue
		}
		h.run(abi.OpenRunner{Chat: encoded(given)})
		if got.v != want {
			t.Errorf("%s: %s, want %s", given, got.v, want)
		}
	}
}

func TestErrors(t *testing.T) {
	register(t, Definition{Name: "a"})
	h := newTalk(t)
	h.step(&abi.OpenRunner{Runner: 1, Call: 1, Executor: abi.ExecutorModule})
	if r := h.reply[1]; r.Error == nil || r.Error.Code != abi.CodeChatInvalidOptions || !strings.Contains(r.Error.Message, "the runner has no model default") {
		t.Errorf("%+v", r.Error)
	}
	h.step(&abi.OpenRunner{Runner: 2, Call: 2, Executor: abi.ExecutorModule, Chat: encoded(`{"models":{"default":{"model":1}}}`)})
	if r := h.reply[2]; r.Error == nil || r.Error.Code != abi.CodeChatInvalidOptions {
		t.Errorf("%+v", r.Error)
	}
	h.step(&abi.OpenRunner{Runner: 3, Call: 3, Executor: abi.ExecutorModule, Chat: encoded(`{"models":{"default":{"model":"m","baseURL":"http://h/v1"}}}`)})
	if r := h.reply[3]; r.Error != nil {
		t.Errorf("%+v", r.Error)
	}
	register(t, Definition{Name: "b", Executor: func(*Context) error { panic("boom") }})
	h = newTalk(t)
	h.run(abi.OpenRunner{})
	if h.end.Status == abi.StatusAck || h.end.Error == nil || !strings.Contains(h.end.Error.Message, "boom") && !strings.Contains(string(h.end.Error.Append(nil)), "boom") {
		t.Errorf("%+v", h.end)
	}
	core := &talk{t: t, in: guest.New(provider.Core...), reply: map[uint32]abi.Reply{}}
	core.step(&abi.Hello{Major: abi.Major, Features: abi.MaxInt, Seed: make([]byte, abi.SeedSize)})
	core.step(&abi.OpenRunner{Runner: 1, Call: 1, Executor: abi.ExecutorModule})
	core.step(&abi.Call{Call: 2, Method: abi.MethodDescribe})
	for call := uint32(1); call <= 2; call++ {
		if r := core.reply[call]; r.Error == nil || r.Error.Code != abi.CodeABIUnknownTarget {
			t.Errorf("the core answers call %d with %+v", call, r)
		}
	}
	core.in.Close()
}

// A tool that returns nothing, the agent's or the host's, returned null.
func TestCallToolOfNothing(t *testing.T) {
	schema := `{"type":"object"}`
	register(t, Definition{
		Name: "t", Version: "1.0.0", Description: "d",
		Tools: []*Tool{RawTool("none", "Returns nothing.", schema, func(*Context, []byte) ([]byte, error) { return nil, nil })},
		Executor: func(c *Context) error {
			for _, name := range []string{"none", "hosts"} {
				if got, err := c.CallTool(name, nil); err != nil || !bytes.Equal(got, value.AppendNil(nil)) {
					return fmt.Errorf("%s: %x, %w", name, got, err)
				}
			}
			return c.Ack()
		},
	})
	h := newTalk(t)
	open := abi.OpenRunner{Tools: []abi.ToolDef{
		{Number: 1, Name: "none", InputSchema: encoded(schema), Builtin: "none"}, {Number: 2, Name: "hosts", InputSchema: encoded(schema)},
	}}
	open.Runner, open.Call, open.Executor = 1, 1, abi.ExecutorModule
	h.step(&open)
	h.step(&abi.StartTurn{Turn: 1, Runner: 1, Now: 1_767_225_600_000, Seed: make([]byte, 16), ID: "t", SystemPrompt: "p"})
	if h.end == nil || h.end.Status != abi.StatusAck {
		t.Errorf("%+v %q", h.end, h.logs)
	}
}

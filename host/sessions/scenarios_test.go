package sessions_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
)

func TestToolCall(t *testing.T) {
	m := script(calls("t"), says("done"))
	p := stage(t, sessions.Config{Agent: m.agent("agent", tool("t", func(*sessions.ToolContext) (any, error) {
		return map[string]any{"y": 1}, nil
	}))})
	list := p.say("hello")
	p.is("delivered", shown(list...), "agent:t() agent:=t agent:done")
	p.is("stored", p.log(), "user:hello agent:t() agent:=t agent:done")
	for _, e := range p.events() {
		if e.InvocationID != list[0].InvocationID || e.ID == "" || e.Timestamp.IsZero() {
			t.Errorf("event %s", text(e))
		}
	}
	call, response := list[0].FunctionCalls()[0], list[1].FunctionResponses()[0]
	if call.ID == "" || call.ID != response.ID {
		t.Errorf("the call has the id %q, its response %q", call.ID, response.ID)
	}
	p.is("the result", text(response.Response), `{"y":1}`)
	p.is("the second request", m.request(1), "user:hello model:t() user:=t")
	for i, want := range []bool{false, false, true} {
		if list[i].IsFinalResponse() != want {
			t.Errorf("event %d is final: %v", i, !want)
		}
	}
}

func TestAgentSeesWhatItHasYielded(t *testing.T) {
	var p *play
	saw := ""
	agent := &sessions.CustomAgent{Name: "a", Run: func(ctx *sessions.Context, yield func(*sessions.Event) error) error {
		if err := yield(delta(map[string]any{"k": 1})); err != nil {
			return err
		}
		saw = state(p.stored()) + " " + p.log() + " " + state(ctx.Session())
		return nil
	}}
	p = stage(t, sessions.Config{Agent: agent})
	p.say("hello")
	p.is("after the yield", saw, `{"k":1} user:hello a:{"k":1} {"k":1}`)
}

func TestStoredBeforeDelivered(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a", said("1"), said("2"), said("3"))})
	n := 0
	for e, err := range p.r.Run(t.Context(), input(sessions.Text("hello"))) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		list := p.events()
		if len(list) != n+1 || text(list[n]) != text(e) {
			t.Errorf("event %d is delivered, stored are %s", n, shown(list...))
		}
	}
	if n != 3 {
		t.Errorf("%d events", n)
	}
}

func TestAgentWaitsForItsCaller(t *testing.T) {
	produced := 0
	agent := &sessions.CustomAgent{Name: "a", Run: func(_ *sessions.Context, yield func(*sessions.Event) error) error {
		for range 3 {
			produced++
			if err := yield(said(strconv.Itoa(produced))); err != nil {
				return err
			}
		}
		return nil
	}}
	p := stage(t, sessions.Config{Agent: agent})
	n := 0
	for range p.r.Run(t.Context(), input(sessions.Text("hello"))) {
		n++
		if produced != n {
			t.Errorf("event %d is delivered, the agent has produced %d", n, produced)
		}
	}
	if n != 3 {
		t.Errorf("%d events", n)
	}
}

func TestStream(t *testing.T) {
	p := stage(t, sessions.Config{Agent: script(streams("Hello", "He", "llo")).agent("a")})
	list := p.say("hello")
	p.is("delivered", shown(list...), "~a:He ~a:llo a:Hello")
	p.is("stored", p.log(), "user:hello a:Hello")
	if list[0].ID == list[1].ID || list[1].ID == list[2].ID {
		t.Errorf("ids: %q %q %q", list[0].ID, list[1].ID, list[2].ID)
	}
}

// TestCallbackOnEachPart has an after-model callback count the parts of a stream: the count is stored once, with the
// last event, and events that were delivered do not change.
func TestCallbackOnEachPart(t *testing.T) {
	agent := script(streams("Hello", "He", "llo")).agent("a")
	agent.AfterModel = []sessions.AfterModelCallback{func(ctx *sessions.CallbackContext, _ *sessions.Response) (*sessions.Response, error) {
		n, err := ctx.State().Get("n")
		if err != nil {
			return nil, err
		}
		count, _ := n.(int64)
		return nil, ctx.State().Set("n", count+1)
	}}
	p := stage(t, sessions.Config{Agent: agent})
	var kept []*sessions.Event
	var texts []string
	for e, err := range p.r.Run(t.Context(), input(sessions.Text("hello"))) {
		if err != nil {
			t.Fatal(err)
		}
		kept, texts = append(kept, e), append(texts, text(e))
		if stored := state(p.stored()); e.Partial && stored != "{}" {
			t.Errorf("after %q the store has %s", e.Text(), stored)
		}
	}
	p.is("the state", state(p.stored()), `{"n":3}`)
	p.is("stored", p.log(), `user:hello a:Hello{"n":3}`)
	for i, e := range kept {
		p.is("event "+strconv.Itoa(i)+" at the end", text(e), texts[i])
	}
	p.is("the first event", text(kept[0].Actions.StateDelta), `{"n":1}`)
}

func TestStreamWithoutItsEnd(t *testing.T) {
	part := []*sessions.Response{{Content: sessions.ModelText("He"), Partial: true}}
	p := stage(t, sessions.Config{Agent: script(part).agent("a")})
	p.is("delivered", shown(p.fails(sessions.Text("hello"), host.CodeInvocationUnfinished)...), "~a:He")
	p.is("stored", p.log(), "user:hello")
}

func TestToolReadsWhatACallbackWrote(t *testing.T) {
	var saw any
	agent := script(calls("t"), says("done")).agent("a", tool("t", func(ctx *sessions.ToolContext) (_ any, err error) {
		saw, err = ctx.State().Get("flag")
		return nil, err
	}))
	agent.BeforeModel = []sessions.BeforeModelCallback{func(ctx *sessions.CallbackContext) (*sessions.Response, error) {
		return nil, ctx.State().Set("flag", true)
	}}
	p := stage(t, sessions.Config{Agent: agent})
	p.say("hello")
	if saw != true {
		t.Errorf("the tool read %v", saw)
	}
}

func TestWriteWithoutADelta(t *testing.T) {
	var saw any
	agent := &sessions.CustomAgent{Name: "a", Run: func(ctx *sessions.Context, yield func(*sessions.Event) error) (err error) {
		if err = ctx.State().Set("k", 1); err != nil {
			return err
		}
		if err = yield(said("x")); err != nil {
			return err
		}
		saw, err = ctx.State().Get("k")
		return err
	}}
	p := stage(t, sessions.Config{Agent: agent})
	p.say("hello")
	if saw != int64(1) {
		t.Errorf("the agent read %v", saw)
	}
	p.is("the state", state(p.stored()), "{}")
}

func TestAgentFails(t *testing.T) {
	failure := errors.New("no luck")
	agent := &sessions.CustomAgent{Name: "a", Run: func(ctx *sessions.Context, _ func(*sessions.Event) error) error {
		if err := ctx.State().Set("k", 1); err != nil {
			return err
		}
		return failure
	}}
	p := stage(t, sessions.Config{Agent: agent})
	if _, err := p.r.Collect(t.Context(), input(sessions.Text("hello"))); err != failure { //nolint:errorlint // the same value
		t.Errorf("the error is %v", err)
	}
	p.is("stored", p.log()+" "+state(p.stored()), "user:hello {}")
}

func TestWritesOfAFailedTool(t *testing.T) {
	fails := tool("t", func(ctx *sessions.ToolContext) (any, error) {
		if err := ctx.State().Set("k", 1); err != nil {
			return nil, err
		}
		return nil, errors.New("no luck")
	})
	p := stage(t, sessions.Config{Agent: script(calls("t"), says("sorry")).agent("a", fails)})
	p.is("delivered", shown(p.say("hello")...), `a:t() a:=t{"k":1} a:sorry`)
	p.is("the result", text(p.events()[2].FunctionResponses()[0].Response), `{"error":"no luck"}`)
	p.is("the state", state(p.stored()), `{"k":1}`)

	// A callback that fails in its place fails the invocation, and there is no response.
	agent := script(calls("t")).agent("a", fails)
	raised := errors.New("raised")
	agent.ToolError = []sessions.ToolErrorCallback{func(*sessions.CallbackContext, *sessions.ToolCall, string) (any, error) {
		return nil, raised
	}}
	p = stage(t, sessions.Config{Agent: agent})
	if _, err := p.r.Collect(t.Context(), input(sessions.Text("hello"))); !errors.Is(err, raised) {
		t.Errorf("the error is %v", err)
	}
	p.is("stored", p.log()+" "+state(p.stored()), "user:hello a:t() {}")
}

func TestBeforeAgent(t *testing.T) {
	var p *play
	stored := ""
	agent := script(says("x")).agent("a")
	agent.BeforeAgent = []sessions.AgentCallback{func(ctx *sessions.CallbackContext) (*sessions.Content, error) {
		return nil, ctx.State().Set("k", 1)
	}}
	agent.BeforeModel = []sessions.BeforeModelCallback{func(*sessions.CallbackContext) (*sessions.Response, error) {
		stored = state(p.stored())
		return nil, nil
	}}
	p = stage(t, sessions.Config{Agent: agent})
	p.is("delivered", shown(p.say("hello")...), `a:{"k":1} a:x`)
	p.is("before the model", stored, `{"k":1}`)
}

func TestBeforeAgentAnswers(t *testing.T) {
	m, after := script(says("x")), 0
	agent := m.agent("a")
	agent.BeforeAgent = []sessions.AgentCallback{func(*sessions.CallbackContext) (*sessions.Content, error) {
		return sessions.ModelText("instead"), nil
	}}
	agent.AfterAgent = []sessions.AgentCallback{func(*sessions.CallbackContext) (*sessions.Content, error) {
		after++
		return nil, nil
	}}
	group := &sessions.SequentialAgent{Name: "group", Agents: []sessions.Agent{agent, gives("b", said("next"))}}
	p := stage(t, sessions.Config{Agent: group})
	p.is("delivered", shown(p.say("hello")...), "a:instead b:next")
	if len(m.requests)+after != 0 {
		t.Errorf("%d model calls, %d calls after the agent", len(m.requests), after)
	}
}

func TestScopes(t *testing.T) {
	changes := map[string]any{"app:a": 1, "user:b": 2, "c": 3}
	for _, initial := range []bool{false, true} {
		p := bare(t, sessions.Config{Agent: gives("a", delta(changes))})
		if initial {
			p.create("u", "s", changes)
		} else {
			p.create("u", "s", nil)
			p.say("hello")
		}
		p.is("the session", state(p.stored()), `{"app:a":1,"c":3,"user:b":2}`)
		p.is("another session", state(p.create("u", "s2", nil)), `{"app:a":1,"user:b":2}`)
		p.is("another user", state(p.create("u2", "s", nil)), `{"app:a":1}`)
	}
}

func TestTemporary(t *testing.T) {
	var saw []any
	agent := script(calls("t"), says("1"), calls("read"), says("2")).agent("a",
		tool("t", func(ctx *sessions.ToolContext) (any, error) {
			if err := ctx.State().Set("temp:x", 1); err != nil {
				return nil, err
			}
			v, err := ctx.State().Get("temp:x")
			saw = append(saw, v)
			return nil, err
		}),
		tool("read", func(ctx *sessions.ToolContext) (any, error) {
			v, err := ctx.State().Get("temp:x")
			saw = append(saw, v)
			return nil, err
		}))
	p := stage(t, sessions.Config{Agent: agent})
	p.say("one")
	p.is("stored", p.log()+" "+state(p.stored()), "user:one a:t() a:=t a:1 {}")
	p.say("two")
	p.is("read", text(saw), "[1,null]")
}

func TestNilDeletes(t *testing.T) {
	p := bare(t, sessions.Config{Agent: gives("a", delta(map[string]any{"a": nil, "user:b": nil}))})
	p.create("u", "s", map[string]any{"a": 1, "user:b": 2, "c": 3})
	p.say("hello")
	p.is("the session", state(p.stored()), `{"c":3}`)
	p.is("another session", state(p.create("u", "s2", nil)), "{}")
}

func TestCallsAtOnce(t *testing.T) {
	first := make(chan struct{})
	agent := script(calls("ta", "tb"), says("done")).agent("a",
		tool("ta", func(ctx *sessions.ToolContext) (any, error) {
			<-first // tb finishes first
			ctx.Actions(func(a *sessions.Actions) { a.Escalate = true })
			return 1, errors.Join(ctx.State().Set("a", 1), ctx.State().Set("z", "ta"))
		}),
		tool("tb", func(ctx *sessions.ToolContext) (any, error) {
			defer close(first)
			return 2, errors.Join(ctx.State().Set("b", 2), ctx.State().Set("z", "tb"))
		}))
	p := stage(t, sessions.Config{Agent: agent})
	list := p.say("hello")
	p.is("delivered", shown(list...), `a:ta()tb() a:=ta=tb{"a":1,"b":2,"z":"tb"} a:done`)
	if !list[1].Actions.Escalate {
		t.Error("escalate is lost")
	}
	p.is("the state", state(p.stored()), `{"a":1,"b":2,"z":"tb"}`)
}

func TestTwoHandles(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a")})
	one, two := p.stored(), p.stored()
	if _, err := p.r.Sessions().Append(t.Context(), one, &sessions.Event{Author: "x", Actions: sessions.Actions{StateDelta: map[string]any{"k": 1}}}); err != nil {
		t.Fatal(err)
	}
	p.is("the first handle", state(one), `{"k":1}`)
	_, err := p.r.Sessions().Append(t.Context(), two, &sessions.Event{Author: "y", Actions: sessions.Actions{StateDelta: map[string]any{"k": 2}}})
	if !errors.Is(err, host.CodeSessionConflict) {
		t.Errorf("the second append: %v", err)
	}
	p.is("the second handle", state(two)+" "+strconv.Itoa(two.Len()), "{} 0")
	p.is("the store", state(p.stored())+" "+p.log(), `{"k":1} x:{"k":1}`)
	if _, err := p.r.Sessions().Append(t.Context(), one, by("z", said("z"))); err != nil {
		t.Errorf("the first handle's next append: %v", err)
	}
}

func TestLongRunning(t *testing.T) {
	m := script(calls("slow"), says("thanks"))
	agent := m.agent("a", tool("slow", func(*sessions.ToolContext) (any, error) { return nil, nil }))
	agent.LongRunning = []string{"slow"}
	p := stage(t, sessions.Config{Agent: agent})
	list := p.say("hello")
	p.is("delivered", shown(list...), "a:slow()")
	id := list[0].FunctionCalls()[0].ID
	if !list[0].IsFinalResponse() || !slices.Equal(list[0].LongRunningToolIDs, []string{id}) || len(m.requests) != 1 {
		t.Errorf("%s after %d model calls", text(list[0]), len(m.requests))
	}
	more := p.run(sessions.Answer(id, "slow", map[string]any{"ok": true}))
	p.is("after the answer", shown(more...), "a:thanks")
	p.is("the second request", m.request(1), "user:hello model:slow() user:=slow")
	if more[0].InvocationID != list[0].InvocationID {
		t.Errorf("the invocations are %q and %q", list[0].InvocationID, more[0].InvocationID)
	}
	p.fails(sessions.Answer(id, "slow", map[string]any{"ok": true}), host.CodeCallAnswered)
	p.fails(sessions.Answer("other", "slow", nil), host.CodeCallNotAsked)
	p.is("stored", p.log(), "user:hello a:slow() user:=slow a:thanks")
}

func TestConfirmation(t *testing.T) {
	for _, confirmed := range []bool{true, false} {
		ran := 0
		m := script(calls("pay"), says("done"))
		agent := m.agent("a", tool("pay", func(ctx *sessions.ToolContext) (any, error) {
			ran++
			answer, err := ctx.Confirmation()
			if text(answer) != `{"by":"Ada","confirmed":true}` {
				t.Errorf("the answer is %v", answer)
			}
			return "paid", err
		}))
		agent.ConfirmIf = map[string]sessions.ConfirmFunc{"pay": func(_ *sessions.CallbackContext, c *sessions.ToolCall) (*sessions.Ask, error) {
			return &sessions.Ask{Hint: "Run " + c.Tool + "?"}, nil
		}}
		p := stage(t, sessions.Config{Agent: agent})
		list := p.say("hello")
		p.is("asked", shown(list...), "a:pay()")
		id := list[0].FunctionCalls()[0].ID
		if c := list[0].Actions.RequestedConfirmations[id]; c.Hint != "Run pay?" || c.Name != "pay" || ran != 0 {
			t.Errorf("%+v, and the tool ran %d times", c, ran)
		}
		answer := sessions.Answer(id, "pay", map[string]any{"confirmed": confirmed, "by": "Ada"})
		p.is("after the answer", shown(p.run(answer)...), "a:=pay a:done")
		if (ran == 1) != confirmed {
			t.Errorf("confirmed: %v, the tool ran %d times", confirmed, ran)
		}
	}
}

func TestNobodyConfirms(t *testing.T) {
	m := script(calls("free"), says("done"))
	p := stage(t, sessions.Config{Agent: m.agent("a", tool("free", func(ctx *sessions.ToolContext) (any, error) {
		answer, err := ctx.Confirmation()
		return answer == nil, err
	}))})
	list := p.say("hello")
	if r := list[1].FunctionResponses()[0]; r.Response["result"] != true {
		t.Errorf("the tool has answered %v", r.Response)
	}
}

func TestTransfer(t *testing.T) {
	over := []*sessions.Response{{Content: sessions.ModelCall(sessions.FunctionCall{Name: "transfer_to_agent", Args: map[string]any{"agent_name": "sub"}})}}
	root, sub := script(over), script(says("one"), says("two"))
	agent := root.agent("root")
	agent.Agents = []sessions.Agent{sub.agent("sub")}
	p := stage(t, sessions.Config{Agent: agent})
	list := p.say("hello")
	p.is("delivered", shown(list...), "root:transfer_to_agent() root:=transfer_to_agent sub:one")
	if list[0].InvocationID != list[2].InvocationID {
		t.Error("the invocation has several ids")
	}
	p.is("the second message", shown(p.say("again")...), "sub:two")
	p.is("the request of sub", sub.request(1)[len(sub.request(1))-len("model:one user:again"):], "model:one user:again")
}

func TestLoop(t *testing.T) {
	var ran []string
	part := func(name string, escalateIn int) sessions.Agent {
		n := 0
		return &sessions.CustomAgent{Name: name, Run: func(_ *sessions.Context, yield func(*sessions.Event) error) error {
			n++
			ran = append(ran, name)
			e := said(name + strconv.Itoa(n))
			e.Actions.Escalate = n == escalateIn
			return yield(e)
		}}
	}
	p := stage(t, sessions.Config{Agent: &sessions.LoopAgent{Name: "loop", MaxIterations: 5, Agents: []sessions.Agent{part("p", 2), part("q", 0)}}})
	p.is("delivered", shown(p.say("hello")...), "p:p1 q:q1 p:p2")
	p.is("ran", text(ran), `["p","q","p"]`)
}

func TestCallerStops(t *testing.T) {
	produced, cleaned, after := 0, 0, 0
	var stopped error
	agent := &sessions.CustomAgent{Name: "a", Run: func(_ *sessions.Context, yield func(*sessions.Event) error) error {
		defer func() { cleaned++ }()
		for range 5 {
			produced++
			if stopped = yield(said("x")); stopped != nil {
				return stopped
			}
		}
		return nil
	}}
	plugin := &sessions.Plugin{Name: "p", AfterRun: func(*sessions.CallbackContext) error { after++; return nil }}
	p := stage(t, sessions.Config{Agent: agent, Plugins: []*sessions.Plugin{plugin}})
	for range p.r.Run(t.Context(), input(sessions.Text("hello"))) {
		break
	}
	if produced != 1 || cleaned != 1 || after != 1 || !errors.Is(stopped, host.CodeInvocationStopped) {
		t.Errorf("produced %d, cleaned up %d times, after the run %d times, stopped by %v", produced, cleaned, after, stopped)
	}
	p.is("stored", p.log(), "user:hello a:x")
}

func TestBeforeRunAnswers(t *testing.T) {
	after := 0
	plugin := &sessions.Plugin{
		Name:      "p",
		BeforeRun: func(*sessions.CallbackContext) (*sessions.Content, error) { return sessions.ModelText("no"), nil },
		AfterRun:  func(*sessions.CallbackContext) error { after++; return nil },
	}
	p := stage(t, sessions.Config{Agent: gives("a", said("x")), Plugins: []*sessions.Plugin{plugin}})
	p.is("delivered", shown(p.say("hello")...), "a:no")
	p.is("stored", p.log(), "user:hello a:no")
	if after != 1 {
		t.Errorf("AfterRun ran %d times", after)
	}
}

func TestCallerChangesItsEvent(t *testing.T) {
	nested := map[string]any{"x": 1}
	e := by("x", delta(map[string]any{"k": nested}))
	p := stage(t, sessions.Config{Agent: gives("a")})
	s := p.stored()
	if _, err := p.r.Sessions().Append(t.Context(), s, e); err != nil {
		t.Fatal(err)
	}
	nested["x"], e.Author = 2, "other"
	s.Get("k").(map[string]any)["x"] = 3
	p.is("the state", state(p.stored())+state(s), `{"k":{"x":1}}{"k":{"x":1}}`)
}

func TestRewind(t *testing.T) {
	n := 0
	m := script(says("1"), says("2"), says("3"), says("4"))
	agent := m.agent("a")
	agent.AfterModel = []sessions.AfterModelCallback{func(ctx *sessions.CallbackContext, _ *sessions.Response) (*sessions.Response, error) {
		n++
		return nil, errors.Join(ctx.State().Set("n", n), ctx.State().Set("init", nil))
	}}
	p := bare(t, sessions.Config{Agent: agent})
	p.create("u", "s", map[string]any{"init": 1, "n": 0})
	p.say("one")
	second := p.say("two")[0].InvocationID
	p.say("three")
	e, err := p.r.Rewind(t.Context(), "u", "s", second)
	if err != nil || e.Actions.RewindBeforeInvocationID != second {
		t.Fatalf("%s, %v", text(e), err)
	}
	p.is("the state", state(p.stored()), `{"n":1}`)
	p.say("four")
	p.is("the request", m.request(3), "user:one model:1 user:four")
	first := p.events()[0].InvocationID
	if _, err := p.r.Rewind(t.Context(), "u", "s", first); err != nil {
		t.Fatal(err)
	}
	p.is("the state at the beginning", state(p.stored()), `{"init":1,"n":0}`)
	if _, err := p.r.Rewind(t.Context(), "u", "s", "other"); !errors.Is(err, host.CodeInvocationNotFound) {
		t.Errorf("an unknown invocation: %v", err)
	}
}

func TestModelCallLimit(t *testing.T) {
	over := []*sessions.Response{{Content: sessions.ModelCall(sessions.FunctionCall{Name: "transfer_to_agent", Args: map[string]any{"agent_name": "sub"}})}}
	sub := script(says("one"))
	agent := script(over).agent("root")
	agent.Agents = []sessions.Agent{sub.agent("sub")}
	p := stage(t, sessions.Config{Agent: agent, MaxModelCalls: 1})
	p.fails(sessions.Text("hello"), host.CodeModelCallLimit)
	if len(sub.requests) != 0 {
		t.Error("the second model was called")
	}
}

func TestUnknownSession(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a", said("x"))})
	for _, in := range []sessions.Input{{User: "u", Session: "other"}, {User: "other", Session: "s"}} {
		in.Message = sessions.Text("hello")
		list, err := p.r.Collect(t.Context(), in)
		if !errors.Is(err, host.CodeSessionNotFound) || len(list) > 0 {
			t.Errorf("%d events, %v", len(list), err)
		}
	}
	p.is("stored", p.log(), "")
}

func TestUnknownTool(t *testing.T) {
	m := script(calls("nobody"), says("sorry"))
	p := stage(t, sessions.Config{Agent: m.agent("a")})
	p.is("delivered", shown(p.say("hello")...), "a:nobody() a:=nobody a:sorry")
	p.is("the second request", m.request(1), "user:hello model:nobody() user:=nobody")
	if p.events()[2].FunctionResponses()[0].Response["error"] == nil {
		t.Errorf("the result is %s", text(p.events()[2]))
	}
}

func TestSequence(t *testing.T) {
	a, b := script(says("one")), script(says("two"))
	p := stage(t, sessions.Config{Agent: &sessions.SequentialAgent{Name: "group", Agents: []sessions.Agent{a.agent("a"), b.agent("b")}}})
	p.is("delivered", shown(p.say("hello")...), "a:one b:two")
	p.is("the request of b", b.request(0), "user:hello user:For context:[a] said: one")
}

package invocation_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/invocation"
	"github.com/turncore/turncore/runtime/session"
)

// The scenarios of the contract's page about invocations, by their numbers, as far as they need no host.

// says is a model's answer of a text.
func says(words string) string {
	return fmt.Sprintf(`{"content":{"role":"model","parts":[{"text":%q}]}}`, words)
}

// part is a piece of a stream.
func part(words string) string {
	return fmt.Sprintf(`{"partial":true,"content":{"role":"model","parts":[{"text":%q}]}}`, words)
}

// asks is a model's answer of function calls.
func asks(calls ...string) string {
	var parts []string
	for i, c := range calls {
		parts = append(parts, fmt.Sprintf(`{"functionCall":{"id":"call%d","name":%q,"args":{}}}`, i+1, c))
	}
	return `{"content":{"role":"model","parts":[` + strings.Join(parts, ",") + `]}}`
}

// answers makes a model that gives one answer a call, or several of a stream, divided by |.
func answers(list ...string) func(*stage, int) error {
	return func(s *stage, call int) error {
		if call > len(list) {
			s.t.Fatalf("the model is called %d times", call)
		}
		for answer := range strings.SplitSeq(list[call-1], "|") {
			if err := s.respond(answer); err != nil {
				return err
			}
		}
		return nil
	}
}

func llm(t *testing.T, name string, tools ...string) invocation.Definition {
	return invocation.Definition{Kind: invocation.LLM, Name: name, Config: config(t, tools...)}
}

// brief is what a test compares of events: author, and text or calls.
func brief(events []string) []string {
	var list []string
	for _, e := range events {
		v := js(e)
		author, _ := value.GetString(v, "author")
		word := string(author) + ":"
		content, _ := value.Get(v, "content")
		parts, _ := value.Get(content, "parts")
		_ = value.EachItem(parts, func(_ int, p []byte) bool {
			if text, ok := value.GetString(p, "text"); ok {
				word += " " + string(text)
			}
			if c, ok := value.Get(p, "functionCall"); ok {
				name, _ := value.GetString(c, "name")
				word += " call " + string(name)
			}
			if c, ok := value.Get(p, "functionResponse"); ok {
				name, _ := value.GetString(c, "name")
				response, _ := value.Get(c, "response")
				word += " " + string(name) + "=" + text(response)
			}
			return true
		})
		list = append(list, word)
	}
	return list
}

func want(t *testing.T, what string, got []string, words ...string) {
	t.Helper()
	if !slices.Equal(got, words) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(words, "\n"))
	}
}

func succeeds(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func gives(v string) func(*stage, []byte) ([]byte, error) {
	return func(*stage, []byte) ([]byte, error) { return js(v), nil }
}

func TestScenario1ToolCall(t *testing.T) {
	s := newStage(t, team(t, llm(t, "agent", "t")))
	s.model = answers(asks("t"), says("done"))
	s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": gives(`"Paris"`)}
	succeeds(t, s.play("hello"))
	want(t, "delivered", brief(s.told), "agent: call t", `agent: t={"result":"Paris"}`, "agent: done")
	want(t, "stored", brief(s.stored), "user: hello", "agent: call t", `agent: t={"result":"Paris"}`, "agent: done")
	for _, e := range s.stored {
		if !strings.Contains(e, `"invocationId":"i1"`) {
			t.Errorf("another invocation: %s", e)
		}
	}
}

func TestScenario6And10Streams(t *testing.T) {
	s := newStage(t, team(t, llm(t, "agent")))
	s.model = answers(part("He") + "|" + part("llo") + "|" + says("Hello"))
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "agent: He", "agent: llo", "agent: Hello")
	want(t, "stored", brief(s.stored), "user: hi", "agent: Hello")

	s = newStage(t, team(t, llm(t, "agent")))
	s.model = answers(part("He"))
	if err := s.play("hi"); !errors.Is(err, session.InvocationUnfinished) {
		t.Errorf("a stream without an end gives %v", err)
	}
	want(t, "stored", brief(s.stored), "user: hi")
}

func TestScenario7And8DeltasOfAStream(t *testing.T) {
	d := llm(t, "agent")
	d.Hooks = make([]uint32, invocation.Hooks)
	d.Hooks[invocation.AfterModel] = 1
	s := newStage(t, team(t, d))
	n := 0
	s.hook = func(s *stage, _ *invocation.Callback) []byte {
		if n == 2 && len(s.state) > 0 {
			t.Errorf("the store has %v before the last event", s.state)
		}
		n++
		return js(fmt.Sprintf(`{"actions":{"stateDelta":{"n":%d}}}`, n))
	}
	s.model = answers(part("He") + "|" + part("llo") + "|" + says("Hello"))
	succeeds(t, s.play("hi"))
	if got := text(s.state["|n"]); got != "3" {
		t.Errorf("n is %s", got)
	}
	if !strings.Contains(s.told[0], `"n":1`) || !strings.Contains(s.told[1], `"n":2`) {
		t.Errorf("the partial events are %v", s.told)
	}
}

func TestScenario11DirtyRead(t *testing.T) {
	d := llm(t, "agent", "t")
	d.Hooks = make([]uint32, invocation.Hooks)
	d.Hooks[invocation.BeforeModel] = 1
	s := newStage(t, team(t, d))
	s.hook = func(*stage, *invocation.Callback) []byte { return js(`{"actions":{"stateDelta":{"flag":true}}}`) }
	s.model = func(s *stage, call int) error {
		if call == 1 && (s.state["|flag"] != nil || text(s.run.GetState("flag")) != "true") {
			t.Errorf("the store has %s, the invocation %s", text(s.state["|flag"]), text(s.run.GetState("flag")))
		}
		return s.respond([]string{asks("t"), says("done")}[call-1])
	}
	s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": func(s *stage, _ []byte) ([]byte, error) {
		return s.run.GetState("flag"), nil
	}}
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "agent: call t", `agent: t={"result":true}`, "agent: done")
}

// script is an agent of host code.
func script(name string) invocation.Definition {
	return invocation.Definition{Kind: invocation.Host, Name: name}
}

func TestScenario2And12LiveState(t *testing.T) {
	s := newStage(t, team(t, script("agent")))
	s.agent = func(s *stage, _, run uint32) error {
		succeeds(t, s.run.SetState(0, "", "live", js("1")))
		if _, err := s.run.Yield(s, run, js(`{"actions":{"stateDelta":{"k":1}}}`)); err != nil {
			return err
		}
		if text(s.state["|k"]) != "1" || text(s.run.GetState("live")) != "1" || s.state["|live"] != nil {
			t.Errorf("stored %v, live %s", s.state, text(s.run.GetState("live")))
		}
		return nil
	}
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "agent:")
}

func TestScenario13FailureBeforeYield(t *testing.T) {
	s := newStage(t, team(t, script("agent")))
	s.agent = func(s *stage, _, _ uint32) error {
		succeeds(t, s.run.SetState(0, "", "k", js("1")))
		return fault.Plain("boom")
	}
	if err := s.play("hi"); err == nil || err.Error() != "boom" {
		t.Errorf("it gives %v", err)
	}
	want(t, "stored", brief(s.stored), "user: hi")
	if len(s.state) > 0 {
		t.Errorf("the store has %v", s.state)
	}
}

func TestScenario15And16BeforeAgent(t *testing.T) {
	hooks := make([]uint32, invocation.Hooks)
	hooks[invocation.BeforeAgent], hooks[invocation.AfterAgent] = 1, 1
	child := llm(t, "a")
	child.Hooks = hooks
	s := newStage(t, team(t, invocation.Definition{Kind: invocation.Sequential, Name: "root", Children: []uint32{2, 3}}, child, llm(t, "b")))
	s.hook = func(_ *stage, c *invocation.Callback) []byte {
		if c.Hook != invocation.BeforeAgent {
			t.Errorf("hook %d is called", c.Hook)
		}
		return js(`{"value":{"parts":[{"text":"instead"}]},"actions":{"stateDelta":{"k":1}}}`)
	}
	s.model = answers(says("b answers"))
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "a: instead", "b: b answers")

	s = newStage(t, team(t, func() invocation.Definition { d := llm(t, "a"); d.Hooks = hooks[:invocation.BeforeAgent+1]; return d }()))
	s.hook = func(*stage, *invocation.Callback) []byte { return js(`{"actions":{"stateDelta":{"k":1}}}`) }
	s.model = func(s *stage, _ int) error {
		if text(s.state["|k"]) != "1" {
			t.Error("the model is called before the delta is stored")
		}
		return s.respond(says("done"))
	}
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "a:", "a: done")
}

func TestScenario18TemporaryState(t *testing.T) {
	s := newStage(t, team(t, llm(t, "agent", "t")))
	s.model = func(s *stage, call int) error {
		if call == 3 && s.run.GetState("temp:x") != nil {
			t.Error("the next invocation has temp:x")
		}
		return s.respond([]string{asks("t"), says("done"), says("again")}[call-1])
	}
	s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": func(s *stage, _ []byte) ([]byte, error) {
		succeeds(t, s.run.Act(uint32(s.steps()), "i1.x1", js(`{"stateDelta":{"temp:x":1,"y":2}}`)))
		return s.run.GetState("temp:x"), nil
	}}
	succeeds(t, s.play("one"))
	succeeds(t, s.play("two"))
	if all := strings.Join(s.stored, "\n"); strings.Contains(all, "temp") || !strings.Contains(all, `"y":2`) || len(s.state) != 1 {
		t.Errorf("stored %s, %v", all, s.state)
	}
}

func TestScenario19Deletes(t *testing.T) {
	s := newStage(t, team(t, script("agent")))
	s.state["|a"], s.state["user/app/u|b"] = js("1"), js("2")
	s.agent = func(s *stage, _, run uint32) error {
		_, err := s.run.Yield(s, run, js(`{"actions":{"stateDelta":{"a":null,"user:b":null}}}`))
		if state := s.run.State(); len(state) > 0 {
			t.Errorf("the invocation sees %v", state)
		}
		return err
	}
	succeeds(t, s.play("hi"))
	if len(s.state) > 0 {
		t.Errorf("the store has %v", s.state)
	}
}

func TestScenario20TwoToolCalls(t *testing.T) {
	s := newStage(t, team(t, llm(t, "agent", "ta", "tb")))
	s.model = answers(asks("ta", "tb"), says("done"))
	act := func(execution, actions string) func(*stage, []byte) ([]byte, error) {
		return func(s *stage, _ []byte) ([]byte, error) {
			succeeds(t, s.run.Act(uint32(s.steps()), execution, js(actions)))
			return js(`"ok"`), nil
		}
	}
	s.tools = map[string]func(*stage, []byte) ([]byte, error){
		"ta": act("i1.x1", `{"stateDelta":{"a":1,"z":"a"},"escalate":true}`),
		"tb": act("i1.x2", `{"stateDelta":{"b":1,"z":"b"}}`),
	}
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "agent: call ta call tb", `agent: ta={"result":"ok"} tb={"result":"ok"}`, "agent: done")
	if text(s.state["|z"]) != `"b"` || s.state["|a"] == nil || s.state["|b"] == nil || !strings.Contains(s.told[1], `"escalate":true`) {
		t.Errorf("the store has %v, the event is %s", s.state, s.told[1])
	}
}

func TestScenario22LongRunning(t *testing.T) {
	d := llm(t, "agent", "t")
	d.Options = js(`{"longRunning":["t"]}`)
	s := newStage(t, team(t, d))
	s.model = func(s *stage, call int) error {
		if call == 2 {
			request, err := s.contents()
			if err != nil || !strings.Contains(text(request), `"functionCall"`) || !strings.Contains(text(request), `"approved"`) {
				t.Errorf("the request is %s, %v", text(request), err)
			}
		}
		return s.respond([]string{asks("t"), says("done")}[call-1])
	}
	s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": func(*stage, []byte) ([]byte, error) { return nil, nil }}
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "agent: call t")
	if !strings.Contains(s.told[0], `"longRunningToolIds":["call1"]`) || s.calls != 1 {
		t.Errorf("%s after %d calls", s.told[0], s.calls)
	}
	s.told = nil
	answer := `{"parts":[{"functionResponse":{"id":"call1","name":"t","response":{"status":"approved"}}}]}`
	succeeds(t, s.play(answer))
	want(t, "delivered", brief(s.told), "agent: done")
	if !strings.Contains(s.told[0], `"invocationId":"i1"`) {
		t.Errorf("it goes on as %s", s.told[0])
	}
	if err := s.play(answer); !errors.Is(err, session.CallAnswered) {
		t.Errorf("a second answer gives %v", err)
	}
	if err := s.play(strings.ReplaceAll(answer, "call1", "other")); !errors.Is(err, session.CallNotAsked) {
		t.Errorf("an answer to a call never made gives %v", err)
	}
}

func TestConfirmation(t *testing.T) {
	for _, confirmed := range []bool{true, false} {
		d := llm(t, "agent", "t")
		d.Options = js(`{"confirm":["t"]}`)
		s := newStage(t, team(t, d))
		s.model = answers(asks("t"), says("done"))
		ran := 0
		s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": func(*stage, []byte) ([]byte, error) {
			ran++
			return js(`"ok"`), nil
		}}
		succeeds(t, s.play("hi"))
		if len(s.told) != 1 || ran > 0 || !strings.Contains(s.told[0], `"requestedConfirmations":{"call1":{"name":"t","args":{}}}`) {
			t.Fatalf("%d runs, %v", ran, s.told)
		}
		for message, wants := range map[string]string{
			answer("call1", "t", `{}`):                   "response.confirmed: must be true or false",
			answer("call1", "t", `{"confirmed":"yes"}`):  "response.confirmed: must be true or false",
			answer("call1", "u", `{"confirmed":true}`):   `name: the call is of "t"`,
			answer("call2", "t", `{"confirmed":"true"}`): `id: "call2"`,
		} {
			err := s.play(message)
			if err == nil || !strings.HasSuffix(err.Error(), ": message.parts[0].functionResponse."+wants) {
				t.Errorf("%s gives %v", message, err)
			}
		}
		succeeds(t, s.play(fmt.Sprintf(`{"parts":[{"functionResponse":{"id":"call1","name":"t","response":{"confirmed":%t}}}]}`, confirmed)))
		result := `{"result":"ok"}`
		if !confirmed {
			result = `{"error":"the user did not confirm the call"}`
		}
		want(t, "delivered", brief(s.told), "agent: call t", "agent: t="+result, "agent: done")
		if (ran == 1) != confirmed {
			t.Errorf("the tool ran %d times", ran)
		}
	}
}

// What host code gives that decides whether a call asks must be clear: no tool runs that nobody has confirmed.
func TestConfirmationByCode(t *testing.T) {
	for answer, wants := range map[string]string{
		`1`: "", `"yes"`: "", `[]`: "", `false`: "ran", `null`: "ran", `true`: "asked", `{"hint":"really?"}`: "asked",
	} {
		d := llm(t, "agent", "t")
		d.Options = js(`{"confirmHook":["t"]}`)
		d.Hooks = make([]uint32, invocation.Hooks)
		d.Hooks[invocation.Confirm] = 1
		s := newStage(t, team(t, d))
		s.hook = func(*stage, *invocation.Callback) []byte { return js(`{"value":` + answer + `}`) }
		s.model = answers(asks("t"), says("done"))
		got := ""
		s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": func(*stage, []byte) ([]byte, error) {
			got = "ran"
			return js(`"ok"`), nil
		}}
		err := s.play("hi")
		if errors.Is(err, session.InvalidAgent) != (wants == "") {
			t.Errorf("%s gives %v", answer, err)
		}
		if err == nil && got == "" && strings.Contains(s.told[0], "requestedConfirmations") {
			got = "asked"
		}
		if got != wants {
			t.Errorf("%s: %q, want %q", answer, got, wants)
		}
	}
}

func TestScenario23Transfer(t *testing.T) {
	root := llm(t, "root")
	root.Children = []uint32{2}
	s := newStage(t, team(t, root, llm(t, "sub")))
	s.model = func(s *stage, call int) error {
		if call == 3 {
			request, _ := s.contents()
			if !strings.Contains(text(request), "sub answers") {
				t.Errorf("the request is %s", text(request))
			}
		}
		return s.respond([]string{
			`{"content":{"role":"model","parts":[{"functionCall":{"name":"transfer_to_agent","args":{"agent_name":"sub"}}}]}}`,
			says("sub answers"), says("again"),
		}[call-1])
	}
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "root: call transfer_to_agent", `root: transfer_to_agent={"result":null}`, "sub: sub answers")
	s.told = nil
	succeeds(t, s.play("more"))
	want(t, "delivered", brief(s.told), "sub: again")
}

func TestScenario24Loop(t *testing.T) {
	s := newStage(t, team(t,
		invocation.Definition{Kind: invocation.Loop, Name: "loop", Children: []uint32{2, 3}, Options: js(`{"maxIterations":5}`)},
		script("p"), script("q")))
	rounds := 0
	s.agent = func(s *stage, agent, run uint32) error {
		event := `{"content":{"parts":[{"text":"x"}]}}`
		if agent == 2 {
			if rounds++; rounds == 2 {
				event = `{"content":{"parts":[{"text":"enough"}]},"actions":{"escalate":true}}`
			}
		}
		_, err := s.run.Yield(s, run, js(event))
		if rounds == 2 && !errors.Is(err, session.InvocationStopped) {
			t.Errorf("behind the escalating event comes %v", err)
		}
		return err
	}
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "p: x", "q: x", "p: enough")
}

func TestScenario25Stop(t *testing.T) {
	s := newStage(t, team(t, script("agent")))
	given := 0
	s.agent = func(s *stage, _, run uint32) error {
		for given < 5 {
			given++
			if _, err := s.run.Yield(s, run, js(fmt.Sprintf(`{"content":{"parts":[{"text":"%d"}]}}`, given))); err != nil {
				return err
			}
		}
		return nil
	}
	s.stopAt = 1
	if err := s.play("hi"); !errors.Is(err, session.InvocationStopped) {
		t.Errorf("it ends with %v", err)
	}
	want(t, "stored", brief(s.stored), "user: hi", "agent: 1")
	if given != 1 {
		t.Errorf("the agent has given %d events", given)
	}
}

func TestScenario26PluginAnswers(t *testing.T) {
	made, err := invocation.NewTeam("app", 1, []invocation.Definition{llm(t, "agent")}, []invocation.Plugin{
		{Name: "p", Hooks: 1<<invocation.BeforeRun | 1<<invocation.AfterRun},
	})
	succeeds(t, err)
	s := newStage(t, made)
	var called []invocation.Hook
	s.hook = func(_ *stage, c *invocation.Callback) []byte {
		if called = append(called, c.Hook); c.Hook == invocation.BeforeRun {
			return js(`{"value":{"parts":[{"text":"cached"}]}}`)
		}
		return nil
	}
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "agent: cached")
	want(t, "stored", brief(s.stored), "user: hi", "agent: cached")
	if !slices.Equal(called, []invocation.Hook{invocation.BeforeRun, invocation.AfterRun}) {
		t.Errorf("the hooks called are %v", called)
	}
}

func TestScenario28Rewind(t *testing.T) {
	s := newStage(t, team(t, llm(t, "agent", "t")))
	var w session.Write
	err := session.Create(&w, "app", "u", "e0", 1, js(`{"init":1}`))
	succeeds(t, err)
	succeeds(t, s.append(&w, false))
	succeeds(t, s.log.Add(w.Event))
	s.model = func(s *stage, call int) error {
		if call == 7 {
			request, _ := s.contents()
			if r := text(request); !strings.Contains(r, `"one"`) || strings.Contains(r, `"two"`) || strings.Contains(r, `"three"`) || !strings.Contains(r, `"four"`) {
				t.Errorf("the request is %s", r)
			}
		}
		if call == 7 || call%2 == 0 {
			return s.respond(says("done"))
		}
		return s.respond(asks("t"))
	}
	n := 0
	s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": func(s *stage, _ []byte) ([]byte, error) {
		n++
		succeeds(t, s.run.Act(uint32(s.steps()), fmt.Sprintf("i%d.x1", n), js(fmt.Sprintf(`{"stateDelta":{"n":%d,"init":%d}}`, n, n*10))))
		return nil, nil
	}}
	for _, message := range []string{"one", "two", "three"} {
		succeeds(t, s.play(message))
	}
	s.options = `{"rewindBeforeInvocationId":"i2"}`
	succeeds(t, s.play("ignored"))
	if text(s.state["|n"]) != "1" || text(s.state["|init"]) != "10" {
		t.Errorf("the store has %v", s.state)
	}
	s.options = ""
	succeeds(t, s.play("four"))
	s.options = `{"rewindBeforeInvocationId":"i1"}`
	succeeds(t, s.play("ignored"))
	if s.state["|n"] != nil || text(s.state["|init"]) != "1" {
		t.Errorf("the store has %v", s.state)
	}
}

func TestScenario29CallLimit(t *testing.T) {
	root := llm(t, "root")
	root.Children = []uint32{2}
	s := newStage(t, team(t, root, llm(t, "sub")))
	s.options = `{"maxModelCalls":1}`
	s.model = answers(`{"content":{"role":"model","parts":[{"functionCall":{"name":"transfer_to_agent","args":{"agent_name":"sub"}}}]}}`, says("x"))
	if err := s.play("hi"); !errors.Is(err, session.ModelCallLimit) || s.calls != 1 {
		t.Errorf("%d calls end with %v", s.calls, err)
	}
}

func TestScenario14And31FailingTools(t *testing.T) {
	s := newStage(t, team(t, llm(t, "agent", "t")))
	s.model = answers(asks("t", "nothing"), says("done"))
	s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": func(s *stage, _ []byte) ([]byte, error) {
		succeeds(t, s.run.Act(uint32(s.steps()), "i1.x1", js(`{"stateDelta":{"k":1}}`)))
		return nil, fault.Plain("boom")
	}}
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "agent: call t call nothing",
		`agent: t={"error":"boom"} nothing={"error":"no tool is named \"nothing\""}`, "agent: done")
	if text(s.state["|k"]) != "1" {
		t.Errorf("the store has %v", s.state)
	}
}

func TestScenario32Sequence(t *testing.T) {
	s := newStage(t, team(t, invocation.Definition{Kind: invocation.Sequential, Name: "root", Children: []uint32{2, 3}}, llm(t, "a"), llm(t, "b")))
	s.model = func(s *stage, call int) error {
		if call == 2 {
			request, _ := s.contents()
			if !strings.Contains(text(request), "a answers") {
				t.Errorf("the request of b is %s", text(request))
			}
		}
		return s.respond(says([]string{"a answers", "b answers"}[call-1]))
	}
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "a: a answers", "b: b answers")
}

// answered is a model inside the module.
type answered struct {
	answer  string
	refused []string
}

func (m *answered) Answer(runtime.Task, *runtime.Dispatch, *invocation.Request, func([]byte, bool) error) (*session.Event, []string, error) {
	e, err := session.Parse(js(m.answer))
	refused := m.refused
	m.answer, m.refused = says("sorry"), nil
	return e, refused, err
}

func (m *answered) Times() bool { return false }

func (m *answered) Execute(task runtime.Task, d *runtime.Dispatch, t *runtime.Tool, args []byte, run runtime.ToolRun) (runtime.ToolResult, error) {
	return d.ExecuteTool(task, t, args, run)
}

// A call whose arguments are none does not run: the model is told why.
func TestRefusedCall(t *testing.T) {
	d := llm(t, "agent", "t")
	d.Model = &answered{asks("t"), []string{"the arguments are no object"}}
	s := newStage(t, team(t, d))
	s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": func(*stage, []byte) ([]byte, error) {
		t.Error("the tool runs")
		return nil, nil
	}}
	succeeds(t, s.play("hi"))
	want(t, "delivered", brief(s.told), "agent: call t", `agent: t={"error":"the arguments are no object"}`, "agent: sorry")
}

func TestStoreFails(t *testing.T) {
	for at := 1; at <= 4; at++ {
		s := newStage(t, team(t, llm(t, "agent", "t")))
		s.model = answers(asks("t"), says("done"))
		s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": gives("1")}
		s.failAt = at
		if err := s.play("hi"); !errors.Is(err, errStore) && err != error(errStore) {
			t.Errorf("append %d fails, and the invocation ends with %v", at, err)
		}
		if len(s.stored) != at-1 || len(s.told) != max(at-2, 0) {
			t.Errorf("append %d fails: stored %v, delivered %v", at, s.stored, s.told)
		}
	}
}

// answer is a message with the response to a call.
func answer(id, name, response string) string {
	return fmt.Sprintf(`{"parts":[{"functionResponse":{"id":%q,"name":%q,"response":%s}}]}`, id, name, response)
}

// A call that was confirmed and has no result, since the invocation has failed, runs when the invocation is resumed. No
// model reads the confirmation.
func TestConfirmedAndInterrupted(t *testing.T) {
	for _, c := range []struct {
		name, says, result string
		ran                int
	}{
		{"confirmed", "true", `{"result":"ok"}`, 2},
		{"refused", "false", `{"error":"the user did not confirm the call"}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := llm(t, "agent", "t")
			d.Options = js(`{"confirm":["t"]}`)
			s := newStage(t, team(t, d))
			var requests []string
			s.model = func(s *stage, call int) error {
				request, err := s.contents()
				succeeds(t, err)
				requests = append(requests, text(request))
				return s.respond([]string{asks("t"), says("meanwhile"), says("done")}[call-1])
			}
			ran := 0
			s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": func(*stage, []byte) ([]byte, error) {
				ran++
				return js(`"ok"`), nil
			}}
			succeeds(t, s.play("hi"))
			confirm := answer("call1", "t", `{"confirmed":`+c.says+`}`)
			s.failAt = 4
			if err := s.play(confirm); err == nil {
				t.Fatal("the invocation has not failed")
			}
			s.failAt, s.told, s.log = 0, nil, &session.Log{} // another process
			for _, e := range s.stored {
				succeeds(t, s.log.Add(js(e)))
			}
			if err := s.play(confirm); !errors.Is(err, session.CallAnswered) {
				t.Errorf("a second answer gives %v", err)
			}
			succeeds(t, s.play("what is it?"))
			succeeds(t, s.play(""))
			want(t, "delivered", brief(s.told), "agent: meanwhile", "agent: t="+c.result, "agent: done")
			if ran != c.ran {
				t.Errorf("the tool ran %d times", ran)
			}
			if !strings.Contains(s.told[1], `"invocationId":"i1"`) || !strings.Contains(s.told[2], `"invocationId":"i1"`) {
				t.Errorf("it goes on as %v", s.told)
			}
			for i, r := range requests {
				if strings.Contains(r, "confirmed") || strings.Contains(r, c.result) != (i == 2) {
					t.Errorf("request %d is %s", i, r)
				}
			}
			s.model = answers("", "", "", says("and so on"))
			succeeds(t, s.play(""))
			want(t, "without a call", brief(s.told[3:]), "agent: and so on")
		})
	}
}

// A long-running tool that was confirmed may give no result. Then one comes from outside, and no run begins it again.
func TestConfirmedLongRunning(t *testing.T) {
	d := llm(t, "agent", "t")
	d.Options = js(`{"confirm":["t"],"longRunning":["t"]}`)
	s := newStage(t, team(t, d))
	request := ""
	s.model = func(s *stage, call int) error {
		v, err := s.contents()
		succeeds(t, err)
		request = text(v)
		return s.respond([]string{asks("t"), says("meanwhile"), says("done")}[call-1])
	}
	ran := 0
	s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": func(*stage, []byte) ([]byte, error) {
		ran++
		return nil, nil
	}}
	succeeds(t, s.play("hi"))
	succeeds(t, s.play(answer("call1", "t", `{"confirmed":true}`)))
	succeeds(t, s.play(""))
	succeeds(t, s.play(answer("call1", "t", `{"paid":true}`)))
	want(t, "delivered", brief(s.told), "agent: call t", "agent: meanwhile", "agent: done")
	if ran != 1 || !strings.Contains(request, "paid") || strings.Contains(request, "confirmed") {
		t.Errorf("the tool ran %d times, and the model reads %s", ran, request)
	}
	if err := s.play(answer("call1", "t", `{"paid":true}`)); !errors.Is(err, session.CallAnswered) {
		t.Errorf("a third answer gives %v", err)
	}
}

// What the user has confirmed of an event runs with the next answer to a call of it.
func TestConfirmedBeside(t *testing.T) {
	d := llm(t, "agent", "t", "u")
	d.Options = js(`{"confirm":["t","u"]}`)
	s := newStage(t, team(t, d))
	s.model = answers(asks("t", "u"), says("done"))
	s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": gives("1"), "u": gives("2")}
	succeeds(t, s.play("hi"))
	succeeds(t, s.log.Add(js(`{"id":"x","author":"user","invocationId":"i1","content":`+answer("call1", "t", `{"confirmed":true}`)+`}`)))
	succeeds(t, s.play(answer("call2", "u", `{"confirmed":true}`)))
	want(t, "delivered", brief(s.told), "agent: call t call u", `agent: u={"result":2} t={"result":1}`, "agent: done")
}

// group is a sequential agent, a parallel one, or a loop of two rounds, which hears when it has ended.
func group(kind invocation.Kind, name string, children ...uint32) invocation.Definition {
	d := invocation.Definition{Kind: kind, Name: name, Children: children, Hooks: make([]uint32, invocation.Hooks)}
	if kind == invocation.Loop {
		d.Options = js(`{"maxIterations":2}`)
	}
	d.Hooks[invocation.AfterAgent] = 1
	return d
}

// What waits in groups goes on there: behind a parallel agent outside of its branches, and once; in a loop until that
// ends.
func TestResumeInGroups(t *testing.T) {
	const seq, par, loop, waits, speaks = invocation.Sequential, invocation.Parallel, invocation.Loop, "waits", "speaks"
	agents := func(t *testing.T, does ...string) (list []invocation.Definition) {
		for i, what := range does {
			d := llm(t, string(rune('a'+i)), "t")
			if what == waits {
				d.Options = js(`{"longRunning":["t"]}`)
			}
			list = append(list, d)
		}
		return list
	}
	for _, c := range []struct {
		name   string
		groups []invocation.Definition
		agents []string
		rounds []string // what comes of the message, and of each answer to the first call that waits
	}{
		{
			"a parallel agent",
			[]invocation.Definition{group(seq, "s", 2, 5), group(par, "p", 3, 4)},
			[]string{waits, speaks, speaks},
			[]string{"p.a a calls, p.b b says", "p.a a says, p ends, c says, s ends"},
		},
		{
			"two that wait",
			[]invocation.Definition{group(seq, "s", 2, 5), group(par, "p", 3, 4)},
			[]string{waits, waits, speaks},
			[]string{"p.a a calls, p.b b calls", "p.a a says", "p.b b says, p ends, c says, s ends"},
		},
		{
			"parallel agents in each other",
			[]invocation.Definition{group(par, "p", 7, 2), group(seq, "s", 3, 6), group(par, "q", 4, 5)},
			[]string{waits, waits, speaks, waits},
			[]string{
				"p.d d calls, p.s.q.a a calls, p.s.q.b b calls", "p.d d says", "p.s.q.a a says",
				"p.s.q.b b says, q ends in p.s, p.s c says, s ends in p.s, p ends",
			},
		},
		{
			"a loop",
			[]invocation.Definition{group(seq, "s", 2, 5), group(loop, "l", 3, 4)},
			[]string{waits, speaks, speaks},
			[]string{"a calls", "a says, b says, a calls", "a says, b says, l ends, c says, s ends"},
		},
		{
			"a loop of one agent",
			[]invocation.Definition{group(loop, "l", 2)},
			[]string{waits},
			[]string{"a calls", "a says, a calls", "a says, l ends"},
		},
		{
			"loops in each other",
			[]invocation.Definition{group(loop, "l", 2, 4), group(loop, "m", 3)},
			[]string{waits, speaks},
			[]string{
				"a calls", "a says, a calls", "a says, m ends, b says, a calls", "a says, a calls", "a says, m ends, b says, l ends",
			},
		},
		{
			"a loop in a parallel agent",
			[]invocation.Definition{group(seq, "s", 2, 6), group(par, "p", 3, 5), group(loop, "l", 4)},
			[]string{waits, waits, speaks},
			[]string{"p.l a calls, p.b b calls", "p.l a says, p.l a calls", "p.b b says", "p.l a says, l ends in p.l, p ends, c says, s ends"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			definitions := append(slices.Clone(c.groups), agents(t, c.agents...)...)
			s := newStage(t, team(t, definitions...))
			var got []string
			s.hook = func(s *stage, of *invocation.Callback) []byte {
				return js(fmt.Sprintf(`{"value":{"parts":[{"text":"%s ends"}]}}`, definitions[of.Agent-1].Name))
			}
			s.tools = map[string]func(*stage, []byte) ([]byte, error){"t": func(*stage, []byte) ([]byte, error) { return nil, nil }}
			s.model = func(s *stage, _ int) error {
				last := s.log.At(s.log.Len() - 1)
				who := c.agents[s.asks-1-len(c.groups)]
				if who == waits && (last.Author != "user" || last.Parts[0].Kind != session.PartResponse) {
					return s.respond(strings.ReplaceAll(asks("t"), "call1", fmt.Sprintf("call%d", s.calls)))
				}
				return s.respond(says("x"))
			}
			var pending []string
			for i, round := range c.rounds {
				s.told = nil
				message := "hi"
				if i > 0 {
					message, pending = answer(pending[0], "t", "{}"), pending[1:]
				}
				succeeds(t, s.play(message))
				got = nil
				for _, body := range s.told {
					e, err := session.Parse(js(body))
					succeeds(t, err)
					p := e.Parts[0]
					word := e.Branch + " " + e.Author + " says"
					switch {
					case p.Kind == session.PartCall:
						word = e.Branch + " " + e.Author + " calls"
						pending = append(pending, p.ID)
					case string(p.Text) != "x":
						word = string(p.Text)
						if e.Branch != "" {
							word += " in " + e.Branch
						}
					}
					got = append(got, strings.TrimSpace(word))
					if e.InvocationID != "i1" {
						t.Errorf("an event is of invocation %s", e.InvocationID)
					}
				}
				if words := strings.Join(got, ", "); words != round {
					t.Errorf("round %d: %s\nwant %s", i, words, round)
				}
			}
			if len(pending) > 0 {
				t.Errorf("%v wait", pending)
			}
		})
	}
}

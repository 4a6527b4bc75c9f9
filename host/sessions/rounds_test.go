package sessions_test

import (
	"fmt"
	"testing"

	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// A loop in which agents wait for answers from outside has as many rounds as one in which none waits. Of what happens
// in a round nobody tells but the stored events.
func TestRoundsOfResumedLoops(t *testing.T) {
	waits := func() *turns.Tool { return tool("ask", func(*sessions.ToolContext) (any, error) { return nil, nil }) }
	// turn is an agent that waits in each round, and then says how many of its rounds are over.
	turn := func(name string, each ...[]*sessions.Response) *sessions.LLMAgent {
		var list [][]*sessions.Response
		for n := range 9 {
			list = append(list, each...)
			list = append(list, says(fmt.Sprint(n+1)))
		}
		a := script(list...).agent(name, waits())
		a.LongRunning = []string{"ask"}
		return a
	}
	once := func(name string) *sessions.LLMAgent { return turn(name, calls("ask")) }
	to := func(name string) []*sessions.Response {
		return []*sessions.Response{{Content: sessions.ModelCall(sessions.FunctionCall{Name: "transfer_to_agent", Args: map[string]any{"agent_name": name}})}}
	}
	for name, c := range map[string]struct {
		agent sessions.Agent
		some  string // an agent, and how often it has spoken
		times int
	}{
		"an agent": {agent: &sessions.LoopAgent{Name: "loop", MaxIterations: 3, Agents: []sessions.Agent{once("a")}}, some: "a", times: 3},
		"twice in each round": {
			agent: &sessions.LoopAgent{Name: "loop", MaxIterations: 3, Agents: []sessions.Agent{turn("a", calls("ask"), calls("ask"))}},
			some:  "a", times: 3,
		},
		"one behind another": {
			agent: &sessions.LoopAgent{Name: "loop", MaxIterations: 3, Agents: []sessions.Agent{once("a"), turn("b")}},
			some:  "b", times: 3,
		},
		"in a sequence": {
			agent: &sessions.LoopAgent{Name: "loop", MaxIterations: 3, Agents: []sessions.Agent{
				&sessions.SequentialAgent{Name: "both", Agents: []sessions.Agent{turn("a"), once("b")}},
			}},
			some: "a", times: 3,
		},
		"side by side": {
			agent: &sessions.LoopAgent{Name: "loop", MaxIterations: 3, Agents: []sessions.Agent{
				&sessions.ParallelAgent{Name: "both", Agents: []sessions.Agent{once("a"), once("b")}}, turn("c"),
			}},
			some: "c", times: 3,
		},
		"a state that is written before": {
			agent: &sessions.LoopAgent{Name: "loop", MaxIterations: 4, Agents: []sessions.Agent{func() sessions.Agent {
				a := once("a")
				a.BeforeAgent = []sessions.AgentCallback{func(ctx *sessions.CallbackContext) (*sessions.Content, error) {
					return nil, ctx.State().Set("n", 1)
				}}
				return a
			}()}},
			some: "a", times: 4,
		},
		"agents that hand over": {
			agent: &sessions.LoopAgent{Name: "loop", MaxIterations: 4, Agents: []sessions.Agent{func() sessions.Agent {
				r := script(to("x"), to("a"), to("x"), to("a"), to("x"), to("a")).agent("r")
				x, a := turn("x"), once("a")
				x.NoTransferToParent, x.NoTransferToPeers = true, true
				a.NoTransferToParent, a.NoTransferToPeers = true, true
				r.Agents = []sessions.Agent{x, a}
				return r
			}()}},
			some: "x", times: 2,
		},
		"a loop in a loop, and one behind it": {
			agent: &sessions.LoopAgent{Name: "outer", MaxIterations: 2, Agents: []sessions.Agent{
				&sessions.LoopAgent{Name: "inner", MaxIterations: 3, Agents: []sessions.Agent{once("a")}}, turn("b"),
			}},
			some: "a", times: 6,
		},
		"a loop in a loop, and one before it": {
			agent: &sessions.LoopAgent{Name: "outer", MaxIterations: 2, Agents: []sessions.Agent{
				turn("b"), &sessions.LoopAgent{Name: "inner", MaxIterations: 3, Agents: []sessions.Agent{once("a")}},
			}},
			some: "a", times: 6,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := stage(t, sessions.Config{Agent: c.agent})
			spoken := 0
			for events, runs := p.say("hello"), 0; ; runs++ {
				var answer *sessions.Content
				for _, e := range events {
					for _, part := range partsOf(e) {
						if e.Author == c.some && part.Text != "" {
							spoken++
						}
					}
				}
				for _, call := range sessions.PendingCalls(p.events()) {
					answer = sessions.Answer(call.ID, call.Name, map[string]any{"ok": true})
				}
				if answer == nil || runs > 40 {
					break
				}
				events = p.run(answer)
			}
			if spoken != c.times {
				t.Errorf("agent %s has spoken %d times, want %d: %s", c.some, spoken, c.times, p.log())
			}
		})
	}
}

// A call may wait whose tool has given a result: the loop has gone on. The rounds that it has had meanwhile are used,
// and it does not begin anew when the answer comes.
func TestRoundsBehindATicket(t *testing.T) {
	for name, enough := range map[string]bool{"bound": false, "escalates": true} {
		t.Run(name, func(t *testing.T) {
			m := script(calls("ask"), says("1"), says("2"), says("3"), says("got"), says("never"))
			a := m.agent("a", tool("ask", func(*sessions.ToolContext) (any, error) { return "ticket", nil }))
			a.LongRunning = []string{"ask"}
			rounds := 0
			b := &sessions.CustomAgent{Name: "b", Run: func(_ *sessions.Context, yield func(*sessions.Event) error) error {
				rounds++
				return yield(&sessions.Event{Actions: sessions.Actions{Escalate: enough && rounds == 3}})
			}}
			p := stage(t, sessions.Config{Agent: &sessions.LoopAgent{Name: "loop", MaxIterations: 3, Agents: []sessions.Agent{a, b}}})
			if enough {
				p.r.Close()
				p = stage(t, sessions.Config{Agent: &sessions.LoopAgent{Name: "loop", MaxIterations: 9, Agents: []sessions.Agent{a, b}}})
			}
			call := p.say("hello")[0].FunctionCalls()[0]
			p.is("the rounds", fmt.Sprint(rounds), "3")
			p.is("behind the answer", shown(p.run(sessions.Answer(call.ID, "ask", map[string]any{"ok": true}))...), "a:got b:")
		})
	}
}

// Where stored events do not tell how many rounds there were, there is none too many: an answer of the callback behind
// an agent looks like one of the agent.
func TestRoundsAreNeverTooMany(t *testing.T) {
	for bound, want := range map[int]int{2: 2, 3: 2} {
		list := [][]*sessions.Response{}
		for range 6 {
			list = append(list, calls("ask"), says("said"))
		}
		a := script(list...).agent("a", tool("ask", func(*sessions.ToolContext) (any, error) { return nil, nil }))
		a.LongRunning = []string{"ask"}
		a.AfterAgent = []sessions.AgentCallback{func(*sessions.CallbackContext) (*sessions.Content, error) { return sessions.ModelText("behind"), nil }}
		p := stage(t, sessions.Config{Agent: &sessions.LoopAgent{Name: "loop", MaxIterations: bound, Agents: []sessions.Agent{a}}})
		p.say("hello")
		rounds := 0
		for pending := sessions.PendingCalls(p.events()); len(pending) > 0; pending = sessions.PendingCalls(p.events()) {
			rounds++
			p.run(sessions.Answer(pending[0].ID, "ask", map[string]any{"ok": true}))
		}
		if rounds != want {
			t.Errorf("%d rounds of %d: %s", rounds, bound, p.log())
		}
	}
}

func partsOf(e *sessions.Event) []sessions.Part {
	if e.Content == nil {
		return nil
	}
	return e.Content.Parts
}

package invocation

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/session"
)

// agentTool is an agent that a model may call as a tool.
type agentTool struct {
	runtime.Tool
	agent *Agent
	whole bool // the schema is the agent's own: it gets all arguments, as JSON
	quiet bool // the result ends the agent that called
}

// offerAgents makes the tools that are agents.
func (t *Team) offerAgents(a *Agent) error {
	var c value.Cursor
	for c.Over(a.options); c.Next(); {
		n, _ := value.Get(c.Value, "agent")
		number, _ := value.Int(n)
		made := &agentTool{agent: t.agent(uint32(number))}
		if err := a.offer(made, c.Value, uint32(transferNumber-1-len(a.tools))); err != nil {
			return err
		}
		a.tools = append(a.tools, made)
	}
	return nil
}

func (a *Agent) offer(t *agentTool, options []byte, number uint32) error {
	what := "an agent that is a tool has no parent"
	if of := t.agent; of != nil && of.Parent == nil {
		quiet, _ := value.Get(options, "skipSummarization")
		t.quiet = isTrue(quiet)
		t.Number, t.Name, t.Description, t.Trusted = number, of.Name, of.Description, true
		if t.InputSchema, t.whole = value.Get(options, "inputSchema"); !t.whole {
			t.InputSchema = schemaOf("request", single("type", value.AppendString(nil, "string")))
		}
		if err := t.Compile(); err != nil {
			what = fault.MessageOf(err)
		} else if of.Name != transferTool && !a.hasTool(of.Name) {
			return nil
		} else {
			return a.twice(of.Name)
		}
	}
	return a.invalid("tools", what)
}

// twice is the error of two tools of one name.
func (a *Agent) twice(name string) error { return a.invalid("tools", "two have the name "+quote(name)) }

func (a *Agent) hasTool(name string) bool {
	for _, t := range a.Config.Tools {
		if t.Name == name {
			return true
		}
	}
	return a.asTool(name) != nil
}

// asTool is the agent that is the tool of a name, nil for none.
//
//go:noinline
func (a *Agent) asTool(name string) *agentTool {
	for _, t := range a.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// consult runs an agent that is a tool. It sees the arguments as what a user says, and nothing of the session's events.
// Its own are neither stored nor delivered, but what they change is the result's. The result is the text of its last
// answer.
func (r *Run) consult(task runtime.Task, t *agentTool, args []byte, res *result) ([]byte, error) {
	args, err := t.Check(args)
	if err != nil {
		return nil, err
	}
	asked, _ := value.GetString(args, "request")
	if t.whole {
		asked, _ = value.AppendJSON(nil, args)
	}
	if len(asked) == 0 {
		return nil, fault.New(fault.InvalidToolArgs, t.Name+": args.request: is empty")
	}
	message := session.TextParts(string(asked))
	in := &Run{Input: Input{User: r.User, Log: &session.Log{Salt: r.turn.Random()}}, setting: r.setting, shared: r.shared, id: r.id, outer: r}
	in.asked = session.AppendContent(nil, "user", message)
	var answer []byte
	keep := func(_ runtime.Task, e *session.Event, _ bool) error {
		if err := r.halted(); err != nil || e.Partial {
			return err
		}
		in.complete(e)
		if e.HasContent && e.Final() {
			answer, _ = textOf(e.Parts)
		}
		res.actions.MergeState(e.Actions.StateDelta)
		res.actions.MergeArtifacts(e.Actions.ArtifactDelta)
		return in.note(e, e.Append(nil), e.Actions.StateDelta)
	}
	err = keep(task, &session.Event{Author: "user", Role: "user", Parts: message, HasContent: true}, false)
	if err == nil {
		err = in.run(task, &scope{agent: t.agent, run: r.nextRun(), out: keep})
	}
	if err == pause {
		err = session.New(session.InvalidAgent, "agent "+quote(t.Name), "a call waits for an answer from outside, and an agent that is a tool cannot")
		r.stopped = err
	} else if fault.Is(err, session.ModelCallLimit) {
		r.stopped = err
	}
	res.actions.SkipSummarization = res.actions.SkipSummarization || t.quiet
	return value.AppendText(nil, answer), err
}

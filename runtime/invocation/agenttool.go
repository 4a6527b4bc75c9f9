package invocation

import (
	"slices"

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
func (t *Team) offerAgents(a *Agent) (err error) {
	invalid := func(name, what string) error {
		return session.New(session.InvalidAgent, joined("agent ", quote(a.Name), ": tool ", quote(name)), what)
	}
	_ = value.EachItem(a.options, func(i int, v []byte) bool {
		n, _ := value.Get(v, "agent")
		number, _ := value.Int(n)
		of := t.agent(uint32(number))
		if of == nil || of.Parent != nil {
			err = session.New(session.InvalidAgent, "agent "+quote(a.Name)+": agentTools", "an agent that is a tool has no parent")
			return false
		}
		made := agentTool{agent: of}
		quiet, _ := value.Get(v, "skipSummarization")
		made.quiet = isTrue(quiet)
		made.Tool = runtime.Tool{Number: uint32(transferNumber - 1 - i), Name: of.Name, Description: of.Description, Trusted: true}
		if made.InputSchema, made.whole = value.Get(v, "inputSchema"); !made.whole {
			made.InputSchema = schemaOf("request", single("type", value.AppendString(nil, "string")))
		}
		taken := func(other *runtime.Tool) bool { return other.Name == of.Name }
		if failure := made.Compile(); failure != nil {
			err = invalid(of.Name, fault.MessageOf(failure))
		} else if a.asTool(of.Name) != nil || of.Name == transferTool || slices.ContainsFunc(a.Config.Tools, taken) {
			err = invalid(of.Name, "another one has the name")
		}
		a.tools = append(a.tools, made)
		return err == nil
	})
	return err
}

// asTool is the agent that is the tool of a name, nil for none.
func (a *Agent) asTool(name string) *agentTool {
	for i := range a.tools {
		if a.tools[i].Name == name {
			return &a.tools[i]
		}
	}
	return nil
}

// consult runs an agent that is a tool. It sees the arguments as what a user says, and nothing of the session's events. Its
// own are neither stored nor delivered, but what they change is the result's. The result is the text of its last answer.
func (r *Run) consult(task runtime.Task, t *agentTool, args []byte, res *result) ([]byte, error) {
	args, err := t.Check(args)
	if err != nil {
		return nil, err
	}
	asked, _ := value.GetString(args, "request")
	if t.whole {
		asked, _ = value.AppendJSON(nil, args)
	}
	message := []session.Part{session.NewText(string(asked))}
	in := &Run{Input: Input{User: r.User, Log: &session.Log{}}, shared: r.shared, id: r.id}
	in.asked = session.AppendContent(nil, "user", message)
	var answer []byte
	keep := func(_ runtime.Task, e *session.Event) error {
		switch {
		case r.stopped != nil:
			return r.stopped
		case r.turn.Aborted():
			return aborted()
		case e.Partial:
			return nil
		}
		in.complete(e)
		if e.HasContent && e.Final() {
			answer, _ = textOf(e.Parts)
		}
		res.actions.Merge(&session.Actions{StateDelta: e.Actions.StateDelta, ArtifactDelta: e.Actions.ArtifactDelta})
		return in.note(e.Append(nil), e.Actions.StateDelta)
	}
	err = keep(task, &session.Event{Author: "user", Role: "user", Parts: message, HasContent: true})
	if err == nil {
		err = in.run(task, t.agent, r.nextRun(), "", keep)
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

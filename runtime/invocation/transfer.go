package invocation

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/session"
)

// transferTool is the name of the tool with which a model hands over to another agent.
const transferTool = "transfer_to_agent"

// transferNumber is that tool's number, which no tool of a runner has.
const transferNumber = 1<<31 - 1

// targets are the agents to which an agent with a model may hand over: those below it, the one above it, and the others
// below that one.
func (a *Agent) targets() []*Agent {
	list := append([]*Agent(nil), a.Children...)
	if p := a.Parent; p != nil && p.Kind == LLM {
		if !a.apart {
			list = append(list, p)
		}
		if !a.alone {
			for _, peer := range p.Children {
				if peer != a {
					list = append(list, peer)
				}
			}
		}
	}
	return list
}

// offerTransfer makes the tool with which an agent hands over, if it can.
func (a *Agent) offerTransfer() error {
	targets := a.targets()
	if len(targets) == 0 {
		return nil
	}
	if a.hasTool(transferTool) {
		return a.twice(transferTool)
	}
	a.introduction = a.introduce(targets)
	var names []byte
	for _, t := range targets {
		names = value.AppendString(names, t.Name)
		a.mates = append(a.mates, t.Name)
	}
	var name members
	name.text("type", "string")
	name.add("enum", append(value.AppendListHeader(nil, len(targets)), names...))
	a.transfer = &runtime.Tool{
		Number: transferNumber, Name: transferTool, InputSchema: schemaOf("agent_name", name.value()), Trusted: true,
		Description: "Hands the conversation over to another agent, which answers the user in your place.",
	}
	return nil
}

// schemaOf is the schema of an object that must have one property.
func schemaOf(name string, property []byte) []byte {
	var m members
	m.text("type", "object")
	m.add("properties", single(name, property))
	m.add("required", value.AppendString(value.AppendListHeader(nil, 1), name))
	return m.value()
}

// handOver runs the tool of a transfer.
func (a *Agent) handOver(c *call, res *result) ([]byte, error) {
	text, _ := value.GetString(c.args, "agent_name")
	name := string(text)
	if !slices.Contains(a.mates, name) {
		return nil, fault.Plain(joined("there is no agent ", quote(name), " to hand over to"))
	}
	res.actions.TransferToAgent = name
	return value.AppendNil(nil), nil
}

// target is the agent of a name to which another one hands over.
func (r *Run) target(from *Agent, name string) (*Agent, error) {
	to := r.team.Find(name)
	if to == nil || to.root() != from.root() {
		return nil, session.New(session.InvalidEvent, "transferToAgent", "no agent is named "+quote(name))
	}
	return to, nil
}

// handOver runs the agent that an event of the one of a scope names.
func (r *Run) handOver(task runtime.Task, at *scope, name string) error {
	to, err := r.target(at.agent, name)
	if err != nil {
		return err
	}
	return r.run(task, r.below(at, to))
}

// introduce makes what tells a model who it is and which agents it can hand over to.
func (a *Agent) introduce(targets []*Agent) string {
	text := joined("You are the agent ", quote(a.Name), described(a), "\n\nOther agents:\n")
	for _, t := range targets {
		text = joined(text, "- ", t.Name, described(t), "\n")
	}
	return joined(text, "\nIf another agent is better suited to answer, call ", transferTool, " with its name. Otherwise answer yourself.")
}

// described is what follows an agent's name.
func described(a *Agent) string {
	if a.Description == "" {
		return ""
	}
	return ": " + a.Description
}

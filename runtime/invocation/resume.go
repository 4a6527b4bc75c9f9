package invocation

import (
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/session"
)

// answered finds the calls that a message answers, and the agent that made them. The invocation goes on under their id.
func (r *Run) answered(parts []session.Part) (agent *Agent, calls []*session.Call, err error) {
	for i := range parts {
		p := &parts[i]
		if p.Kind != session.PartResponse {
			continue
		}
		field := "message.parts[" + strconv.Itoa(i) + "].functionResponse.id"
		c, state := r.Log.Call(p.ID)
		for _, other := range calls {
			if other.ID == p.ID {
				state = session.CallDone
			}
		}
		code, wrong := session.InvalidInvocation, ""
		switch {
		case state == session.CallDone:
			code, wrong = session.CallAnswered, quote(p.ID)
		case state == session.CallUnknown:
			code, wrong = session.CallNotAsked, quote(p.ID)
		case len(calls) > 0 && calls[0].Event != c.Event:
			wrong = "the calls must be of one event"
		default:
			if v, _ := value.Get(p.Value, "confirmed"); c.Confirmation != nil && value.KindOf(v) != value.KindBool {
				wrong = "the answer must be a map whose member confirmed is true or false"
			} else if agent = r.team.Find(c.Author); agent == nil || agent.Kind != LLM {
				wrong = "the team has no LLM agent " + quote(c.Author)
			}
		}
		if wrong != "" {
			return nil, nil, session.New(code, field, wrong)
		}
		c.Answer = p.Value
		calls = append(calls, c)
	}
	if len(calls) > 0 {
		r.id = calls[0].InvocationID
	}
	return agent, calls, nil
}

// resume lets the agent go on that made the calls, and then those around it.
func (r *Run) resume(task runtime.Task, a *Agent, calls []*session.Call) error {
	at := &scope{agent: a, run: r.nextRun()}
	branch := calls[0].Branch
	if err := r.converse(task, at, branch, r.emit, calls); err != nil {
		return err
	}
	if _, err := r.around(task, at, AfterAgent, branch, r.emit); err != nil {
		return err
	}
	return r.goOn(task, a, branch)
}

// goOn runs the agents that come behind one in the sequences around it.
func (r *Run) goOn(task runtime.Task, a *Agent, branch string) error {
	for ; a.Parent != nil; a = a.Parent {
		if a.Parent.Kind != Sequential {
			continue
		}
		behind := false
		for _, other := range a.Parent.Children {
			if behind {
				if err := r.run(task, other, r.nextRun(), branch, r.emit); err != nil {
					return err
				}
			}
			behind = behind || other == a
		}
	}
	return nil
}

// resumeCalls runs the calls that the user has confirmed, with the arguments that were shown. more reports that all
// calls of the answer have their results.
func (r *Run) resumeCalls(task runtime.Task, s *step, answered []*session.Call) (more bool, err error) {
	var calls []call // the answers of the others are their results
	for _, a := range answered {
		if a.Confirmation == nil {
			continue
		}
		c := call{id: a.ID, name: a.Name, args: a.Args}
		if v, _ := value.Get(a.Answer, "confirmed"); !isTrue(v) {
			c.refused = "the user did not confirm the call"
		}
		calls = append(calls, c)
	}
	return r.runCalls(task, s, calls, answered)
}

package invocation

import (
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/session"
)

// run runs an agent with the callbacks around it.
func (r *Run) run(task runtime.Task, a *Agent, run uint32, branch string, out sink) error {
	at := &scope{agent: a, run: run}
	done, err := r.around(task, at, BeforeAgent, branch, out)
	if err != nil || done {
		return err
	}
	switch a.Kind {
	case LLM:
		err = r.converse(task, at, branch, out, nil)
	case Sequential:
		err = r.sequence(task, a, branch, out, nil)
	case Parallel:
		err = r.together(task, a, branch, out)
	case Loop:
		err = r.loop(task, a, branch, out, nil)
	default:
		err = r.generate(task, a, run, branch, out)
	}
	if err != nil {
		return err
	}
	_, err = r.around(task, at, AfterAgent, branch, out)
	return err
}

// around calls a callback around an agent. It makes an event of the content that it gives, and of its actions if it
// gives none; done reports a content, or that another agent has answered.
func (r *Run) around(task runtime.Task, at *scope, hook Hook, branch string, out sink) (done bool, err error) {
	if !r.has(at.agent, hook) {
		return false, nil
	}
	var actions session.Actions
	content, err := r.ask(task, at, hook, nil, &actions)
	if err != nil || content == nil && actions.Empty() {
		return false, err
	}
	e, err := r.contentEvent(at.agent.Name, content, &actions)
	if err != nil {
		return false, err
	}
	e.Branch = branch
	if err := out(task, e, true); err != nil {
		return false, err
	}
	name := e.Actions.TransferToAgent
	if name == "" {
		return content != nil, nil
	}
	if r.handed++; r.handed > r.maxCalls {
		return false, r.tooMany()
	}
	return true, r.handOver(task, at.agent, name, branch, out)
}

// sequence runs the agents of a sequential one, one after another: all, or from the one on that goes on.
func (r *Run) sequence(task runtime.Task, a *Agent, branch string, out sink, from *place) (err error) {
	for _, child := range a.Children {
		switch {
		case from == nil:
			err = r.run(task, child, r.nextRun(), branch, out)
		case child == from.agent:
			err = r.goOn(task, from, out)
			from = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// paused ends the agents around one that waits for an answer from outside.
type paused struct{}

func (*paused) Error() string { return "an agent waits for an answer" }

var pause = &paused{}

// escalated ends the agents inside a loop.
type escalated struct{}

func (*escalated) Error() string { return "an agent has escalated" }

// loop runs the agents of a loop again and again, until an event escalates or the bound is reached. at is where it goes
// on, nil for its beginning.
func (r *Run) loop(task runtime.Task, a *Agent, branch string, out sink, at *place) error {
	leave := &escalated{}
	inside := func(task runtime.Task, e *session.Event, ahead bool) error {
		if err := out(task, e, ahead); err != nil {
			return err
		}
		if e.Actions.Escalate && !e.Partial {
			return leave
		}
		return nil
	}
	n := 0
	var from *place
	if at != nil {
		n, from = r.rounds(at), at.inside
	}
	for ; (a.rounds == 0 || n < a.rounds) && len(a.Children) > 0; n++ {
		before := r.Log.Len()
		err := r.sequence(task, a, branch, inside, from)
		from = nil
		switch {
		case err == leave:
			return nil
		case err != nil:
			return err
		case a.rounds == 0 && r.Log.Len() == before:
			return session.New(session.InvalidAgent, "agent "+a.Name, "a round of a loop without a bound gave no event")
		}
	}
	return nil
}

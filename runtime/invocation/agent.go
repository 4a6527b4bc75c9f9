package invocation

import (
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/session"
)

// run runs an agent with the callbacks around it.
func (r *Run) run(task runtime.Task, at *scope) error {
	done, err := r.around(task, at, BeforeAgent)
	if err != nil || done {
		return err
	}
	switch at.agent.Kind {
	case LLM:
		err = r.converse(task, at, nil)
	case Sequential:
		err = r.sequence(task, at, nil)
	case Parallel:
		err = r.together(task, at)
	case Loop:
		err = r.loop(task, at, nil)
	default:
		err = r.generate(task, at)
	}
	if err != nil {
		return err
	}
	_, err = r.around(task, at, AfterAgent)
	return err
}

// around calls a callback around an agent. It makes an event of the content that it gives, and of its actions if it
// gives none; done reports a content, or that another agent has answered.
func (r *Run) around(task runtime.Task, at *scope, hook Hook) (done bool, err error) {
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
	e.Branch = at.branch
	if err := at.out(task, e, true); err != nil {
		return false, err
	}
	name := e.Actions.TransferToAgent
	if name == "" {
		return content != nil, nil
	}
	if r.given++; r.given > r.maxCalls {
		return false, r.tooMany()
	}
	return true, r.handOver(task, at, name)
}

// sequence runs the agents of a sequential one, one after another: all, or from the one on that goes on.
func (r *Run) sequence(task runtime.Task, at *scope, from *place) (err error) {
	for _, child := range at.agent.Children {
		switch {
		case from == nil:
			err = r.run(task, r.below(at, child))
		case child == from.agent:
			err = r.goOn(task, from, at.out)
			from = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loop runs the agents of a loop again and again, until an event escalates or the bound is reached. p is where it goes
// on, nil for its beginning.
func (r *Run) loop(task runtime.Task, at *scope, p *place) error {
	inside := *at
	inside.out = func(task runtime.Task, e *session.Event, ahead bool) error {
		if err := at.out(task, e, ahead); err != nil {
			return err
		}
		if e.Actions.Escalate && !e.Partial {
			return escalated
		}
		return nil
	}
	a, n := at.agent, 0
	var from *place
	if p != nil {
		n, from = r.rounds(p), p.inside
	}
	for ; (a.rounds == 0 || n < a.rounds) && len(a.Children) > 0; n++ {
		before := r.Log.Len()
		err := r.sequence(task, &inside, from)
		from = nil
		switch {
		case err == escalated:
			return nil
		case err != nil:
			return err
		case a.rounds == 0 && r.Log.Len() == before:
			return session.New(session.InvalidAgent, "agent "+a.Name, "a round of a loop without a bound gave no event")
		}
	}
	return nil
}

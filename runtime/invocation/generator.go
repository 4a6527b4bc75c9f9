package invocation

import (
	"strconv"

	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/session"
)

// generator is an agent of host code that runs.
type generator struct {
	_ [0]func() // no two are compared: that would take code

	*scope
	next *generator // that runs, too
	of   *Run
	task runtime.Task
	err  error // why it must end
}

// generate runs an agent of host code to its end.
func (r *Run) generate(task runtime.Task, at *scope) error {
	g := &generator{scope: at, next: r.running, of: r, task: task}
	r.running = g
	err := r.world.Agent(task, at.agent.Number, at.run, at.branch, r.asked)
	place := &r.running
	for *place != g {
		place = &(*place).next
	}
	*place = g.next
	if g.err != nil {
		return g.err
	}
	return err
}

// generatorOf is the generator of a run, if it is running.
func (r *Run) generatorOf(run uint32) (*generator, error) {
	for g := r.running; g != nil; g = g.next {
		if g.run == run {
			return g, nil
		}
	}
	return nil, fault.New(fault.CallAfterEnd, "run "+strconv.Itoa(int(run))+" of an agent has ended")
}

// Yield takes an event of a generator and returns it as it was stored, when the generator may go on. An error ends the
// generator.
func (r *Run) Yield(task runtime.Task, run uint32, event []byte) ([]byte, error) {
	g, err := r.generatorOf(run)
	if err != nil {
		return nil, err
	}
	if g.err != nil {
		return nil, stoppedBy(g.err)
	}
	e, err := session.Parse(event)
	if err != nil {
		return nil, err
	}
	if e.Author == "" {
		e.Author = g.agent.Name
	}
	if e.Branch == "" {
		e.Branch = g.branch
	}
	if err := g.out(task, e, false); err != nil {
		g.err = err
		return nil, stoppedBy(err)
	}
	return e.Append(nil), nil
}

// stoppedBy is the error that host code sees.
func stoppedBy(err error) error {
	if err == escalated {
		return session.New(session.InvocationStopped, "", "an event has escalated")
	}
	return err
}

// RunAgent runs an agent of the team for a generator, which gets its events under the number. They are not stored: the
// generator yields those that it wants to pass on.
func (r *Run) RunAgent(task runtime.Task, run, agent, number uint32) error {
	g, err := r.generatorOf(run)
	if err != nil {
		return err
	}
	a := r.team.agent(agent)
	if a == nil {
		return fault.New(fault.ABIUnknownTarget, "agent "+strconv.Itoa(int(agent)))
	}
	r.world.Below(g.task, task)
	at := r.below(g.scope, a)
	at.out = func(task runtime.Task, e *session.Event, _ bool) error {
		g.of.complete(e)
		return r.world.Deliver(task, number, e.Append(nil))
	}
	err = g.of.run(task, at)
	if err == pause {
		return nil
	}
	return err
}

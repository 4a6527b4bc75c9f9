package invocation

import (
	"strconv"

	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/session"
)

// generator is an agent of host code that runs.
type generator struct {
	next   *generator // that runs, too
	of     *Run
	run    uint32
	task   runtime.Task
	agent  *Agent
	branch string
	out    sink
	err    error // why it must end
}

// generate runs an agent of host code to its end.
func (r *Run) generate(task runtime.Task, a *Agent, run uint32, branch string, out sink) error {
	g := &generator{next: r.running, of: r, run: run, task: task, agent: a, branch: branch, out: out}
	r.running = g
	err := r.world.Agent(task, a.Number, run, branch, r.asked)
	at := &r.running
	for *at != g {
		at = &(*at).next
	}
	*at = g.next
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
	if _, ok := err.(*escalated); ok {
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
	err = g.of.run(task, a, r.nextRun(), g.branch, func(task runtime.Task, e *session.Event, _ bool) error {
		g.of.complete(e)
		return r.world.Deliver(task, number, e.Append(nil))
	})
	if err == pause {
		return nil
	}
	return err
}

package invocation

import (
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/session"
)

// rounds orders the events of agents that run at once, whatever their timing: the n-th event of an agent comes behind
// the n-th of every agent in front of it, and the n-1-th of all others. An agent that has ended holds up nobody.
type rounds struct {
	given []int // events of each agent
	ended []bool
	err   error // of the first agent that failed
	tasks []runtime.Task
}

// end notes that the i-th agent has ended. When the first one has failed, the others are not wanted any more.
func (o *rounds) end(w World, i int, err error) {
	o.ended[i] = true
	if o.err != nil || err == nil {
		return
	}
	o.err = err
	for j, task := range o.tasks {
		if task != nil && !o.ended[j] {
			w.Stop(task, needless)
		}
	}
}

// turn reports whether the i-th agent may give its next event.
func (o *rounds) turn(i int) bool {
	if o.err != nil {
		return true
	}
	for j := range o.given {
		switch {
		case j == i || o.ended[j]:
		case j < i && o.given[j] <= o.given[i], j > i && o.given[j] < o.given[i]:
			return false
		}
	}
	return true
}

// together runs the agents of a parallel one at once, each in a branch of its own. One that fails stops the others:
// their host code is told, and has ended when together returns.
func (r *Run) together(task runtime.Task, at *scope) error {
	// The events so far must not hold up an agent until host code of another one has ended.
	if r.world.Stored(task); r.stopped != nil {
		return r.stopped
	}
	branch := at.branch
	if branch != "" {
		branch += "."
	}
	branch += at.agent.Name + "."
	n := len(at.agent.Children)
	order := &rounds{given: make([]int, n), ended: make([]bool, n), tasks: make([]runtime.Task, n)}
	runs := make([]*scope, n)
	for i, child := range at.agent.Children {
		in := r.below(at, child)
		in.branch = branch + child.Name
		in.await = func(task runtime.Task) {
			task.Wait(func() bool { return order.turn(i) })
			if at.await != nil {
				at.await(task)
			}
		}
		in.out = func(task runtime.Task, e *session.Event, _ bool) error {
			if !e.Partial {
				in.await(task)
			}
			if order.err != nil {
				return order.err
			}
			err := at.out(task, e, false)
			if !e.Partial {
				order.given[i]++
			}
			return err
		}
		runs[i] = in
	}
	waits := false
	err := r.world.Together(task, n, func(task runtime.Task, i int) error {
		var err error
		order.tasks[i] = task
		if order.err == nil {
			err = r.run(task, runs[i])
		}
		if err == pause {
			waits, err = true, nil
		}
		order.end(r.world, i, err)
		return err
	})
	if order.err != nil { // others may have failed because they were stopped
		return order.err
	}
	if err == nil && waits {
		return pause
	}
	return err
}

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

// together runs the agents of a parallel one at once, each in a branch of its own.
func (r *Run) together(task runtime.Task, a *Agent, branch string, out sink) error {
	if branch != "" {
		branch += "."
	}
	branch += a.Name
	order := &rounds{given: make([]int, len(a.Children)), ended: make([]bool, len(a.Children))}
	runs := make([]uint32, len(a.Children))
	for i := range runs {
		runs[i] = r.nextRun()
	}
	waits := false
	err := r.world.Together(task, len(a.Children), func(task runtime.Task, i int) error {
		var err error
		if order.err == nil {
			err = r.run(task, a.Children[i], runs[i], branch+"."+a.Children[i].Name, func(task runtime.Task, e *session.Event, _ bool) error {
				if e.Partial {
					return out(task, e, false)
				}
				task.Wait(func() bool { return order.turn(i) })
				if order.err != nil {
					return order.err
				}
				err := out(task, e, false)
				order.given[i]++
				return err
			})
		}
		if err == pause {
			waits, err = true, nil
		}
		order.ended[i] = true
		if order.err == nil {
			order.err = err
		}
		return err
	})
	if err == nil && waits {
		return pause
	}
	return err
}

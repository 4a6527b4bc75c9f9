package invocation

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/session"
)

// scope is where host code is called: an agent's run, and the step that it is about.
type scope struct {
	agent   *Agent // nil for none
	run     uint32
	context uint32 // 0 for none
}

// plugin calls a hook of the i-th plugin, if it has that.
func (r *Run) plugin(task runtime.Task, i int, hook Hook, at *scope, v []byte) (answer []byte, actions *session.Actions, err error) {
	if r.team.Plugins[i].Hooks&(1<<hook) == 0 {
		return nil, &session.Actions{}, nil
	}
	return r.callback(task, &Callback{Hook: hook, Plugin: uint32(i + 1), Value: v}, at)
}

// ask calls the hook of the plugins, and then the agent's callbacks, until one answers. The actions of all that were
// called are united.
func (r *Run) ask(task runtime.Task, at *scope, hook Hook, v []byte) (answer []byte, actions *session.Actions, err error) {
	actions = &session.Actions{}
	for i := range r.team.Plugins {
		answer, given, err := r.plugin(task, i, hook, at, v)
		if err != nil {
			return nil, actions, err
		}
		actions.Merge(given)
		if answer != nil {
			return answer, actions, nil
		}
	}
	for i := range at.agent.Hooks[hook] {
		answer, given, err := r.callback(task, &Callback{Hook: hook, Index: i, Value: v}, at)
		if err != nil {
			return nil, actions, err
		}
		actions.Merge(given)
		if answer != nil {
			return answer, actions, nil
		}
	}
	return nil, actions, nil
}

// callback calls host code, and applies what it did to the state that the invocation sees.
func (r *Run) callback(task runtime.Task, c *Callback, at *scope) (answer []byte, actions *session.Actions, err error) {
	actions = &session.Actions{}
	if at != nil {
		c.Run, c.Context = at.run, at.context
		if at.agent != nil {
			c.Agent = at.agent.Number
		}
	}
	v, err := r.world.Callback(task, c)
	if err != nil || v == nil {
		return nil, actions, err
	}
	if value.KindOf(v) != value.KindMap {
		return nil, actions, session.New(session.InvalidInvocation, "callback", "the answer must be a map of value and actions")
	}
	if given, ok := value.Get(v, "actions"); ok && value.KindOf(given) != value.KindNil {
		parsed, err := session.ParseActions(given)
		if err != nil {
			return nil, actions, err
		}
		actions = &parsed
		if err := r.state.Apply(actions.StateDelta); err != nil {
			return nil, actions, err
		}
	}
	if answer, _ = value.Get(v, "value"); value.KindOf(answer) == value.KindNil {
		answer = nil
	}
	return answer, actions, nil
}

// has reports whether any host code is called for a hook.
func (r *Run) has(a *Agent, hook Hook) bool {
	if a.Hooks[hook] > 0 {
		return true
	}
	for i := range r.team.Plugins {
		if r.team.Plugins[i].Hooks&(1<<hook) != 0 {
			return true
		}
	}
	return false
}

package invocation

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/session"
)

// hookNames are the names of hooks in errors.
var hookNames = [Hooks]string{
	"onUserMessage", "beforeRun", "afterRun", "onEvent", "beforeAgent", "afterAgent", "beforeModel", "afterModel", "onModelError",
	"beforeTool", "afterTool", "onToolError", "instruction", "globalInstruction", "confirm", "summarize", "onError",
}

// handsOver is a set of hooks, whose actions may hand over to another agent: those around agents and around tools, and
// the one that changes events.
const handsOver = 1<<BeforeAgent | 1<<AfterAgent | 1<<BeforeTool | 1<<AfterTool | 1<<ToolError | 1<<OnEvent

// scope is where an agent runs, and where host code is called.
type scope struct {
	agent   *Agent
	run     uint32
	context uint32 // of the step that it is about, 0 for none
	branch  string
	out     sink
	await   func(runtime.Task) // until it is the agent's turn to give an event; nil for one that need not wait
}

// below is the scope of another agent's run, whose events go where those of this one go.
func (r *Run) below(at *scope, a *Agent) *scope {
	return &scope{agent: a, run: r.nextRun(), branch: at.branch, out: at.out, await: at.await}
}

// plugin calls a hook of the i-th plugin, if it has that, as callback does.
func (r *Run) plugin(task runtime.Task, i int, hook Hook, at *scope, v []byte, into *session.Actions) (answer []byte, err error) {
	if r.team.Plugins[i].Hooks&(1<<hook) == 0 {
		return nil, nil
	}
	return r.callback(task, &Callback{Hook: hook, Plugin: uint32(i + 1), Value: v}, at, into)
}

// ask calls the hook of the plugins, and then the agent's callbacks, until one answers. The actions of all that were
// called are united with those of the caller.
func (r *Run) ask(task runtime.Task, at *scope, hook Hook, v []byte, into *session.Actions) (answer []byte, err error) {
	var given session.Actions
	for i := 0; i < len(r.team.Plugins) && err == nil && answer == nil; i++ {
		answer, err = r.plugin(task, i, hook, at, v, &given)
	}
	for i := uint32(0); i < at.agent.Hooks[hook] && err == nil && answer == nil; i++ {
		answer, err = r.callback(task, &Callback{Hook: hook, Index: i, Value: v}, at, &given)
	}
	into.Merge(&given)
	return answer, err
}

// callback calls host code, applies what it did to the state that the invocation sees, and unites its actions with
// those of the caller.
func (r *Run) callback(task runtime.Task, c *Callback, at *scope, into *session.Actions) (answer []byte, err error) {
	if at != nil {
		c.Run, c.Context, c.Agent = at.run, at.context, at.agent.Number
	}
	v, err := r.world.Callback(task, c)
	r.called = c
	if err != nil || v == nil {
		return nil, err
	}
	if value.KindOf(v) != value.KindMap {
		return nil, session.New(session.InvalidInvocation, "callback", "the answer must be a map of value and actions")
	}
	if given, ok := value.Get(v, "actions"); ok && value.KindOf(given) != value.KindNil {
		actions, err := session.ParseActions(given)
		path := ".actions"
		if err == nil && actions.TransferToAgent != "" {
			err = r.mayHandOver(c.Hook, at, actions.TransferToAgent)
		}
		if err == nil {
			if err = r.state.Apply(actions.StateDelta); err != nil {
				path = ".actions.stateDelta"
			}
		}
		if err != nil {
			return nil, r.wrong(err, path)
		}
		into.Merge(actions)
	}
	if answer, _ = value.Get(v, "value"); value.KindOf(answer) == value.KindNil {
		answer = nil
	}
	return answer, nil
}

// mayHandOver fails if the actions of a hook must not hand over to the agent of a name.
func (r *Run) mayHandOver(hook Hook, at *scope, name string) error {
	if handsOver&(1<<hook) == 0 {
		return session.New(session.InvalidEvent, "transferToAgent", "is not for this hook")
	}
	if at == nil {
		return nil
	}
	_, err := r.target(at.agent, name)
	return err
}

// wrong is an error about what the callback has given that was called last. The field begins with the name of the hook
// and a path from there, and the text ends with whose hook it is. Errors that are not of package session stay.
func (r *Run) wrong(err error, path string) error {
	e, ok := err.(*fault.Error)
	if !ok {
		return err
	}
	c := r.called
	what := e.Message[len(session.New(e.Code, "", "").Message)+1:]
	if at, some := value.GetString(e.Details, "field"); some {
		path = joined(path, ".", string(at))
		what = what[len(at)+2:]
	}
	whose := " (agent "
	name := ""
	if c.Plugin > 0 {
		whose, name = " (plugin ", r.team.Plugins[c.Plugin-1].Name
	} else {
		name = r.team.Agents[c.Agent-1].Name
	}
	return session.New(e.Code, hookNames[c.Hook]+path, joined(what, whose, quote(name), ")"))
}

// has reports whether any host code is called for a hook.
//
//go:noinline
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

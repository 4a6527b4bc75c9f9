package invocation

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/session"
)

// call is a function call of an answer.
type call struct {
	id, name string
	args     []byte
	waits    bool   // for confirmation
	refused  string // why it cannot run; "" if it can
}

// result is what became of a call.
type result struct {
	part    session.Part
	some    bool // there is a part: a long-running tool may give none
	actions session.Actions
}

// execution is what the handler of a tool does besides its result.
type execution struct {
	_ [0]func() // no two are compared: that would take code

	id      string
	actions session.Actions
}

// identify gives each function call of an event an id that no call of the session has, and says which of them wait for
// an answer from outside.
func (r *Run) identify(task runtime.Task, s *step, e *session.Event) ([]call, error) {
	var calls []call
	for i := range e.Parts {
		p := &e.Parts[i]
		if p.Kind != session.PartCall {
			continue
		}
		if p.ID == "" || hasCall(calls, p.ID) || hasCall(s.calls, p.ID) || r.hasCall(p.ID) {
			p.SetID(r.turn.NewID("c"))
		}
		n := len(calls)
		calls = append(calls, call{id: p.ID, name: p.Name, args: p.Value})
		c := &calls[n]
		if n < len(s.refused) {
			c.refused = s.refused[n]
		}
		if c.refused != "" {
			continue
		}
		asked, err := r.confirmation(task, s, c)
		if err != nil {
			return nil, err
		}
		if asked != nil {
			c.waits = true
			e.Actions.Confirm(c.id, asked)
		}
		if c.waits || slices.Contains(s.agent.longRunning, c.name) {
			e.LongRunning = append(e.LongRunning, c.id)
		}
	}
	return calls, nil
}

// hasCall reports whether a call of the run, or of one that it is a tool of, has an id.
//
//go:noinline
func (r *Run) hasCall(id string) bool {
	for ; r != nil; r = r.outer {
		if r.Log.HasCall(id) {
			return true
		}
	}
	return false
}

// hasCall reports whether a call has an id.
//
//go:noinline
func hasCall(calls []call, id string) bool {
	for i := range calls {
		if calls[i].id == id {
			return true
		}
	}
	return false
}

// confirmation returns what a person is asked before a call runs; nil if it runs without.
func (r *Run) confirmation(task runtime.Task, s *step, c *call) ([]byte, error) {
	var more []byte
	switch {
	case slices.Contains(s.agent.confirm, c.name):
	case slices.Contains(s.agent.asks, c.name):
		answer, err := r.callback(task, &Callback{Hook: Confirm, Value: c.described("", nil)}, &s.scope, &s.actions)
		if err != nil {
			return nil, err
		}
		switch kind := value.KindOf(answer); {
		case kind == value.KindMap:
			more = answer
		case kind == value.KindBool && !isTrue(answer), answer == nil:
			return nil, nil
		case kind != value.KindBool: // what the host means is not known, and the tool must not run unasked
			return nil, r.wrong(session.New(session.InvalidAgent, "", "the callback must give a boolean or a map"), "")
		}
	default:
		return nil, nil
	}
	var m members
	m.text("name", c.name)
	m.add("args", c.args)
	for _, name := range [...]string{"hint", "payload"} {
		if v, ok := value.Get(more, name); ok {
			m.add(name, v)
		}
	}
	return m.value(), nil
}

// described is the value that hooks about a call get, with one more member if name is not empty.
func (c *call) described(name string, v []byte) []byte {
	var m members
	m.text("tool", c.name)
	m.text("id", c.id)
	m.add("args", c.args)
	if name != "" {
		m.add(name, v)
	}
	return m.value()
}

// runCalls runs calls of a step at once and makes one event of their results, in the order of the calls. more reports
// that the model must see them: that all calls have their results, those of the event too whose answers resumed the
// step.
func (r *Run) runCalls(task runtime.Task, s *step, calls []call, resumed []*session.Call) (more bool, err error) {
	results := make([]result, len(calls))
	if err := r.beforeCalls(task, s, calls); err != nil {
		return false, err
	}
	err = r.world.Together(task, len(calls), func(task runtime.Task, i int) error {
		if calls[i].waits {
			return nil
		}
		return r.runCall(task, s, &calls[i], &results[i])
	})
	if err != nil {
		return false, err
	}
	e := &session.Event{Author: s.agent.Name, Branch: s.branch}
	waits := false
	for i := range results {
		if results[i].some {
			e.AddPart(&results[i].part)
			e.Role, e.HasContent = "user", true
		} else {
			waits = true
		}
		e.Actions.Merge(&results[i].actions)
	}
	if e.HasContent || !e.Actions.Empty() {
		if err := s.out(task, e, true); err != nil {
			return false, err
		}
	}
	if resumed != nil {
		waits = r.Log.Waiting(resumed[0].Event)
	}
	return r.afterCalls(task, s, e, waits)
}

// beforeCalls waits for the events so far if a call does not wait by itself, as a call of the host does, or if its time
// is bounded.
func (r *Run) beforeCalls(task runtime.Task, s *step, calls []call) error {
	timed := s.agent.Model != nil && s.agent.Model.Times()
	for i := range calls {
		tool, _ := s.d.Tools().Get(calls[i].name)
		if timed || s.agent.asTool(calls[i].name) != nil || tool != nil && tool.InModule() {
			r.world.Stored(task)
			return r.stopped
		}
	}
	return nil
}

// afterCalls does what the results of a step's calls ask for.
func (r *Run) afterCalls(task runtime.Task, s *step, e *session.Event, waits bool) (more bool, err error) {
	if name := e.Actions.TransferToAgent; name != "" {
		return false, r.handOver(task, &s.scope, name)
	}
	if waits {
		return false, pause
	}
	return !e.Actions.SkipSummarization, nil
}

// runCall runs a call with the callbacks around it. Its error is that of the invocation: a tool's own goes to the
// model.
func (r *Run) runCall(task runtime.Task, s *step, c *call, res *result) (err error) {
	var v []byte
	if r.has(s.agent, BeforeTool) {
		if v, err = r.ask(task, &s.scope, BeforeTool, c.described("", nil), &res.actions); err != nil {
			return err
		}
	}
	if v == nil {
		if v, err = r.execute(task, s, c, res); err != nil {
			return err
		}
	}
	if v != nil && r.has(s.agent, AfterTool) {
		answer, err := r.ask(task, &s.scope, AfterTool, c.described("result", v), &res.actions)
		if err != nil {
			return err
		}
		if answer != nil {
			v = answer
		}
	}
	if v != nil {
		res.part, res.some = session.NewResponse(c.id, c.name, wrapped(v)), true
	}
	return nil
}

// wrapped makes a map of a result that is none.
func wrapped(v []byte) []byte {
	if value.KindOf(v) == value.KindMap {
		return v
	}
	return single("result", v)
}

// execute runs the tool of a call. A failure becomes a result for the model, unless a callback gives another. A
// long-running tool that gives no result has none.
func (r *Run) execute(task runtime.Task, s *step, c *call, res *result) ([]byte, error) {
	v, err := r.handle(task, s, c, res)
	switch {
	case err == nil && v == nil && slices.Contains(s.agent.longRunning, c.name):
		return nil, nil
	case err == nil && v == nil:
		return value.AppendNil(nil), nil
	case err == nil:
		return v, nil
	case r.halted() != nil:
		return nil, r.halted()
	case r.turn.Exceeded() != nil:
		return nil, r.turn.Exceeded()
	}
	text := value.AppendString(nil, reason(err))
	if r.has(s.agent, ToolError) {
		answer, failure := r.ask(task, &s.scope, ToolError, c.described("error", text), &res.actions)
		if failure != nil || answer != nil {
			return answer, failure
		}
	}
	return single("error", text), nil
}

// reason is the text of a tool's failure: the handler's own, if it is one.
func reason(err error) string {
	if e, ok := err.(*fault.Error); ok && e.Code == fault.ToolDownstreamError && e.Cause != nil {
		return fault.MessageOf(e.Cause)
	}
	return fault.MessageOf(err)
}

func (r *Run) handle(task runtime.Task, s *step, c *call, res *result) ([]byte, error) {
	if c.refused != "" {
		return nil, fault.Plain(c.refused)
	}
	if s.agent.transfer != nil && c.name == s.agent.transfer.Name {
		return s.agent.handOver(c, res)
	}
	if t := s.agent.asTool(c.name); t != nil {
		return r.consult(task, t, c.args, res)
	}
	tool, known := s.d.Tools().Get(c.name)
	if !known {
		return nil, fault.Plain("no tool is named " + quote(c.name))
	}
	run := runtime.ToolRun{ProviderCallID: c.id}
	var done runtime.ToolResult
	var err error
	if m := s.agent.Model; m != nil {
		done, err = m.Execute(task, s.d, tool, c.args, run)
	} else {
		done, err = s.d.ExecuteTool(task, tool, c.args, run)
	}
	for i := range s.executed {
		if e := &s.executed[i]; e.id == done.ExecutionID {
			res.actions.Merge(&e.actions)
			e.id = ""
		}
	}
	return done.Value, err
}

// Act takes what the handler of a tool does besides its result. id is that of the execution.
func (r *Run) Act(context uint32, id string, actions []byte) error {
	s, err := r.executing(context, id)
	if err != nil {
		return err
	}
	parsed, err := session.ParseActions(actions)
	if err != nil {
		return err
	}
	if name := parsed.TransferToAgent; name != "" {
		if _, err := r.target(s.agent, name); err != nil {
			return err
		}
	}
	if err := r.state.Apply(parsed.StateDelta); err != nil {
		return err
	}
	s.note(id, parsed)
	return nil
}

// note notes what the execution of an id does.
func (s *step) note(id string, actions *session.Actions) {
	s.executed = append(s.executed, execution{id: id, actions: *actions})
}

// executing is the running step of a context, in which the execution of an id runs: no event would carry what a later
// one does.
func (r *Run) executing(context uint32, id string) (*step, error) {
	s, err := r.stepOf(context)
	if err == nil && !s.d.Executes(id) {
		err = fault.New(fault.CallAfterEnd, "the tool's call has ended")
	}
	return s, err
}

// SetState changes what code of the invocation sees. If the handler of a tool makes the change, in the
// execution of an id, the event of its result carries it.
func (r *Run) SetState(context uint32, id, name string, v []byte) error {
	if id == "" {
		return r.state.Set(name, v)
	}
	s, err := r.executing(context, id)
	if err != nil {
		return err
	}
	if err := r.state.Set(name, v); err != nil {
		return err
	}
	if v == nil {
		v = value.AppendNil(nil)
	}
	s.note(id, &session.Actions{StateDelta: []session.Member{{Name: name, Value: v}}})
	return nil
}

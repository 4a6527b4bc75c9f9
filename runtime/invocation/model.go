package invocation

import (
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/session"
)

// step is a model call of an agent, and the tool calls of its answer.
type step struct {
	scope
	next *step // that is open, too
	of   *Run
	d    *runtime.Dispatch

	instruction, global string   // those that host code gave
	asked               *Request // what the model is asked, if not what the agent's is
	request             Request  // what the agent's model is asked
	from                int      // of the invocation's events in the log
	streams             bool     // the last part of the answer was partial
	given               bool     // there is an answer
	actions             session.Actions
	calls               []call
	refused             []string    // why each call of the model's answer cannot run
	executed            []execution // until the end of each
	err                 error       // of an answer that host code gave: the step fails with it
}

// converse calls the model of an agent again and again, until an answer has no tool calls, or none that goes on here.
func (r *Run) converse(task runtime.Task, at *scope, resumed []*session.Call) error {
	from := r.first
	if len(resumed) > 0 {
		from = resumed[0].Event
		if more, err := r.step(task, at, from, resumed); err != nil || !more {
			return err
		}
	}
	for {
		more, err := r.step(task, at, from, nil)
		if err != nil || !more {
			return err
		}
	}
}

// step makes a model call, or takes the calls of an earlier answer, and runs the tools. more reports that the model
// must see the results.
func (r *Run) step(task runtime.Task, at *scope, from int, resumed []*session.Call) (more bool, err error) {
	s, err := r.open(at, at.agent.Config)
	if err != nil {
		return false, err
	}
	s.from = from
	if at.agent.transfer != nil {
		s.d.Offer(at.agent.transfer)
	}
	for _, t := range at.agent.tools {
		s.d.Offer(&t.Tool)
	}
	if resumed != nil {
		more, err = r.resumeCalls(task, s, resumed)
	} else if err = r.askModel(task, s); err == nil {
		more, err = r.goOnFrom(task, s)
	}
	r.leave(s)
	return more, err
}

// goOnFrom runs the tools of an answer.
func (r *Run) goOnFrom(task runtime.Task, s *step) (more bool, err error) {
	if err = s.err; err == nil {
		err = r.halted()
	}
	switch {
	case err != nil:
		return false, err
	case s.streams, !s.given:
		what := "agent " + quote(s.agent.Name)
		if !s.streams {
			what = "the model of " + what + " gave no answer"
		}
		return false, session.New(session.InvocationUnfinished, "", what)
	case len(s.calls) == 0:
		return false, nil
	}
	return r.runCalls(task, s, s.calls, nil)
}

// open begins a step.
func (r *Run) open(at *scope, config *runtime.Config) (*step, error) {
	d, err := r.turn.OpenStep(config)
	if err != nil {
		return nil, err
	}
	r.world.Step(d.Number(), at.agent.Number)
	s := &step{scope: *at, of: r, d: d, next: r.steps}
	s.context = d.Number()
	r.steps = s
	return s, nil
}

// leave ends a step.
func (r *Run) leave(s *step) {
	at := &r.steps
	for *at != s {
		at = &(*at).next
	}
	*at = s.next
	s.d.CloseStep()
}

// askModel gets an answer from a callback or from the model.
func (r *Run) askModel(task runtime.Task, s *step) error {
	if r.has(s.agent, BeforeModel) {
		v, err := r.ask(task, &s.scope, BeforeModel, nil, &s.actions)
		if err != nil {
			return err
		}
		if v != nil {
			if r.given++; r.given > r.maxCalls {
				return r.tooMany()
			}
			return r.takeValue(task, s, v)
		}
	}
	if r.calls++; r.calls > r.maxCalls {
		return r.tooMany()
	}
	err := r.callModel(task, s)
	if err == nil || s.err != nil || r.stopped != nil || r.turn.Aborted() || !r.has(s.agent, ModelError) {
		return err
	}
	v, failure := r.ask(task, &s.scope, ModelError, r.world.Error(err), &s.actions)
	switch {
	case failure != nil:
		return failure
	case v == nil:
		return err
	}
	return r.takeValue(task, s, v)
}

// tooMany is the error of model calls, or of what callbacks do without one, beyond the bound.
func (r *Run) tooMany() error {
	return session.New(session.ModelCallLimit, "", "maxModelCalls is "+strconv.Itoa(r.maxCalls))
}

// callModel lets the model answer.
func (r *Run) callModel(task runtime.Task, s *step) error {
	if err := r.instruct(task, s); err != nil {
		return err
	}
	if s.agent.Model == nil {
		v, err := r.world.Model(task, s.context, r.offer(s))
		if err != nil || v == nil {
			return err
		}
		e, err := answerOf(v)
		if err != nil {
			return err
		}
		return r.hear(task, s, e, true)
	}
	request, err := r.request(s)
	if err != nil {
		return err
	}
	e, refused, err := s.agent.Model.Answer(task, s.d, request, func(text []byte, thought bool) error {
		e := &session.Event{Role: "model", HasContent: true, Partial: true}
		e.AddText(text, thought, nil)
		return r.hear(task, s, e, false)
	})
	if err != nil {
		return err
	}
	s.refused = refused
	return r.hear(task, s, e, true)
}

// Respond takes an answer that host code gives in a step, or a part of a stream of one. It returns when that was
// delivered.
func (r *Run) Respond(task runtime.Task, context uint32, v []byte) error {
	s, err := r.stepOf(context)
	if err != nil {
		return err
	}
	e, err := answerOf(v)
	if err != nil {
		return err
	}
	return s.of.hear(task, s, e, false)
}

// stepOf is the running step of a context.
//
//go:noinline
func (r *Run) stepOf(context uint32) (*step, error) {
	for s := r.steps; s != nil; s = s.next {
		if s.context == context {
			return s, nil
		}
	}
	return nil, fault.New(fault.CallAfterEnd, "the model call has ended")
}

// hear takes an answer of the model, or a part of a stream of one. ahead is that of a sink.
func (r *Run) hear(task runtime.Task, s *step, e *session.Event, ahead bool) error {
	if s.err != nil {
		return stoppedBy(s.err)
	}
	if r.has(s.agent, AfterModel) {
		v, err := r.ask(task, &s.scope, AfterModel, e.Append(nil), &s.actions)
		if err == nil && v != nil {
			partial := e.Partial
			if e, err = r.answerOf(v); err == nil {
				e.Partial = partial
			}
		}
		if err != nil {
			s.err = err
			return err
		}
	}
	if s.err = r.take(task, s, e, ahead); s.err != nil {
		return stoppedBy(s.err)
	}
	return nil
}

// answerOf reads an answer that the callback gave which was called last.
func (r *Run) answerOf(v []byte) (*session.Event, error) {
	e, err := answerOf(v)
	if err != nil {
		err = r.wrong(err, "")
	}
	return e, err
}

// takeValue takes an answer that a callback gave.
func (r *Run) takeValue(task runtime.Task, s *step, v []byte) error {
	e, err := r.answerOf(v)
	if err != nil {
		return err
	}
	return r.take(task, s, e, true)
}

// take gives an event of the agent, which is an answer or a part of a stream of one.
func (r *Run) take(task runtime.Task, s *step, e *session.Event, ahead bool) error {
	e.Author, e.Branch = s.agent.Name, s.branch
	s.streams = e.Partial
	if e.Partial {
		e.Actions = s.actions
		return s.out(task, e, false)
	}
	s.given = true
	if s.await != nil { // two agents must not give their calls the same id, nor ids by their timing
		s.await(task)
	}
	calls, err := r.identify(task, s, e)
	if err != nil {
		return err
	}
	if key := s.agent.OutputKey; key != "" && len(calls) == 0 && e.HasContent && e.Final() {
		if text, some := textOf(e.Parts); some {
			s.actions.MergeState([]session.Member{{Name: key, Value: value.AppendText(nil, text)}})
		}
	}
	s.actions.Merge(&e.Actions)
	e.Actions = s.actions
	s.actions = session.Actions{}
	if err := s.out(task, e, ahead); err != nil {
		return err
	}
	s.calls = append(s.calls, calls...)
	return nil
}

// textOf is the text of a content without its thoughts.
func textOf(parts []session.Part) (text []byte, some bool) {
	for i := range parts {
		if p := &parts[i]; p.Kind == session.PartText {
			text, some = append(text, p.Text...), true
		}
	}
	return text, some
}

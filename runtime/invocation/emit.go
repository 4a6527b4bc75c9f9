package invocation

import (
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/session"
)

// sink takes the events of an agent, and returns when the agent may go on. An error ends the agent. An agent that tells
// host code nothing of an event may go on ahead of it: what it asks host code for next happens when the event has been
// handled, and fails with the event.
type sink func(task runtime.Task, e *session.Event, ahead bool) error

// emit is the sink of the agent that answers: it stores and delivers.
func (r *Run) emit(task runtime.Task, e *session.Event, ahead bool) error {
	r.complete(e)
	if err := r.replace(task, e); err != nil {
		return err
	}
	if !ahead {
		return r.store(task, e, true, nil)
	}
	return r.store(task, e, true, r.failed)
}

// fail has nothing stored any more.
func (r *Run) fail(err error) {
	if r.stopped == nil {
		r.stopped = err
	}
}

// complete gives an event what its agent left out.
func (r *Run) complete(e *session.Event) {
	if e.ID == "" {
		e.ID = r.turn.NewID("e")
	}
	if e.InvocationID == "" {
		e.InvocationID = r.id
	}
	if e.Timestamp == 0 {
		e.Timestamp = r.turn.Now + int64(r.turn.Elapsed())
	}
}

// replace lets plugins put another event in the place of one.
func (r *Run) replace(task runtime.Task, e *session.Event) error {
	for i := range r.team.Plugins {
		if r.team.Plugins[i].Hooks&(1<<OnEvent) == 0 {
			continue
		}
		var actions session.Actions
		v, err := r.plugin(task, i, OnEvent, nil, e.Append(nil), &actions)
		if err != nil {
			return err
		}
		if v != nil {
			other, err := session.Parse(v)
			if err != nil {
				return r.wrong(err, "")
			}
			other.Author, other.Partial = e.Author, e.Partial
			r.complete(other)
			*e = *other
		}
		e.Actions.Merge(&actions)
	}
	return nil
}

// overtake notes why an event of an author could not be stored that the invocation had gone ahead of: it has failed
// with that, whatever came of it.
func (r *Run) overtake(author string, err error) {
	err = r.refused(author, err)
	r.fail(err)
	r.overtaken = err
}

// store stores an event that is not partial, and delivers it if deliver says so. It waits until the caller asks for
// the next one, unless failed is to hear if it cannot be stored. Events of agents that run at once take turns.
func (r *Run) store(task runtime.Task, e *session.Event, deliver bool, failed Failed) error {
	r.complete(e)
	if r.busy {
		task.Wait(func() bool { return !r.busy })
	}
	err := r.halted()
	if err != nil {
		return err
	}
	r.busy = true
	err = r.put(task, e, deliver, failed)
	r.busy = false
	if err != nil && err != needless && (fault.Is(err, session.InvocationStopped) || !e.Partial) {
		r.fail(err)
	}
	return err
}

func (r *Run) put(task runtime.Task, e *session.Event, deliver bool, failed Failed) error {
	if e.Partial {
		return r.world.Deliver(task, 0, e.Append(nil))
	}
	delta := e.Actions.StateDelta
	if err := r.state.Check(delta); err != nil {
		return err
	}
	w := &r.write
	e.Write(w, r.team.App, r.User)
	err := r.refused(e.Author, r.world.Append(task, w, deliver, failed))
	if err != nil && !fault.Is(err, session.InvocationStopped) {
		return err
	}
	// An event after which the caller stops is stored.
	if failure := r.note(e, w.Event, delta); failure != nil {
		return failure
	}
	return err
}

// refused is an error of the store. Where the store refuses an agent's event, the text ends with the agent's name.
func (r *Run) refused(author string, err error) error {
	e, ok := err.(*fault.Error)
	if !ok || e.Code != session.InvalidEvent || r.team.Find(author) == nil {
		return err
	}
	return &fault.Error{
		Code: e.Code, Message: joined(e.Message, " (agent ", quote(author), ")"), Status: e.Status, Fatal: e.Fatal, Details: e.Details,
	}
}

// note takes an event, which is stored as body, into the log, and what it changes into the state.
func (r *Run) note(e *session.Event, body []byte, delta []session.Member) error {
	r.Log.AddEvent(e, body)
	return r.state.Apply(delta)
}

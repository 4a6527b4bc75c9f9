package session

// Write is what one transaction of a session's store writes.
type Write struct {
	Author    string // of the event
	Event     []byte // value
	State     []Change
	Artifacts []ArtifactChange
}

// Write sets w to what storing the event of an application's user writes. The event loses what a store never has:
// changes of the scope temp.
func (e *Event) Write(w *Write, app, user string) {
	delta := e.Actions.StateDelta
	e.Actions.StateDelta = Persistent(delta)
	w.Author, w.Event = e.Author, e.Append(nil)
	w.State, w.Artifacts = Changes(app, user, delta), Artifacts(app, user, e.Actions.ArtifactDelta)
}

// Create sets w to the write that creates a session: the event of the author system, with those of the initial values
// that are the session's own. state is a map of names with their scopes, nil for none. It fails with E_INVALID_STATE.
func Create(w *Write, app, user, id string, now int64, state []byte) error {
	e := &Event{ID: id, Author: "system", Timestamp: now}
	if state == nil {
		e.Write(w, app, user)
		return nil
	}
	s, err := NewState(state)
	if err != nil {
		return err
	}
	for i := range s.list {
		if m := &s.list[i]; m.scope() == ScopeSession {
			e.Actions.StateDelta = addMember(e.Actions.StateDelta, m.Name, m.Value)
		}
	}
	e.Write(w, app, user)
	w.State = Changes(app, user, s.list)
	return nil
}

package session

// Write is what one transaction of a session's store writes.
type Write struct {
	Author    string // of the event
	Event     []byte // value
	State     []Change
	Artifacts []ArtifactChange
}

// Write returns what storing the event of an application's user writes. The event loses what a store never has: changes
// of the scope temp.
func (e *Event) Write(app, user string) Write {
	delta := e.Actions.StateDelta
	e.Actions.StateDelta = Persistent(delta)
	return Write{
		Author: e.Author, Event: e.Append(nil), State: Changes(app, user, delta), Artifacts: Artifacts(app, user, e.Actions.ArtifactDelta),
	}
}

// Create returns the write that creates a session: the event of the author system, with those of the initial values
// that are the session's own. state is a map of names with their scopes, nil for none. It fails with E_INVALID_STATE.
func Create(app, user, id string, now int64, state []byte) (Write, error) {
	e := &Event{ID: id, Author: "system", Timestamp: now}
	if state == nil {
		return e.Write(app, user), nil
	}
	s, err := NewState(state)
	if err != nil {
		return Write{}, err
	}
	for i := range s.list {
		if m := &s.list[i]; m.scope() == ScopeSession {
			e.Actions.StateDelta = addMember(e.Actions.StateDelta, m.Name, m.Value)
		}
	}
	w := e.Write(app, user)
	w.State = Changes(app, user, s.list)
	return w, nil
}

package sessions

import "slices"

// PendingCall is a function call that waits for an answer from outside: of a long-running tool, or of a person who is
// to confirm it. [Answer] and [Confirm] make the message that answers it.
type PendingCall struct {
	ID   string
	Name string
	// Args are those with which the tool runs.
	Args map[string]any
	// Confirmation is what a person is asked; nil for a call that waits for its result.
	Confirmation *Confirmation
	// Author is the agent that made the call. A runner whose agents have an LLM agent of the name takes the answer.
	Author       string
	InvocationID string
	EventID      string
}

// PendingCalls are the calls of a session's events that wait for an answer from outside, in order. Those of invocations
// that were rewound wait no more.
func PendingCalls(events []*Event) []PendingCall {
	var list []PendingCall
	var at []int // the events of the calls
	for i, e := range events {
		if before := e.Actions.RewindBeforeInvocationID; before != "" {
			from := slices.IndexFunc(events[:i], func(e *Event) bool { return e.InvocationID == before })
			for n := len(list); n > 0 && from >= 0 && at[n-1] >= from; n = len(list) {
				list, at = list[:n-1], at[:n-1]
			}
			continue
		}
		for _, c := range e.FunctionCalls() {
			if slices.Contains(e.LongRunningToolIDs, c.ID) {
				list, at = append(list, pendingCall(e, c)), append(at, i)
			}
		}
		if e.Author != "user" {
			continue // an agent's result of a long-running call is not the last one
		}
		for _, r := range e.FunctionResponses() {
			if n := slices.IndexFunc(list, func(p PendingCall) bool { return p.ID == r.ID }); n >= 0 {
				list, at = slices.Delete(list, n, n+1), slices.Delete(at, n, n+1)
			}
		}
	}
	return list
}

func pendingCall(e *Event, c *FunctionCall) PendingCall {
	p := PendingCall{ID: c.ID, Name: c.Name, Args: c.Args, Author: e.Author, InvocationID: e.InvocationID, EventID: e.ID}
	if asked, ok := e.Actions.RequestedConfirmations[c.ID]; ok {
		p.Confirmation = &asked
		if asked.Args != nil {
			p.Args = asked.Args
		}
	}
	return p
}

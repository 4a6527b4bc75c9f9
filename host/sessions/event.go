package sessions

import (
	"slices"
	"time"
)

// Event is something that happened in an invocation: the user's message, an agent's answer or a part of it, results of
// tools, or a change of the state. It is plain data. Do not change an event that you were given.
//
// Its JSON has the members of the fields' names in lower camel case, such as invocationId, in this order, without those
// that are empty, false or 0; Timestamp is in ms since the Unix epoch.
type Event struct {
	ID           string // unique in the session; the runner makes one for an event without
	InvocationID string
	Author       string    // "user", or the name of an agent
	Timestamp    time.Time // to the millisecond
	// Branch tells events of agents that run at once apart: names of agents from a parallel one on, joined by dots.
	Branch  string
	Content *Content // nil for none

	Partial      bool // part of a stream: the event is not stored
	TurnComplete bool
	Interrupted  bool
	FinishReason string
	ErrorCode    string
	ErrorMessage string
	Usage        *Usage // nil if it is not known
	// LongRunningToolIDs are the ids of those function calls of Content that wait for an answer from outside.
	LongRunningToolIDs []string
	CustomMetadata     map[string]any
	Actions            Actions
}

// Usage counts the tokens of a model call.
type Usage struct {
	PromptTokens, CompletionTokens, TotalTokens, CachedTokens, ReasoningTokens int
	// More are further members, as the model gave them.
	More map[string]any
}

// Actions are what an event does besides its content.
type Actions struct {
	// StateDelta are changes of the state, by names with their scopes. nil deletes.
	StateDelta map[string]any
	// ArtifactDelta are the versions of artifacts that the event adds, from 0, by their names.
	ArtifactDelta map[string]int
	// SkipSummarization ends an agent's turn with the results of its tools: the model does not see them in this
	// invocation.
	SkipSummarization bool
	// TransferToAgent names the agent that goes on.
	TransferToAgent string
	// Escalate ends the innermost loop that the agent is in.
	Escalate bool
	// RequestedConfirmations ask a person before function calls run, by the ids of the calls.
	RequestedConfirmations map[string]Confirmation
	// Compaction stands for earlier events in what models see.
	Compaction map[string]any
	// RewindBeforeInvocationID hides the events of that invocation and all later ones from models.
	RewindBeforeInvocationID string
	// More are further members.
	More map[string]any
}

// Empty reports whether the actions do nothing.
func (a *Actions) Empty() bool {
	return len(a.StateDelta)+len(a.ArtifactDelta)+len(a.RequestedConfirmations)+len(a.Compaction)+len(a.More) == 0 &&
		!a.SkipSummarization && !a.Escalate && a.TransferToAgent == "" && a.RewindBeforeInvocationID == ""
}

// Confirmation is what a person is asked before a function call runs. The answer is a FunctionResponse with the call's
// id whose Response has a member confirmed, true or false.
type Confirmation struct {
	Hint    string // "" for none
	Payload any    // nil for none
	Name    string // of the tool
	Args    map[string]any
}

// IsFinalResponse reports whether the event ends an agent's turn, as far as can be told from itself: it is not partial
// and has neither function calls nor results, or it skips the summary of results, or it waits for an answer from
// outside.
func (e *Event) IsFinalResponse() bool {
	if e.Actions.SkipSummarization || len(e.LongRunningToolIDs) > 0 {
		return true
	}
	if e.Partial {
		return false
	}
	var parts []Part
	if e.Content != nil {
		parts = e.Content.Parts
	}
	pending := func(p Part) bool { return p.FunctionCall != nil || p.FunctionResponse != nil }
	return !slices.ContainsFunc(parts, pending) && (len(parts) == 0 || parts[len(parts)-1].CodeExecutionResult == nil)
}

// Text is the text of the event's content, without thoughts.
func (e *Event) Text() string {
	if e.Content == nil {
		return ""
	}
	return e.Content.Text()
}

// FunctionCalls are the function calls of the event's content, in order.
func (e *Event) FunctionCalls() []*FunctionCall {
	var list []*FunctionCall
	if e.Content != nil {
		for i := range e.Content.Parts {
			if c := e.Content.Parts[i].FunctionCall; c != nil {
				list = append(list, c)
			}
		}
	}
	return list
}

// FunctionResponses are the results of function calls in the event's content, in order.
func (e *Event) FunctionResponses() []*FunctionResponse {
	var list []*FunctionResponse
	if e.Content != nil {
		for i := range e.Content.Parts {
			if r := e.Content.Parts[i].FunctionResponse; r != nil {
				list = append(list, r)
			}
		}
	}
	return list
}

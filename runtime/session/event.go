package session

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/suggestion"
)

// Event is something that happened in a session: what somebody said, and what that does. An event without content may
// still change the state.
type Event struct {
	ID           string // unique in the session
	InvocationID string
	Author       string // "user", an agent's name, or "system" for the event that creates a session
	Timestamp    int64  // ms since the Unix epoch
	Branch       string // names from a parallel agent on, joined by dots; empty outside of one
	Role         string // of the content: "user", "model" or empty
	Parts        []Part
	HasContent   bool
	Partial      bool // part of a stream, never stored
	TurnComplete bool // as the model says
	Interrupted  bool // as the model says
	FinishReason string
	ErrorCode    string
	ErrorMessage string
	Usage        []byte   // map, nil for none
	LongRunning  []string // ids of function calls that wait for an answer from outside
	Metadata     []byte   // map, nil for none
	Actions      Actions
}

// Places of members that this package treats by themselves.
const (
	eventID          = 0
	eventInvocation  = 1
	eventAuthor      = 2
	eventTimestamp   = 3
	eventBranch      = 4
	eventContent     = 5
	eventPartial     = 6
	eventUsage       = 12
	eventLongRunning = 13
	eventActions     = 15
)

// eventMembers are the members of an event, in the order in which they are written.
var eventMembers = [...]string{
	"id", "invocationId", "author", "timestamp", "branch", "content", "partial", "turnComplete", "interrupted", "finishReason",
	"errorCode", "errorMessage", "usage", "longRunningToolIds", "customMetadata", "actions",
}

// Parse reads an event, a map. Members may come in any order; those that are nil are missing. Parts and values of the
// event are parts of v, which must stay as it is. Parse fails with E_INVALID_EVENT or E_INVALID_STATE, which name the
// member.
func Parse(v []byte) (*Event, error) {
	f := distinct(v)
	e := &Event{}
	if f == nil {
		f = e.read(v, true)
	}
	if f != nil {
		return nil, f.error()
	}
	return e, nil
}

// content is the part of an event that its content is kept in.
type content Event

// kept is where the event keeps its members.
func (e *Event) kept() [len(eventMembers)]any {
	return [...]any{
		&e.ID, &e.InvocationID, &e.Author, &e.Timestamp, &e.Branch, (*content)(e), &e.Partial, &e.TurnComplete, &e.Interrupted,
		&e.FinishReason, &e.ErrorCode, &e.ErrorMessage, &e.Usage, &e.LongRunning, &e.Metadata, &e.Actions,
	}
}

// read reads an event. A lenient reader, for stored events, takes members that it does not know.
func (e *Event) read(v []byte, strict bool) *flaw {
	kept := e.kept()
	var r reader
	for r.members(v); r.next(); {
		switch i := indexOf(eventMembers[:], r.Key); i {
		case -1:
			if strict {
				r.f = invalid(unknown(string(r.Key)))
			}
		case eventContent:
			e.HasContent = true
			e.Role, e.Parts, r.f = readContent(r.Value, strict)
		case eventUsage:
			r.f = readUsage(r.Value, &e.Usage)
		case eventLongRunning:
			r.f = e.readLongRunning(r.Value)
		case eventActions:
			r.f = e.Actions.read(r.Value, strict)
		default:
			r.f = readKept(r.Value, kept[i])
		}
	}
	return r.f
}

func (e *Event) readLongRunning(v []byte) *flaw {
	var r reader
	for r.items(v); r.next(); {
		var id string
		if r.f = text(r.Value, &id); r.f == nil && id == "" {
			r.f = invalid(wantName)
		}
		e.LongRunning = append(e.LongRunning, id)
	}
	return r.f
}

func unknown(name string) string {
	what := "is not a member of an event"
	if meant := suggestion.Of(name, eventMembers[:]); meant != "" {
		what += "; did you mean " + meant + "?"
	}
	return what
}

func readUsage(v []byte, to *[]byte) *flaw {
	if f := filled(v, to); f != nil {
		return f
	}
	n := &count{}
	return named(v, usageCounts[:], n, n, n, n, n)
}

// UsageOf is what an event tells of the stats of a model call, a map; nil for nothing.
func UsageOf(stats []byte) []byte {
	list := make([]Member, 0, len(usageCounts))
	for _, name := range usageCounts {
		if v, ok := value.Get(stats, name); ok {
			list = addMember(list, name, v)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return appendAll(value.AppendMapHeader(nil, len(list)), list)
}

var usageCounts = [...]string{"promptTokens", "completionTokens", "totalTokens", "cachedTokens", "reasoningTokens"}

// Append appends the event, a map. Members that are empty, false or 0 are left out.
func (e *Event) Append(dst []byte) []byte {
	if dst == nil {
		dst = make([]byte, 0, e.size())
	}
	kept := e.kept()
	return appendKept(dst, eventMembers[:], kept[:], nil)
}

// AddPart adds a part to the content.
func (e *Event) AddPart(p *Part) { e.Parts = addPart(e.Parts, p) }

// AddText adds a text, or a thought, to the content. The signature is that of [NewThought].
func (e *Event) AddText(text []byte, thought bool, signature []byte) {
	part := NewText(string(text))
	if thought {
		part = NewThought(string(text), signature)
	}
	e.AddPart(&part)
}

// size is about the number of bytes of the event.
func (e *Event) size() int {
	n := 96 + len(e.ID) + len(e.InvocationID) + len(e.Author) + len(e.Branch) + len(e.ErrorMessage) + len(e.Usage) + len(e.Metadata)
	for i := range e.Parts {
		n += len(e.Parts[i].Raw)
	}
	for i := range e.Actions.StateDelta {
		m := &e.Actions.StateDelta[i]
		n += 32 + len(m.Name) + len(m.Value)
	}
	return n
}

// Final reports whether the event is an answer that its agent gives for good: it skips the summary of results, or a
// call waits for an answer from outside, or it is whole and neither calls a function nor responds to a call nor ends in
// the result of code.
func (e *Event) Final() bool {
	if e.Actions.SkipSummarization || len(e.LongRunning) > 0 {
		return true
	}
	for i := range e.Parts {
		switch e.Parts[i].Kind {
		case PartCall, PartResponse:
			return false
		case PartCodeResult:
			if i == len(e.Parts)-1 {
				return false
			}
		}
	}
	return !e.Partial
}

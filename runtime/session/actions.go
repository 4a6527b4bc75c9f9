package session

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/suggestion"
)

// Member is a member of a map.
type Member struct {
	Name  string
	Value []byte // in changes of the state, the encoding of nil, or no bytes, deletes
}

// ArtifactVersion is a version of an artifact that an event adds.
type ArtifactVersion struct {
	Name    string
	Version uint32 // from 0
}

// Actions are what an event does besides what it says.
type Actions struct {
	StateDelta        []Member // names with their scopes
	ArtifactDelta     []ArtifactVersion
	SkipSummarization bool     // no model sees the results of the event's function responses
	TransferToAgent   string   // the agent that goes on
	Escalate          bool     // the loop around the agent ends
	Confirmations     []Member // by id of a function call, a map of name, args, hint and payload
	Compaction        []byte   // map of first and last, ids of the events that the event's content stands for
	RewindBefore      string   // the invocation that the event undoes, with all that followed
	Others            []Member // further members, as they were given
}

// Places of members that this package treats by themselves.
const (
	actionState         = 0
	actionArtifacts     = 1
	actionConfirmations = 5
	actionCompaction    = 6
	actionRewind        = 7
)

// actionMembers are the members of actions, in the order in which they are written.
var actionMembers = [...]string{
	"stateDelta", "artifactDelta", "skipSummarization", "transferToAgent", "escalate", "requestedConfirmations", "compaction",
	"rewindBeforeInvocationId",
}

// ParseActions reads actions, a map. Values are parts of v. It fails with E_INVALID_EVENT or E_INVALID_STATE, which
// name the member.
func ParseActions(v []byte) (*Actions, error) {
	a := &Actions{}
	f := distinct(v)
	if f == nil {
		f = a.read(v, true)
	}
	if f != nil {
		return nil, f.error()
	}
	return a, nil
}

// kept is where the actions keep their members.
func (a *Actions) kept() [len(actionMembers)]any {
	return [...]any{
		&a.StateDelta, &a.ArtifactDelta, &a.SkipSummarization, &a.TransferToAgent, &a.Escalate, &a.Confirmations, &a.Compaction,
		&a.RewindBefore,
	}
}

func (a *Actions) read(v []byte, strict bool) *flaw {
	kept := a.kept()
	var r reader
	for r.members(v); r.next(); {
		switch i := indexOf(actionMembers[:], r.Key); i {
		case -1:
			if meant := suggestion.Of(string(r.Key), actionMembers[:]); meant != "" && strict {
				r.f = invalid("is not a member of actions; did you mean " + meant + "?")
			}
			a.Others = r.add(a.Others)
		case actionState:
			r.f = readDelta(r.Value, &a.StateDelta, strict)
		case actionArtifacts:
			r.f = a.readArtifacts(r.Value)
		case actionConfirmations:
			r.f = a.readConfirmations(r.Value)
		case actionCompaction:
			a.Compaction = r.Value
			_, _, r.f = readCompaction(r.Value)
		default:
			r.f = readKept(r.Value, kept[i])
		}
	}
	return r.f
}

// add adds what has been read last to a list.
func (r *reader) add(list []Member) []Member {
	return addMember(list, value.UTF8(string(r.Key)), r.Value)
}

//go:noinline
func addMember(list []Member, name string, v []byte) []Member {
	return append(list, Member{name, v})
}

func (a *Actions) readArtifacts(v []byte) *flaw {
	var r reader
	for r.members(v); r.next(); {
		n, ok := value.Int(r.Value)
		if !ok || n < 0 || n > 1<<32-1 {
			r.f = invalid(wantCount)
		}
		a.ArtifactDelta = append(a.ArtifactDelta, ArtifactVersion{value.UTF8(string(r.Key)), uint32(n)})
	}
	return r.f
}

// readDelta reads changes of the state. Members that are nil stay: they delete.
func readDelta(v []byte, to *[]Member, strict bool) *flaw {
	var r reader
	for r.members(v); r.f == nil && r.Next(); {
		*to = r.add(*to)
		if strict {
			r.f = (*to)[len(*to)-1].check()
		}
	}
	return r.f
}

func (a *Actions) readConfirmations(v []byte) *flaw {
	var r reader
	for r.members(v); r.next(); {
		a.Confirmations = r.add(a.Confirmations)
		var s string
		var args []byte
		r.f = named(r.Value, confirmationMembers[:], &s, &s, &args)
	}
	return r.f
}

var (
	confirmationMembers = [...]string{"name", "hint", "args"}
	compactionMembers   = [...]string{"first", "last"}
)

// readCompaction returns the ids of the first and the last event that a compaction stands for.
func readCompaction(v []byte) (first, last string, f *flaw) {
	f = named(v, compactionMembers[:], &first, &last)
	if f == nil && first == "" {
		f = invalid("must be the id of an event").in("first")
	}
	if f == nil && last == "" {
		f = invalid("must be the id of an event").in("last")
	}
	return first, last, f
}

// Confirm adds what somebody is asked to confirm about the function call of an id.
func (a *Actions) Confirm(id string, asked []byte) {
	a.Confirmations = addMember(a.Confirmations, id, asked)
}

// Empty reports whether there are no actions.
func (a *Actions) Empty() bool {
	return len(a.StateDelta)|len(a.ArtifactDelta)|len(a.TransferToAgent)|len(a.Confirmations)|len(a.Compaction)|
		len(a.RewindBefore)|len(a.Others) == 0 && !a.SkipSummarization && !a.Escalate
}

// Append appends the actions, a map.
func (a *Actions) Append(dst []byte) []byte {
	kept := a.kept()
	return value.OrderMap(appendKept(dst, actionMembers[:], kept[:], a.Others), len(dst))
}

// Merge adds the actions of b, which came later: its members win, of two versions of an artifact the higher one, and
// what either of them asks for is asked for. Slices that a shares with others stay as they are.
func (a *Actions) Merge(b *Actions) {
	if b.Empty() {
		return
	}
	a.MergeState(b.StateDelta)
	a.Confirmations = united(a.Confirmations, b.Confirmations)
	a.Others = united(a.Others, b.Others)
	a.MergeArtifacts(b.ArtifactDelta)
	a.SkipSummarization = a.SkipSummarization || b.SkipSummarization
	a.Escalate = a.Escalate || b.Escalate
	if b.TransferToAgent != "" {
		a.TransferToAgent = b.TransferToAgent
	}
	if len(b.Compaction) > 0 {
		a.Compaction = b.Compaction
	}
	if b.RewindBefore != "" {
		a.RewindBefore = b.RewindBefore
	}
}

// MergeState is Merge for changes of the state.
func (a *Actions) MergeState(b []Member) { a.StateDelta = united(a.StateDelta, b) }

// united is a followed by those members of b that a lacks; the others have the values of b.
func united(a, b []Member) []Member {
	switch {
	case len(b) == 0:
		return slices.Clip(a)
	case len(a) == 0:
		return slices.Clip(b)
	}
	out := make([]Member, len(a), len(a)+len(b))
	copy(out, a)
	places := make(map[string]int, len(a))
	for i := range a {
		places[a[i].Name] = i
	}
	for k := range b {
		m := &b[k]
		if i, ok := places[m.Name]; ok {
			out[i].Value = m.Value
			continue
		}
		places[m.Name] = len(out)
		out = addMember(out, m.Name, m.Value)
	}
	return out
}

// MergeArtifacts is Merge for versions of artifacts.
func (a *Actions) MergeArtifacts(b []ArtifactVersion) {
	if len(b) == 0 {
		return
	}
	out := make([]ArtifactVersion, len(a.ArtifactDelta), len(a.ArtifactDelta)+len(b))
	copy(out, a.ArtifactDelta)
	for k := range b {
		v, i := &b[k], 0
		for i < len(out) && out[i].Name != v.Name {
			i++
		}
		if i == len(out) {
			out = append(out, *v)
		} else {
			out[i].Version = max(out[i].Version, v.Version)
		}
	}
	a.ArtifactDelta = out
}

package session

import (
	"sort"
	"strconv"

	"github.com/turncore/turncore/abi/value"
)

// RewindBefore returns the changes that give the session's own state the values that it had before an invocation, in
// the order of the names' bytes. Values that the session was created with count. What all sessions of the user or of
// the application share stays as it is. It fails with E_INVOCATION_NOT_FOUND if no event is of the invocation, or if a
// later event undid it.
func (l *Log) RewindBefore(invocation string) ([]Member, error) {
	l.index()
	from, ok := l.invocations[invocation]
	if !ok {
		return nil, New(InvocationNotFound, "rewindBeforeInvocationId", strconv.Quote(invocation))
	}
	type change struct {
		name  string
		v     []byte
		since bool // not before the invocation
	}
	var list []change
	for i, e := range l.entries {
		var c value.Cursor
		for c.Over(e.delta()); c.Next(); {
			name := string(c.Key)
			if scope, _ := Scope(name); scope == ScopeSession {
				list = append(list, change{name, c.Value, i >= from})
			}
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].name < list[j].name })
	var delta []Member
	for len(list) > 0 {
		name, before, after := list[0].name, null, []byte(nil)
		for len(list) > 0 && list[0].name == name {
			if list[0].since {
				after = list[0].v
			} else {
				before = list[0].v
			}
			list = list[1:]
		}
		if after != nil && string(before) != string(after) {
			delta = addMember(delta, name, before)
		}
	}
	return delta, nil
}

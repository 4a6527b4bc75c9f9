package session

import (
	"slices"
	"strconv"

	"github.com/turncore/turncore/abi/value"
)

// RewindBefore returns the changes that give the session's own state the values that it had before an invocation, in the
// order of the names' bytes. Values that the session was created with count. What all sessions of the user or of the
// application share stays as it is. It fails with E_INVOCATION_NOT_FOUND if no event is of the invocation, or if a later
// event undid it.
func (l *Log) RewindBefore(invocation string) ([]Member, error) {
	l.index()
	from, ok := l.invocations[invocation]
	if !ok {
		return nil, New(InvocationNotFound, "rewindBefore", strconv.Quote(invocation))
	}
	// Only names that changed since can differ.
	type change struct{ before, after []byte }
	changes := make(map[string]*change)
	var names []string
	for i := int(from); i < len(l.entries); i++ {
		l.eachChange(i, func(name, v []byte) {
			c := changes[string(name)]
			if c == nil {
				c = &change{}
				changes[string(name)] = c
				names = append(names, string(name))
			}
			c.after = v
		})
	}
	for i := range l.entries[:from] {
		l.eachChange(i, func(name, v []byte) {
			if c := changes[string(name)]; c != nil {
				c.before = v
			}
		})
	}
	slices.Sort(names)
	var delta []Member
	for _, name := range names {
		if c := changes[name]; string(orNil(c.before)) != string(orNil(c.after)) {
			delta = append(delta, Member{name, orNil(c.before)})
		}
	}
	return delta, nil
}

// eachChange calls fn for each change that the i-th event makes in the session's own state.
func (l *Log) eachChange(i int, fn func(name, v []byte)) {
	if l.entries[i].delta == nil {
		return
	}
	_ = value.Each(l.entries[i].delta, func(name, v []byte) bool {
		if scope, _ := Scope(string(name)); scope == ScopeSession {
			fn(name, v)
		}
		return true
	})
}

package sessions

import (
	"maps"
	"slices"
	"time"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/wire"
)

// snapshot is a session at a revision. It does not change.
type snapshot struct {
	revision string
	updated  time.Time
	events   events
	// last and before are the revisions that the last event came with and the one before it; "" for none.
	last, before string
	state        map[string][]byte // values by names with their scopes
}

// change is a change of a value of the state; nil deletes.
type change struct {
	name  string
	value []byte
}

// with is the session after an append: body is nil if there was no event.
func (s snapshot) with(revision string, body []byte, changes []change) snapshot {
	s.revision = revision
	if body != nil {
		s.events = s.events.followedBy(body)
		s.last, s.before = revision, s.last
	}
	if len(changes) > 0 {
		s.state = maps.Clone(s.state)
		if s.state == nil {
			s.state = make(map[string][]byte)
		}
		for _, c := range changes {
			if wire.IsNil(c.value) {
				delete(s.state, c.name)
			} else {
				s.state[c.name] = slices.Clone(c.value)
			}
		}
	}
	return s
}

// stateValue is the state as the core gets it.
func (s *snapshot) stateValue() []byte {
	v := value.AppendMapHeader(nil, len(s.state))
	for _, name := range slices.Sorted(maps.Keys(s.state)) {
		v = append(value.AppendString(v, name), s.state[name]...)
	}
	return v
}

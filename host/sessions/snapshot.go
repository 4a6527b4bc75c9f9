package sessions

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
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
	part         bool              // its first events are left out, among them the one that created the session
}

// shown is how many of its events users see, and hidden how many come before these.
func (s *snapshot) shown() int { return s.events.count - s.hidden() }

func (s *snapshot) hidden() int {
	if s.part || s.events.count == 0 {
		return 0
	}
	return 1 // the first one created the session
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

// checkSize fails with E_INVALID_STATE, which names the value, a member of in, if the state would be too large for an
// invocation.
func (s *snapshot) checkSize(in string, changes []change) error {
	size := 0
	for name, v := range s.state {
		size += len(name) + len(v)
	}
	later := make(map[string]int, len(changes)) // what each name has after the changes so far
	for _, c := range changes {
		was, changed := later[c.name]
		if v, there := s.state[c.name]; !changed && there {
			was = len(c.name) + len(v)
		}
		now := 0
		if c.value != nil {
			now = len(c.name) + len(c.value)
		}
		later[c.name] = now
		if size += now - was; now > 0 && size > abi.MaxState {
			return invalid(host.CodeInvalidState, in+c.name, errors.New("the state has at most "+strconv.Itoa(abi.MaxState)+" bytes"))
		}
	}
	return nil
}

// stateValue is the state as the core gets it.
func (s *snapshot) stateValue() []byte {
	const head = 5 // bytes of a map, or of a name
	names, size := make([]string, 0, len(s.state)), head
	for name, v := range s.state {
		names, size = append(names, name), size+head+len(name)+len(v)
	}
	slices.Sort(names)
	v := value.AppendMapHeader(make([]byte, 0, size), len(names))
	for _, name := range names {
		v = append(value.AppendString(v, name), s.state[name]...)
	}
	return v
}

package session

import (
	"sort"
	"strconv"

	"github.com/turncore/turncore/abi/value"
)

// State is what an invocation sees of the state: values by name, with their scopes.
type State struct {
	list []Member // by name
	size int      // bytes of names and values
}

// NewState makes a state of a map of names with their scopes; nil is an empty one. It keeps v. It fails with
// E_INVALID_STATE, which names the value.
func NewState(v []byte) (*State, error) {
	s := &State{}
	if v == nil {
		return s, nil
	}
	var delta []Member
	f := distinct(v)
	if f == nil {
		f = readDelta(v, &delta, true)
	}
	if f != nil {
		f.code = InvalidState
		return nil, f.error()
	}
	if len(delta) == 0 {
		return s, nil
	}
	s.list = make([]Member, 0, len(delta))
	sort.SliceStable(delta, func(i, j int) bool { return delta[i].Name < delta[j].Name })
	return s, s.Apply(delta)
}

// find returns the place of a name, and whether there is a value.
func (s *State) find(name string) (int, bool) {
	i, end := 0, len(s.list)
	for i < end {
		if middle := (i + end) / 2; s.list[middle].Name < name {
			i = middle + 1
		} else {
			end = middle
		}
	}
	return i, i < len(s.list) && s.list[i].Name == name
}

// Get returns the value of a name, nil if there is none.
func (s *State) Get(name string) []byte {
	if i, ok := s.find(name); ok {
		return s.list[i].Value
	}
	return nil
}

// Set sets the value of a name, and deletes it if v is nil or encodes nil. It keeps v. It fails with E_INVALID_STATE
// and then changes nothing.
func (s *State) Set(name string, v []byte) error { return s.Apply([]Member{{name, v}}) }

// Members are the values by name, in the order of the names. The slice must not be changed, and holds until the state
// does.
func (s *State) Members() []Member { return s.list }

// Apply makes changes. It keeps their values. It fails with E_INVALID_STATE and then changes nothing.
func (s *State) Apply(delta []Member) error {
	if err := s.Check(delta); err != nil {
		return err
	}
	for k := range delta {
		m := &delta[k]
		i, ok := s.find(m.Name)
		if ok {
			s.size -= len(m.Name) + len(s.list[i].Value)
		}
		switch none := value.KindOf(m.Value) <= value.KindNil; {
		case none && ok:
			s.list = append(s.list[:i], s.list[i+1:]...)
			continue
		case none:
			continue
		case !ok:
			s.list = append(s.list, Member{})
			copy(s.list[i+1:], s.list[i:])
		}
		s.list[i] = *m
		s.size += len(m.Name) + len(m.Value)
	}
	return nil
}

// Check fails with E_INVALID_STATE, which names the value, if changes cannot be made.
func (s *State) Check(delta []Member) error {
	size := s.size
	for i := range delta {
		m := &delta[i]
		f := m.check()
		if f == nil && len(m.Value) > 0 {
			if f = distinct(m.Value); f != nil {
				f = f.in(m.Name)
				f.code = InvalidState
			}
		}
		if f != nil {
			return f.error()
		}
		if old := s.Get(m.Name); old != nil {
			size -= len(m.Name) + len(old)
		}
		if value.KindOf(m.Value) <= value.KindNil {
			continue
		}
		if size += len(m.Name) + len(m.Value); size > MaxState {
			return New(InvalidState, m.Name, "the state has at most "+strconv.Itoa(MaxState)+" bytes")
		}
	}
	return nil
}

// Append appends the state, a map of names with their scopes.
func (s *State) Append(dst []byte) []byte { return appendMembers(dst, s.list) }

package ledger

import (
	"maps"
	"slices"
)

// Scope has the values and the artifacts of a scope. Its zero value is empty. B is where a version has its bytes.
type Scope[B any] struct {
	Values    map[string][]byte
	Artifacts map[string][]Version[B]
}

// Version is a version of an artifact.
type Version[B any] struct {
	Bytes B
	Size  int64
	Body  []byte
}

// Set gives a value a name; nil deletes it.
func (s *Scope[B]) Set(name string, value []byte) {
	if value == nil {
		delete(s.Values, name)
		return
	}
	if s.Values == nil {
		s.Values = make(map[string][]byte)
	}
	s.Values[name] = value
}

// Add adds a version of an artifact.
func (s *Scope[B]) Add(name string, v Version[B]) {
	if s.Artifacts == nil {
		s.Artifacts = make(map[string][]Version[B])
	}
	s.Artifacts[name] = append(s.Artifacts[name], v)
}

// Names are the names of values in order, ArtifactNames those of artifacts.
func (s *Scope[B]) Names() []string {
	if len(s.Values) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(s.Values))
}

// ArtifactNames are the names of artifacts in order.
func (s *Scope[B]) ArtifactNames() []string { return slices.Sorted(maps.Keys(s.Artifacts)) }

// Clone returns the same state, which goes its own way.
func (s *Scope[B]) Clone() Scope[B] {
	c := Scope[B]{Values: maps.Clone(s.Values), Artifacts: maps.Clone(s.Artifacts)}
	for name, versions := range c.Artifacts {
		c.Artifacts[name] = slices.Clip(versions)
	}
	return c
}

// Empty tells whether there is nothing in the scope.
func (s *Scope[B]) Empty() bool { return len(s.Values)+len(s.Artifacts) == 0 }

// CloneAt returns the first versions of each artifact, as many as versions says, without values. ok is false if there
// are not that many.
func (s *Scope[B]) CloneAt(versions map[string]int) (c Scope[B], ok bool) {
	ok = true
	for name, n := range versions {
		switch all := s.Artifacts[name]; {
		case n < 0 || n > len(all):
			ok = false
		case n > 0:
			if c.Artifacts == nil {
				c.Artifacts = make(map[string][]Version[B])
			}
			c.Artifacts[name] = slices.Clip(all[:n])
		}
	}
	return c, ok
}

package turns

import "github.com/turncore/turncore/host/internal/turn"

// Stash is a context's key-value data, with which middleware passes data on. It holds JSON-like values; Set and Get
// copy them. A key is a path of steps separated by dots: "user.name" is "name" in the map "user", and "items.0" is
// the first element of a list.
//
// A dispatch's stash begins as a copy of its source's and is not copied back. All methods may be called from many
// goroutines.
type Stash struct {
	state *turn.Context
}

// context is the context whose stash it is.
func (s *Stash) context() *turn.Context {
	if s == nil || s.state == nil {
		panic("turns: a Stash belongs to a context: get one from the Stash method of a TurnContext or DispatchContext")
	}
	return s.state
}

// Get returns the value at a path as plain data: nil, bool, int64, float64, string, []byte, []any, map[string]any. ok
// is false if there is none.
func (s *Stash) Get(path string) (v any, ok bool) { return s.context().GetStash(path) }

// Has reports whether there is a value at a path, including null.
func (s *Stash) Has(path string) bool {
	_, ok := s.Get(path)
	return ok
}

// Set sets the value at a path. It creates missing maps on the path, and a list where the next step is a number. A
// value without an encoding fails with E_INVALID_VALUE, and so does a path through a plain value.
func (s *Stash) Set(path string, v any) error { return s.context().SetStash(path, v) }

// Delete removes the value at a path and reports whether there was one. In a list, nil replaces it.
func (s *Stash) Delete(path string) bool { return s.context().DeleteStash(path) }

// All returns the whole stash as plain data.
func (s *Stash) All() map[string]any { return s.context().AllStash() }

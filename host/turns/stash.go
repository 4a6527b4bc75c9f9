package turns

import (
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/wire"
)

// Stash is a context's key-value data, with which middleware passes data on. It holds JSON-like values; Set and Get
// copy them. A key is a path of steps separated by dots: "user.name" is "name" in the map "user", and "items.0" is
// the first element of a list.
//
// A dispatch's stash begins as a copy of its source's and is not copied back. All methods may be called from many
// goroutines.
type Stash struct {
	state *contextState
}

// turn is the turn of the context whose stash it is.
func (s *Stash) turn() *turn {
	if s == nil || s.state == nil {
		panic("turns: a Stash belongs to a context: get one from the Stash method of a TurnContext or DispatchContext")
	}
	return s.state.turn
}

// Get returns the value at a path as plain data: nil, bool, int64, float64, string, []byte, []any, map[string]any. ok
// is false if there is none.
func (s *Stash) Get(path string) (v any, ok bool) {
	t := s.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.state.stash.Get(strings.Split(path, "."))
}

// Has reports whether there is a value at a path, including null.
func (s *Stash) Has(path string) bool {
	_, ok := s.Get(path)
	return ok
}

// Set sets the value at a path. It creates missing maps on the path, and a list where the next step is a number. A
// value without an encoding fails with E_INVALID_VALUE, and so does a path through a plain value.
func (s *Stash) Set(path string, v any) error {
	// Encoding runs code of v's type, so that no lock may be held.
	data, err := wire.Append(nil, v, path)
	if err != nil {
		return newError(abi.CodeInvalidValue, err.Error(), err)
	}
	steps := strings.Split(path, ".")
	if path == "" {
		return newError(abi.CodeInvalidValue, "path: must be a non-empty string", nil)
	}
	if slices.Contains(steps, "") {
		return newError(abi.CodeInvalidValue, "path: "+path+" is no path", nil)
	}
	t := s.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	if data, err = s.state.stash.With(path, steps, data); err != nil {
		return err
	}
	if limit := t.core.maxBody(); len(data) > limit {
		return newError(abi.CodeInvalidValue, path+": "+strconv.Itoa(len(data))+" bytes, at most "+strconv.Itoa(limit)+" fit a frame", nil)
	}
	s.put(steps[0], data)
	return nil
}

// Delete removes the value at a path and reports whether there was one. In a list, nil replaces it.
func (s *Stash) Delete(path string) bool {
	steps := strings.Split(path, ".")
	t := s.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(steps) > 1 {
		data, there := s.state.stash.Without(path, steps)
		if there {
			s.put(steps[0], data)
		}
		return there
	}
	if !s.state.stash.Unset(path) {
		return false
	}
	t.edit(&abi.Edit{
		Context: s.state.number, Collection: abi.CollectionStash, Edit: abi.EditUnset, Data: abi.Bytes(value.AppendString(nil, path)),
	})
	return true
}

// put sets what is under a key. The caller holds the turn's lock.
func (s *Stash) put(key string, data []byte) {
	s.state.stash.Set(key, data)
	s.state.turn.edit(&abi.Edit{
		Context: s.state.number, Collection: abi.CollectionStash, Edit: abi.EditSet,
		Data: abi.Bytes(append(value.AppendString(nil, key), data...)),
	})
}

// All returns the whole stash as plain data.
func (s *Stash) All() map[string]any {
	t := s.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.state.stash.All()
}

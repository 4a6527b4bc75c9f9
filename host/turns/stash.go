package turns

import (
	"fmt"
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

// stashData holds encoded values by the first step of their path, in insertion order. Copies share the entries until
// one of them changes.
type stashData struct {
	entries []stashEntry
	shared  bool
}

type stashEntry struct {
	key  string
	data []byte
}

func (s *stashData) snapshot() stashData {
	s.shared = true
	return *s
}

func (s *stashData) find(key string) int {
	return slices.IndexFunc(s.entries, func(e stashEntry) bool { return e.key == key })
}

func (s *stashData) own() {
	if s.shared {
		s.entries = slices.Clone(s.entries)
		s.shared = false
	}
}

func (s *stashData) set(key string, data []byte) {
	s.own()
	if i := s.find(key); i >= 0 {
		s.entries[i].data = data
		return
	}
	s.entries = append(s.entries, stashEntry{key, data})
}

func (s *stashData) unset(key string) bool {
	i := s.find(key)
	if i < 0 {
		return false
	}
	s.own()
	s.entries = slices.Delete(s.entries, i, i+1)
	return true
}

// load fills an empty stash from plain data.
func (s *stashData) load(m map[string]any) error {
	if len(m) > abi.MaxArray {
		return fmt.Errorf("stash: %d elements are more than %d", len(m), abi.MaxArray)
	}
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		data, err := wire.Append(nil, m[key], "stash."+key)
		if err != nil {
			return err
		}
		s.set(key, data)
	}
	return nil
}

// Get returns the value at a path as plain data: nil, bool, int64, float64, string, []byte, []any, map[string]any. ok
// is false if there is none.
func (s *Stash) Get(path string) (v any, ok bool) {
	steps := strings.Split(path, ".")
	t := s.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	i := s.state.stash.find(steps[0])
	if i < 0 {
		return nil, false
	}
	return lookup(plain(s.state.stash.entries[i].data), steps[1:])
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
	if len(steps) > 1 {
		var whole any
		i := s.state.stash.find(steps[0])
		if i >= 0 {
			whole = plain(s.state.stash.entries[i].data)
		}
		if whole, err = place(whole, i >= 0, steps, 1, plain(data)); err != nil {
			return newError(abi.CodeInvalidValue, path+": "+err.Error(), nil)
		}
		if data, err = wire.Append(nil, whole, path); err != nil {
			return newError(abi.CodeInvalidValue, err.Error(), err)
		}
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
	i := s.state.stash.find(steps[0])
	if i < 0 {
		return false
	}
	if len(steps) == 1 {
		s.state.stash.unset(path)
		t.edit(&abi.Edit{
			Context: s.state.number, Collection: abi.CollectionStash, Edit: abi.EditUnset, Data: abi.Bytes(value.AppendString(nil, path)),
		})
		return true
	}
	whole := plain(s.state.stash.entries[i].data)
	container, _ := lookup(whole, steps[1:len(steps)-1])
	last := steps[len(steps)-1]
	if _, there := lookup(container, []string{last}); !there {
		return false
	}
	switch c := container.(type) {
	case map[string]any:
		delete(c, last)
	case []any:
		c[indexOf(last)] = nil
	}
	data, err := wire.Append(nil, whole, path)
	if err != nil {
		return false // what was encoded before can be encoded with less
	}
	s.put(steps[0], data)
	return true
}

// put sets what is under a key. The caller holds the turn's lock.
func (s *Stash) put(key string, data []byte) {
	s.state.stash.set(key, data)
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
	m := make(map[string]any, len(s.state.stash.entries))
	for _, e := range s.state.stash.entries {
		m[e.key] = plain(e.data)
	}
	return m
}

// plain decodes a value that this package has encoded.
func plain(data []byte) any {
	v, err := wire.Plain(data)
	if err != nil {
		return nil
	}
	return v
}

func lookup(v any, steps []string) (any, bool) {
	for _, step := range steps {
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i := indexOf(step)
			if i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// maxList is how far a path may reach beyond the end of a list.
const maxList = 8192

// place returns container with v at what follows the first n steps inside it. What is missing on the way becomes a list where the next step is
// an index, and a map otherwise.
func place(container any, there bool, steps []string, n int, v any) (any, error) {
	if n == len(steps) {
		return v, nil
	}
	step, index := steps[n], indexOf(steps[n])
	if !there {
		container = make(map[string]any)
		if index >= 0 {
			container = []any(nil)
		}
	}
	switch c := container.(type) {
	case map[string]any:
		old, there := c[step]
		inner, err := place(old, there, steps, n+1, v)
		c[step] = inner
		return c, err
	case []any:
		if index < 0 || index >= maxList {
			return nil, fmt.Errorf("%s is no place in a list", step)
		}
		there := index < len(c)
		for len(c) <= index {
			c = append(c, nil)
		}
		inner, err := place(c[index], there, steps, n+1, v)
		c[index] = inner
		return c, err
	}
	return nil, fmt.Errorf("%s holds a value without parts", strings.Join(steps[:n], "."))
}

// indexOf returns the place in a list that a step means, -1 for none.
func indexOf(step string) int {
	i, err := strconv.Atoi(step)
	if err != nil || i < 0 || strconv.Itoa(i) != step {
		return -1
	}
	return i
}

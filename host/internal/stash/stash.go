// Package stash has the key-value data of contexts on the host's side: encoded values, and the paths into them.
package stash

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
)

// Data holds encoded values by the first step of their path, in insertion order. Copies share the entries until one of
// them changes. The zero value is empty.
type Data struct {
	entries []entry
	shared  bool
}

type entry struct {
	key  string
	data []byte
}

// Load returns a stash of plain data.
func Load(m map[string]any) (s Data, err error) {
	if len(m) > abi.MaxArray {
		return Data{}, fmt.Errorf("stash: %d elements are more than %d", len(m), abi.MaxArray)
	}
	if len(m) == 0 {
		return Data{}, nil
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		data, err := wire.Append(nil, m[key], "stash."+key)
		if err != nil {
			return Data{}, err
		}
		s.Set(key, data)
	}
	return s, nil
}

// Snapshot returns a copy, in constant time.
func (s *Data) Snapshot() Data {
	s.shared = true
	return *s
}

func (s *Data) own() {
	if s.shared {
		s.entries = slices.Clone(s.entries)
		s.shared = false
	}
}

func (s *Data) find(key string) int {
	return slices.IndexFunc(s.entries, func(e entry) bool { return e.key == key })
}

// Set sets the encoded value of a key, the first step of a path.
func (s *Data) Set(key string, data []byte) {
	s.own()
	if i := s.find(key); i >= 0 {
		s.entries[i].data = data
		return
	}
	s.entries = append(s.entries, entry{key, data})
}

// Unset removes a key and reports whether it was there.
func (s *Data) Unset(key string) bool {
	i := s.find(key)
	if i < 0 {
		return false
	}
	s.own()
	s.entries = slices.Delete(s.entries, i, i+1)
	return true
}

// Get returns the value at a path as plain data. ok is false if there is none.
func (s *Data) Get(steps []string) (v any, ok bool) {
	i := s.find(steps[0])
	if i < 0 {
		return nil, false
	}
	return lookup(plain(s.entries[i].data), steps[1:])
}

// With returns what the first step of a path holds when the value at the path is the encoded one. path names it in
// errors, which are E_INVALID_VALUE.
func (s *Data) With(path string, steps []string, data []byte) ([]byte, error) {
	if len(steps) == 1 {
		return data, nil
	}
	var whole any
	i := s.find(steps[0])
	if i >= 0 {
		whole = plain(s.entries[i].data)
	}
	whole, err := place(whole, i >= 0, steps, 1, plain(data))
	if err != nil {
		return nil, host.NewError(host.CodeInvalidValue, path+": "+err.Error(), nil)
	}
	if data, err = wire.Append(nil, whole, path); err != nil {
		return nil, host.NewError(host.CodeInvalidValue, err.Error(), err)
	}
	return data, nil
}

// Without returns what the first step of a path, which has several, holds without the value at the path. ok is false if
// there is none.
func (s *Data) Without(path string, steps []string) (data []byte, ok bool) {
	i := s.find(steps[0])
	if i < 0 {
		return nil, false
	}
	whole := plain(s.entries[i].data)
	container, _ := lookup(whole, steps[1:len(steps)-1])
	last := steps[len(steps)-1]
	if _, there := lookup(container, []string{last}); !there {
		return nil, false
	}
	switch c := container.(type) {
	case map[string]any:
		delete(c, last)
	case []any:
		c[indexOf(last)] = nil
	}
	data, err := wire.Append(nil, whole, path)
	return data, err == nil // what was encoded before can be encoded with less
}

// All returns the whole stash as plain data.
func (s *Data) All() map[string]any {
	m := make(map[string]any, len(s.entries))
	for _, e := range s.entries {
		m[e.key] = plain(e.data)
	}
	return m
}

// Encode returns the stash as one value, nil for an empty one.
func (s *Data) Encode() abi.Raw {
	if len(s.entries) == 0 {
		return nil
	}
	raw := value.AppendMapHeader(nil, len(s.entries))
	for _, e := range s.entries {
		raw = append(value.AppendString(raw, e.key), e.data...)
	}
	return raw
}

// plain decodes a value that was encoded here.
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

// place returns container with v at what follows the first n steps inside it. What is missing on the way becomes a list
// where the next step is an index, and a map otherwise.
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

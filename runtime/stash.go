package runtime

import (
	"github.com/turncore/turncore/abi/value"
)

// Stash is a context's key-value data: encoded values by top-level key, in insertion order. Copies share their entries
// until one of them changes.
type Stash struct {
	entries []stashEntry
	shared  bool
}

type stashEntry struct {
	key  string
	data []byte
}

func (s *Stash) snapshot() Stash {
	s.shared = true
	return *s
}

func (s *Stash) own() {
	if s.shared {
		s.entries = append(make([]stashEntry, 0, len(s.entries)+2), s.entries...)
		s.shared = false
	}
}

// Load fills an empty stash from an encoded map. If a key repeats, its last value counts.
func (s *Stash) Load(m []byte) error {
	if len(m) == 0 || value.KindOf(m) == value.KindNil {
		return nil
	}
	at := make(map[string]int, value.Len(m))
	return value.Each(m, func(key, val []byte) bool {
		data := append([]byte(nil), val...)
		if i, ok := at[string(key)]; ok {
			s.entries[i].data = data
			return true
		}
		at[string(key)] = len(s.entries)
		s.entries = append(s.entries, stashEntry{string(key), data})
		return true
	})
}

// Get returns the value of a top-level key.
func (s *Stash) Get(key string) ([]byte, bool) {
	for i := range s.entries {
		if s.entries[i].key == key {
			return s.entries[i].data, true
		}
	}
	return nil, false
}

// Set sets a top-level key. It keeps data.
func (s *Stash) Set(key string, data []byte) {
	s.own()
	for i := range s.entries {
		if s.entries[i].key == key {
			s.entries[i].data = data
			return
		}
	}
	s.entries = append(s.entries, stashEntry{key, data})
}

// Unset removes a top-level key.
func (s *Stash) Unset(key string) {
	for i := range s.entries {
		if s.entries[i].key == key {
			s.own()
			s.entries = append(s.entries[:i], s.entries[i+1:]...)
			return
		}
	}
}

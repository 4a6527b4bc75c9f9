package ledger

import "slices"

// Keys are the keys of a session's commits, by the turns that made them.
type Keys struct {
	All []Key // in the order of their commits
	at  map[string]uint64
}

// Key is the key of a commit, and the revision that came of it.
type Key struct {
	Key, Turn string
	Revision  uint64
}

// Find returns the revision that came of the commit under a key.
func (k *Keys) Find(key string) (revision uint64, there bool) {
	if k.at == nil {
		k.at = make(map[string]uint64, len(k.All))
		for _, known := range k.All {
			k.at[known.Key] = known.Revision
		}
	}
	revision, there = k.at[key]
	return revision, there
}

// Remember keeps a commit's key; "" is none.
func (k *Keys) Remember(key Key) {
	if key.Key == "" {
		return
	}
	k.All = append(k.All, key)
	if k.at != nil {
		k.at[key.Key] = key.Revision
	}
}

// Forget forgets the keys of turns. It tells whether there were any.
func (k *Keys) Forget(turns []string) bool {
	before := len(k.All)
	if len(turns) == 0 {
		return false
	}
	k.All = slices.DeleteFunc(k.All, func(key Key) bool { return slices.Contains(turns, key.Turn) })
	if len(k.All) == before {
		return false
	}
	k.at = nil
	return true
}

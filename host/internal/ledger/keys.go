package ledger

import "slices"

// Keys are the keys of a session's commits, by the turns that made them.
type Keys struct {
	All []Key // in the order of their commits
	at  map[string]Key
}

// Key is the key of a commit, and the revision that came of it.
type Key struct {
	Key, Turn string
	Revision  uint64
}

// Find returns the revision that came of the commit under a key, unless that is of one of the turns in ended.
func (k *Keys) Find(key string, ended ...string) (revision uint64, there bool) {
	if k.at == nil {
		k.at = make(map[string]Key, len(k.All))
		for _, known := range k.All {
			k.at[known.Key] = known
		}
	}
	known, there := k.at[key]
	return known.Revision, there && !slices.Contains(ended, known.Turn)
}

// Has tells whether there are keys of turns.
func (k *Keys) Has(turns []string) bool {
	return len(turns) > 0 && slices.ContainsFunc(k.All, func(key Key) bool { return slices.Contains(turns, key.Turn) })
}

// Remember keeps a commit's key; "" is none.
func (k *Keys) Remember(key Key) {
	if key.Key == "" {
		return
	}
	k.All = append(k.All, key)
	if k.at != nil {
		k.at[key.Key] = key
	}
}

// Forget forgets the keys of turns.
func (k *Keys) Forget(turns []string) {
	if !k.Has(turns) {
		return
	}
	k.All, k.at = slices.DeleteFunc(k.All, func(key Key) bool { return slices.Contains(turns, key.Turn) }), nil
}

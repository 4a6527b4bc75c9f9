package ledger

import "slices"

// Keys are the keys of a session's commits and appends, by the turns that made them.
type Keys struct {
	All   []Key                      // in the order of their commits
	at    map[string]Key             // nil when out of date, as is turns
	turns map[string]map[uint64]bool // the revisions that came of a turn's commits
}

// Key is the key of a commit, and the revision that came of it.
type Key struct {
	Key, Turn string
	Revision  uint64
}

// index makes the maps.
func (k *Keys) index() {
	if k.at != nil {
		return
	}
	k.at, k.turns = make(map[string]Key, len(k.All)), make(map[string]map[uint64]bool)
	for _, known := range k.All {
		k.note(known)
	}
}

func (k *Keys) note(key Key) {
	k.at[key.Key] = key
	of := k.turns[key.Turn]
	if of == nil {
		of = make(map[uint64]bool)
		k.turns[key.Turn] = of
	}
	of[key.Revision] = true
}

// Find returns the revision that came of the commit under a key, unless that is of one of the turns in ended.
func (k *Keys) Find(key string, ended ...string) (revision uint64, there bool) {
	k.index()
	known, there := k.at[key]
	return known.Revision, there && !slices.Contains(ended, known.Turn)
}

// Own tells whether a revision came of a commit of a turn; "" is none.
func (k *Keys) Own(turn string, revision uint64) bool {
	k.index()
	return turn != "" && k.turns[turn][revision]
}

// Has tells whether there are keys of turns.
func (k *Keys) Has(turns []string) bool {
	k.index()
	return slices.ContainsFunc(turns, func(turn string) bool { return k.turns[turn] != nil })
}

// Remember keeps a commit's key; "" is none.
func (k *Keys) Remember(key Key) {
	if key.Key == "" {
		return
	}
	k.All = append(k.All, key)
	if k.at != nil {
		k.note(key)
	}
}

// Forget forgets the keys of turns.
func (k *Keys) Forget(turns []string) {
	if !k.Has(turns) {
		return
	}
	k.All = slices.DeleteFunc(k.All, func(key Key) bool { return slices.Contains(turns, key.Turn) })
	k.at, k.turns = nil, nil
}

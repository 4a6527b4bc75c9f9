package ledger

import (
	"container/list"
	"slices"
	"time"
)

// KeptKeys is how long the keys of a turn are kept that nobody says has ended, from its last commit on.
const KeptKeys = 7 * 24 * time.Hour

// Keys are the keys of a session's commits and appends, by the turns that made them.
type Keys struct {
	All   []Key                    // in the order of their commits
	at    map[string]Key           // nil when out of date, as is turns, and while there are none
	turns map[string]*list.Element // of *keysOfTurn, in order
	order list.List                // the turns, the one that wrote last behind
}

// Key is the key of a commit, the revision that came of it, and when that was, in microseconds.
type Key struct {
	Key, Turn string
	Revision  uint64
	At        int64
}

// keysOfTurn has the revisions that came of a turn's commits.
type keysOfTurn struct {
	turn      string
	revisions map[uint64]bool
	last      int64 // when the last commit was
}

// index makes the maps.
func (k *Keys) index() {
	if k.at != nil || len(k.All) == 0 {
		return
	}
	k.at, k.turns = make(map[string]Key, len(k.All)), make(map[string]*list.Element)
	k.order.Init()
	for _, known := range k.All {
		k.note(known)
	}
}

func (k *Keys) note(key Key) {
	k.at[key.Key] = key
	of := k.turns[key.Turn]
	if of == nil {
		of = k.order.PushBack(&keysOfTurn{turn: key.Turn, revisions: make(map[uint64]bool)})
		k.turns[key.Turn] = of
	}
	k.order.MoveToBack(of)
	t := of.Value.(*keysOfTurn)
	t.revisions[key.Revision], t.last = true, key.At
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
	of := k.turns[turn]
	return turn != "" && of != nil && of.Value.(*keysOfTurn).revisions[revision]
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
	k.order.Init()
}

// Expire forgets the keys of turns whose last commit was longer ago than KeptKeys, and that resume does not tell may go
// on: those of processes that ended without a word. now is in microseconds. It looks at no others.
func (k *Keys) Expire(now int64, resume func(turn string) bool) {
	k.index()
	var gone []string
	for n := k.order.Len(); n > 0; n-- {
		front := k.order.Front()
		t := front.Value.(*keysOfTurn)
		if now-t.last < KeptKeys.Microseconds() {
			break
		}
		if resume(t.turn) {
			t.last = now // it is looked at again later
		} else {
			gone = append(gone, t.turn)
		}
		k.order.MoveToBack(front)
	}
	k.Forget(gone)
}

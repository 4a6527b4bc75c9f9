package ledger

import (
	"slices"
	"strconv"
)

// Recent has sessions in the order of their last updates. The zero value is empty. Its methods must not be called at the
// same time.
type Recent[S comparable] struct {
	updates []update[S]  // by revision; those that a later one of their session follows are left out at times
	last    map[S]uint64 // the revision of each session's last update
}

type update[S comparable] struct {
	revision uint64
	session  S
}

// Update notes that a revision has updated a session.
func (r *Recent[S]) Update(session S, revision uint64) {
	if r.last == nil {
		r.last = make(map[S]uint64)
	}
	if r.last[session] >= revision {
		return
	}
	r.last[session] = revision
	at, _ := r.find(revision)
	r.updates = slices.Insert(r.updates, at, update[S]{revision, session})
	if len(r.updates) > 2*len(r.last)+100 {
		r.updates = slices.DeleteFunc(r.updates, func(u update[S]) bool { return r.last[u.session] != u.revision })
	}
}

// Delete forgets a session.
func (r *Recent[S]) Delete(session S) { delete(r.last, session) }

func (r *Recent[S]) find(revision uint64) (int, bool) {
	return slices.BinarySearchFunc(r.updates, revision, func(u update[S], n uint64) int { return int(int64(u.revision) - int64(n)) })
}

// Page returns at most limit sessions, the last updated in front, that were updated last before a revision; 0 stands for
// all. more tells that there are others behind them, and next is the revision for the next page then.
func (r *Recent[S]) Page(before uint64, limit int) (page []S, next uint64, more bool) {
	end := len(r.updates)
	if before > 0 {
		end, _ = r.find(before)
	}
	for i := end - 1; i >= 0; i-- {
		u := r.updates[i]
		if r.last[u.session] != u.revision {
			continue
		}
		if len(page) == limit {
			return page, next, true
		}
		page, next = append(page, u.session), u.revision
	}
	return page, 0, false
}

// PageOf returns what Page takes for a cursor, which is the next of another page as text, and the limit for a page: 100
// if none is given. A cursor that is none begins at the front.
func PageOf(cursor string, limit int) (before uint64, most int) {
	before, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil {
		before = 0
	}
	if limit <= 0 {
		limit = 100
	}
	return before, limit
}

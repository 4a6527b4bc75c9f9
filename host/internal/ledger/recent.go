package ledger

import (
	"slices"
	"strconv"
	"strings"
)

// Recent has sessions in the order of their last updates. The zero value is empty. Its methods must not be called at
// the same time.
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
	at := len(r.updates)
	if at > 0 && r.updates[at-1].revision > revision {
		at, _ = r.find(revision)
	}
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

// Page returns at most limit sessions, the last updated in front, that were updated last before a revision; 0 stands
// for all. more tells that there are others behind them, and next is the revision for the next page then.
func (r *Recent[S]) Page(before uint64, limit int) (page []S, next uint64, more bool) {
	return r.page(before, limit, func(S) bool { return true })
}

// page is a Page of the sessions that are wanted.
func (r *Recent[S]) page(before uint64, limit int, wanted func(S) bool) (page []S, next uint64, more bool) {
	end := len(r.updates)
	if before > 0 {
		end, _ = r.find(before)
	}
	for i := end - 1; i >= 0; i-- {
		u := r.updates[i]
		if r.last[u.session] != u.revision || !wanted(u.session) {
			continue
		}
		if len(page) == limit {
			return page, next, true
		}
		page, next = append(page, u.session), u.revision
	}
	return page, 0, false
}

// Listed has sessions, by ids, in the order of their last updates: all of them, and those of each folder, which is what
// an id begins with up to its last slash. The zero value is empty. Its methods must not be called at the same time.
type Listed struct {
	all     Recent[string]
	folders map[string]*Recent[string]
	below   map[string]int // how many folders are below one
}

// Update notes that a revision has updated a session.
func (l *Listed) Update(id string, revision uint64) {
	l.all.Update(id, revision)
	folder := folderOf(id)
	of := l.folders[folder]
	if of == nil {
		if l.folders == nil {
			l.folders, l.below = make(map[string]*Recent[string]), make(map[string]int)
		}
		of = &Recent[string]{}
		l.folders[folder] = of
		l.count(folder, 1)
	}
	of.Update(id, revision)
}

// Delete forgets a session.
func (l *Listed) Delete(id string) {
	l.all.Delete(id)
	folder := folderOf(id)
	of := l.folders[folder]
	if of == nil {
		return
	}
	if of.Delete(id); len(of.last) == 0 {
		delete(l.folders, folder)
		l.count(folder, -1)
	}
}

// count counts a folder below those that it is in.
func (l *Listed) count(folder string, n int) {
	for folder != "" {
		folder = folderOf(folder[:len(folder)-1])
		if l.below[folder] += n; l.below[folder] == 0 {
			delete(l.below, folder)
		}
	}
}

func folderOf(id string) string { return id[:strings.LastIndexByte(id, '/')+1] }

// Page returns at most limit sessions whose ids begin with a prefix, as [Recent.Page] does. Of a prefix that is a
// folder without others below it, a page costs the same however many sessions there are.
func (l *Listed) Page(prefix string, before uint64, limit int) (page []string, next uint64, more bool) {
	of := &l.all
	if strings.HasSuffix(prefix, "/") && l.below[prefix] == 0 {
		if of = l.folders[prefix]; of == nil {
			return nil, 0, false
		}
	}
	return of.page(before, limit, func(id string) bool { return strings.HasPrefix(id, prefix) })
}

// PageOf returns what Page takes for a cursor, which is "" or the next of another page as text, and the limit for a
// page: 100 if none is given. ok is false for an invalid cursor.
func PageOf(cursor string, limit int) (before uint64, most int, ok bool) {
	if limit <= 0 {
		limit = 100
	}
	if cursor == "" {
		return 0, limit, true
	}
	before, err := strconv.ParseUint(cursor, 10, 64)
	return before, limit, err == nil && before > 0
}

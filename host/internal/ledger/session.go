package ledger

import (
	"slices"
	"strconv"
	"time"
)

// Kinds is how many kinds of record there are.
const Kinds = 6

// Write replaces records of a kind by others: a store has only new ones, a delete only old ones, a mutate one of each.
type Write[T any] struct {
	Kind  uint8
	Old   []string // ids
	New   []Item[T]
	Fixed bool // records are what their ids say: writing one that is there changes nothing
}

// Item is a record that is written.
type Item[T any] struct {
	ID    string
	Value T
}

// Session is the state of a session. Revisions are positive and ascend; 0 is that of a session that is not there, as
// its zero value is. Its methods must not be called at the same time.
type Session[T any] struct {
	Began    uint64 // an earlier revision than its first, and not earlier than the last of one that had its id before
	Revision uint64
	Settled  uint64 // the last revision that changed or deleted something; 0 for none
	Tables   [Kinds]Table[T]
	Newest   time.Time // as store.Newest has it; zero for none
	Keys     Keys
	Events   Events
	Appended uint64 // the revision of the last append; 0 for none
}

// Apply does the writes of a revision.
func (s *Session[T]) Apply(revision uint64, newest time.Time, writes []Write[T]) {
	s.Revision = revision
	if newest.After(s.Newest) {
		s.Newest = newest
	}
	for i := range writes {
		if s.Tables[writes[i].Kind].write(&writes[i], revision) {
			s.Settled = revision
		}
	}
}

// Known returns the revision that a text names. ok is false for one that the session never had.
func (s *Session[T]) Known(text string) (revision uint64, ok bool) {
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil && (n == 0 || n > s.Began && n <= s.Revision)
}

// Since returns the revision behind which records were only added, if a text names such a one; 0 for all records.
func (s *Session[T]) Since(text string) (revision uint64, partly bool) {
	n, ok := s.Known(text)
	if !ok || n < s.Settled {
		return 0, false
	}
	return n, true
}

// Conflict tells which record a commit of a turn may not touch: one that another writer has changed after the revision
// that the commit's writer has seen; see store.Commit. seen is "" for a commit that checks nothing.
func (s *Session[T]) Conflict(seen, turn string, writes []Write[T]) (kind uint8, id string, conflicts bool) {
	if seen == "" {
		return 0, "", false
	}
	n, ok := s.Known(seen)
	if ok && n == s.Revision {
		return 0, "", false
	}
	w := writer{seen: n, lost: !ok, turn: turn, keys: &s.Keys}
	made := make(map[named]bool)
	for i := range writes {
		c := &writes[i]
		t := &s.Tables[c.Kind]
		for _, id := range c.Old {
			changed, there := t.changed(id)
			missed := !there && (w.lost || s.Settled > 0 && !w.knows(s.Settled))
			if (there && !w.knows(changed) || missed) && !made[named{c.Kind, id}] {
				return c.Kind, id, true
			}
		}
		for _, item := range c.New {
			if changed, there := t.changed(item.ID); there && !w.knows(changed) && !made[named{c.Kind, item.ID}] && !c.Fixed {
				return c.Kind, item.ID, true
			}
		}
		for _, id := range c.Old {
			made[named{c.Kind, id}] = true
		}
		for _, item := range c.New {
			made[named{c.Kind, item.ID}] = true
		}
	}
	return 0, "", false
}

// writer is what a commit's writer knows.
type writer struct {
	seen uint64
	lost bool // seen is a revision that the session never had
	turn string
	keys *Keys
}

// named is what names a record.
type named struct {
	kind uint8
	id   string
}

// knows tells whether the writer knows of what a revision did.
func (w *writer) knows(revision uint64) bool {
	return revision <= w.seen && !w.lost || w.keys.Own(w.turn, revision)
}

// Clone returns the same state, which goes its own way: of another session, without keys.
func (s *Session[T]) Clone() *Session[T] {
	c := &Session[T]{Settled: s.Settled, Newest: s.Newest, Appended: s.Appended}
	c.Events.All = slices.Clip(s.Events.All)
	for kind := range s.Tables {
		c.Tables[kind].Rows = slices.Clone(s.Tables[kind].Rows)
	}
	return c
}

// CloneAt returns the state of another session that begins with the events up to one of a revision, which it goes its
// own way from. ok is false if there is no such event.
func (s *Session[T]) CloneAt(revision string) (c *Session[T], ok bool) {
	n, err := strconv.ParseUint(revision, 10, 64)
	if err != nil {
		return nil, false
	}
	end, there := s.Events.find(n)
	if !there {
		return nil, false
	}
	c = &Session[T]{Appended: n}
	c.Events.All = slices.Clip(s.Events.All[:end])
	return c, true
}

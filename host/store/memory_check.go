package store

import (
	"slices"
	"strconv"

	"github.com/turncore/turncore/host/record"
)

// check returns the E_SESSION_CONFLICT of a commit, nil if there is none. The session may be nil: it is not there.
func (s *session) check(id string, c *Commit) error {
	if c.Revision == "" {
		return nil
	}
	if s == nil {
		s = &session{}
	}
	seen, ok := s.known(c.Revision)
	if ok && seen == s.revision {
		return nil
	}
	w := writer{seen: seen, lost: !ok, own: make(map[uint64]bool), made: make(map[named]bool)}
	for _, own := range c.Own {
		if n, err := strconv.ParseUint(own, 10, 64); err == nil {
			w.own[n] = true
		}
	}
	for i := range c.Deltas {
		d := &c.Deltas[i]
		var conflict string
		var clashes bool
		switch d.Kind {
		case "standingInstruction":
			conflict, clashes = clash(&s.instructions, s, d, &w)
		case "memory":
			conflict, clashes = clash(&s.memories, s, d, &w)
		case "retrievable":
			conflict, clashes = clash(&s.retrievables, s, d, &w)
		case "message":
			conflict, clashes = clash(&s.messages, s, d, &w)
		case "thought":
			conflict, clashes = clash(&s.thoughts, s, d, &w)
		case "toolCall":
			conflict, clashes = clash(&s.toolCalls, s, d, &w)
		}
		if clashes {
			return Conflict(id, d.Kind, conflict)
		}
	}
	return nil
}

// writer is what a commit's writer knows.
type writer struct {
	seen uint64
	lost bool // seen is a revision that the session never had
	own  map[uint64]bool
	made map[named]bool // what the commit itself writes
}

// named is what names a record.
type named struct{ kind, id string }

// knows tells whether the writer knows of what a revision did.
func (w *writer) knows(revision uint64) bool { return revision <= w.seen && !w.lost || w.own[revision] }

// clash returns the id of a record that a write may not touch.
func clash[R record.Type](t *table[R], s *session, d *Delta, w *writer) (id string, clashes bool) {
	old, written := d.IDs, []string(nil)
	if r, is := d.Record.(R); is {
		written = []string{record.Key(r)}
	}
	switch {
	case d.Op == OpDelete || d.Op == OpMutate && d.ID != "":
		old = []string{d.ID}
	case d.Op == OpMutate:
		old = written
	}
	for _, c := range d.Records {
		written = append(written, c.ID)
	}
	for _, id := range old {
		if w.made[named{d.Kind, id}] {
			continue
		}
		changed, there := t.changed(id)
		if there && !w.knows(changed) || !there && (w.lost || s.settled > 0 && !w.knows(s.settled)) {
			return id, true
		}
	}
	for _, id := range written {
		changed, there := t.changed(id)
		if there && !w.knows(changed) && !w.made[named{d.Kind, id}] {
			return id, true
		}
	}
	for _, id := range slices.Concat(old, written) {
		w.made[named{d.Kind, id}] = true
	}
	return "", false
}

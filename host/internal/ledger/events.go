package ledger

import (
	"slices"
	"strconv"
)

// Event is an event of a session, and the revision that appended it.
type Event struct {
	ID       string
	Body     []byte
	Revision uint64
}

// Events are a session's events in order.
type Events struct {
	All []Event // their Revision ascends
	ids map[string]bool
}

// Has tells whether there is an event of an id.
func (e *Events) Has(id string) bool {
	if e.ids == nil {
		e.ids = make(map[string]bool, len(e.All))
		for _, event := range e.All {
			e.ids[event.ID] = true
		}
	}
	return e.ids[id]
}

// Add adds an event of an id that there is none of.
func (e *Events) Add(event Event) {
	e.All = append(e.All, event)
	if e.ids != nil {
		e.ids[event.ID] = true
	}
}

// find is the place of the first event behind a revision, and whether the one before is that of the revision.
func (e *Events) find(revision uint64) (behind int, there bool) {
	i, there := slices.BinarySearchFunc(e.All, revision, func(e Event, n uint64) int { return int(int64(e.Revision) - int64(n)) })
	if there {
		i++
	}
	return i, there
}

// AppendConflict tells whether another turn has appended to the session after a revision, or the revision is one of a
// session that has been deleted; "" checks nothing.
func (s *Session[T]) AppendConflict(seen, turn string) bool {
	if seen == "" {
		return false
	}
	n, ok := s.Known(seen)
	if s.Appended == 0 {
		return !ok
	}
	// A fork knows the revisions of the events that it began with, too.
	known := ok && s.Appended <= n || seen == strconv.FormatUint(s.Appended, 10)
	return !known && !s.Keys.Own(turn, s.Appended)
}

// EventsAfter returns events that were appended after a revision, all if that is "" or the session does not know it: at
// most limit, the first or the newest of them; 0 for all.
func (s *Session[T]) EventsAfter(after string, limit int, newest bool) []Event {
	all := s.Events.All
	// A fork knows the revisions of the events that it began with, too.
	n, known := s.Known(after)
	if behind, there := s.Events.find(n); known || there {
		all = all[behind:]
	}
	switch {
	case limit <= 0 || limit >= len(all):
		return all
	case newest:
		return all[len(all)-limit:]
	}
	return all[:limit]
}

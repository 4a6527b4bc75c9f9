package collections

import (
	"maps"
	"sort"

	"github.com/turncore/turncore/host/record"
)

// Handles names the records of a turn, towards the guest, by number: one record is one handle within the turn,
// whatever collections it is in. The host's go 1, 2, 3 …, the guest's -1, -2, ….
type Handles struct {
	spans []span
	next  int64 // the next handle to give; 0 means 1
	ids   map[record.Record]int64
	made  []record.Record // by the guest
}

// span is a range of handles. It ends where the next one begins.
type span struct {
	first   int64
	history View            // records of a history, shared by many turns
	list    []record.Record // or the turn's own
}

// Find returns the handle of a record; ok is false if it has none yet.
func (h *Handles) Find(r record.Record) (handle int64, ok bool) {
	if handle, ok = h.ids[r]; ok {
		return handle, true
	}
	for i := range h.spans {
		if s := &h.spans[i]; s.history.of != nil {
			if at, ok := s.history.index(r); ok {
				return s.first + int64(at), true
			}
		}
	}
	return 0, false
}

// Give names a record that has no handle.
func (h *Handles) Give(r record.Record) int64 {
	n := len(h.spans)
	if n == 0 || h.spans[n-1].history.of != nil {
		h.spans = append(h.spans, span{first: h.reserve(0), list: make([]record.Record, 0, 4)})
		n++
	}
	s := &h.spans[n-1]
	s.list = append(s.list, r)
	handle := h.reserve(1)
	if h.ids == nil {
		h.ids = make(map[record.Record]int64)
	}
	h.ids[r] = handle
	return handle
}

// Expect makes room for records that are about to be given handles: growing step by step costs half of naming many.
func (h *Handles) Expect(count int) {
	if count < 64 || count < len(h.ids) {
		return
	}
	ids := make(map[record.Record]int64, len(h.ids)+count)
	maps.Copy(ids, h.ids)
	h.ids = ids
}

// GiveHistory names the records of the beginning of a history, in constant time.
func (h *Handles) GiveHistory(history View) int64 {
	first := h.reserve(int64(history.Len()))
	h.spans = append(h.spans, span{first: first, history: history})
	return first
}

// reserve takes count handles and returns the first.
func (h *Handles) reserve(count int64) int64 {
	first := h.Next()
	h.next = first + count
	return first
}

// Adopt names a record that the guest has made. Its handles come in order.
func (h *Handles) Adopt(handle int64, r record.Record) bool {
	if handle != -int64(len(h.made))-1 {
		return false
	}
	h.made = append(h.made, r)
	if h.ids == nil {
		h.ids = make(map[record.Record]int64)
	}
	h.ids[r] = handle
	return true
}

// Record returns the record that a handle names, nil if it names none.
func (h *Handles) Record(handle int64) record.Record {
	if handle < 0 {
		if i := -handle - 1; i < int64(len(h.made)) {
			return h.made[i]
		}
		return nil
	}
	i := sort.Search(len(h.spans), func(i int) bool { return h.spans[i].first > handle }) - 1
	if i < 0 {
		return nil
	}
	s, at := &h.spans[i], int(handle-h.spans[i].first)
	switch {
	case s.history.of != nil && at < s.history.Len():
		return s.history.records[at]
	case at < len(s.list):
		return s.list[at]
	}
	return nil
}

// Next is the handle that the next record gets.
func (h *Handles) Next() int64 { return max(h.next, 1) }

// FirstKnown returns the place of a history's first record that has a handle, its length if none has.
func (h *Handles) FirstKnown(v View) int {
	for i := range h.spans {
		if h.spans[i].history.of == v.of {
			return 0
		}
	}
	first := v.Len()
	for r := range h.ids {
		if i, in := v.index(r); in {
			first = min(first, i)
		}
	}
	return first
}

// Of is the ABI's number of the collections that hold records like one.
func Of(r record.Record) uint8 { return uint8(record.KindOf(r)) }

package turns

import (
	"maps"
	"sort"

	"github.com/turncore/turncore/host/record"
)

// handles names the records of a turn, towards the guest, by number: one record is one handle within the turn,
// whatever collections it is in. The host's go 1, 2, 3 …, the guest's -1, -2, ….
type handles struct {
	spans []span
	next  int64 // the next handle to give; 0 means 1
	ids   map[record.Record]int64
	made  []record.Record // by the guest
}

// span is a range of handles. It ends where the next one begins.
type span struct {
	first   int64
	history historyRef      // records of a history, shared by many turns
	list    []record.Record // or the turn's own
}

// historyRef is the beginning of a history.
type historyRef interface {
	record(i int) record.Record
	index(r record.Record) (int, bool)
	length() int
}

// find returns the handle of a record; ok is false if it has none yet.
func (h *handles) find(r record.Record) (handle int64, ok bool) {
	if handle, ok = h.ids[r]; ok {
		return handle, true
	}
	for i := range h.spans {
		if s := &h.spans[i]; s.history != nil {
			if at, ok := s.history.index(r); ok {
				return s.first + int64(at), true
			}
		}
	}
	return 0, false
}

// give names a record that has no handle.
func (h *handles) give(r record.Record) int64 {
	n := len(h.spans)
	if n == 0 || h.spans[n-1].history != nil {
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

// expect makes room for records that are about to be given handles: growing step by step costs half of naming many.
func (h *handles) expect(count int) {
	if count < 64 || count < len(h.ids) {
		return
	}
	ids := make(map[record.Record]int64, len(h.ids)+count)
	maps.Copy(ids, h.ids)
	h.ids = ids
}

// giveHistory names the records of the beginning of a history, in constant time.
func (h *handles) giveHistory(history historyRef) int64 {
	first := h.reserve(int64(history.length()))
	h.spans = append(h.spans, span{first: first, history: history})
	return first
}

// reserve takes count handles and returns the first.
func (h *handles) reserve(count int64) int64 {
	first := max(h.next, 1)
	h.next = first + count
	return first
}

// adopt names a record that the guest has made. Its handles come in order.
func (h *handles) adopt(handle int64, r record.Record) bool {
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

// record returns the record that a handle names, nil if it names none.
func (h *handles) record(handle int64) record.Record {
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
	case s.history != nil && at < s.history.length():
		return s.history.record(at)
	case at < len(s.list):
		return s.list[at]
	}
	return nil
}

// kindOf is the ABI's number of the collections that hold records like one.
func kindOf(r record.Record) uint8 { return uint8(record.KindOf(r)) }

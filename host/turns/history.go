package turns

import (
	"math"
	"runtime"

	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/record"
)

// History is a list of records that many turns share, for example a conversation so far. Turns take it over with
// Collection.AddAll in constant time; its records cross to the core once, however many turns use them. It only grows;
// a turn that has taken it over does not see later records. Its methods may be called from many goroutines.
type History[R record.Type] struct {
	data *collections.History
}

// NewHistory returns a history that begins with the given records, which must be valid.
func NewHistory[R record.Type](records ...R) (*History[R], error) {
	var r R
	h := &History[R]{data: collections.NewHistory(collections.Of(r), len(records))}
	if err := h.Append(records...); err != nil {
		return nil, err
	}
	// The core may forget the records when nobody can refer to the history any more.
	runtime.AddCleanup(h, (*collections.History).Forget, h.data)
	return h, nil
}

// empty tells whether a history is nil or the zero value.
func (h *History[R]) empty() bool { return h == nil || h.data == nil }

// Append adds the records that are not in the history yet. For an invalid record it returns the error of Validate and
// adds none. It panics for a history not made by NewHistory.
func (h *History[R]) Append(records ...R) error {
	if h.empty() {
		panic("turns: a History is made by NewHistory")
	}
	return collections.Append(h.data, records)
}

// Len is the number of records, 0 for a nil history.
func (h *History[R]) Len() int {
	if h.empty() {
		return 0
	}
	return h.data.Len()
}

// Slice returns the records in order, in a slice of the caller's own; nil for a nil history.
func (h *History[R]) Slice() []R {
	if h.empty() {
		return nil
	}
	return collections.Slice[R](h.data, 0, math.MaxInt)
}

package turns

import (
	"iter"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/record"
)

// Collection is an ordered set of records of a context, such as TurnMessages. Elements are compared by identity, not
// by id: adding the same record twice changes nothing, and two records with the same id may both be in the set.
// Changes made here reach the core, but not storage: Store, Mutate and Delete do both.
//
// Its methods may be called from many goroutines, and in loops over the collection: a loop sees the elements as they
// were when it began.
type Collection[R record.Type] struct {
	state *contextState
}

// turn is the turn of the context whose collection it is.
func (c *Collection[R]) turn() *turn {
	if c == nil || c.state == nil {
		panic("turns: a Collection belongs to a context: get one from a method such as TurnMessages")
	}
	return c.state.turn
}

func (c *Collection[R]) order() *collections.Order {
	var r R
	return &c.state.records[collections.Of(r)]
}

// Add appends the records that are not in the collection yet. For an invalid record it returns the error of Validate
// and adds none.
func (c *Collection[R]) Add(records ...R) error {
	// Encoding runs code of payloads, so that no lock may be held.
	t := c.turn()
	var (
		bodies []byte
		few    [8]int
		ends   = few[:0]
	)
	for _, r := range records {
		if err := r.Validate(); err != nil {
			return err
		}
		var err error
		if bodies, err = t.appendRecord(bodies, r); err != nil {
			return err
		}
		if ends = append(ends, len(bodies)); len(ends) == 1 {
			// The others are taken to be as large as the first, within reason.
			bodies = slices.Grow(bodies, min(len(bodies)*len(records), maxEdits/2))
			ends = slices.Grow(ends, len(records))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handles.Expect(len(records))
	t.edits.bodies = slices.Grow(t.edits.bodies, min(len(bodies), maxEdits/2))
	start := 0
	for i, r := range records {
		t.addRecord(c.state, r, bodies[start:ends[i]])
		start = ends[i]
	}
	return nil
}

// AddAll appends the current records of a history in constant time, whatever their number. A nil history has none.
func (c *Collection[R]) AddAll(h *History[R]) error {
	if h.empty() {
		c.turn() // says what a zero Collection lacks
		return nil
	}
	return c.addView(h, h.data.View())
}

// addFirst appends the first n records of a history.
func (c *Collection[R]) addFirst(h *History[R], n int) error {
	return c.addView(h, h.data.View().First(n))
}

func (c *Collection[R]) addView(h *History[R], view collections.View) error {
	t := c.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.histories, any(h)) {
		t.histories = append(t.histories, h)
	}
	return t.addHistory(c.state, view)
}

// Remove removes a record. It reports whether the record was in the collection.
func (c *Collection[R]) Remove(r R) bool {
	t := c.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	handle, known := t.handles.Find(r)
	if !known || !c.order().Remove(handle) {
		return false
	}
	t.edit(&abi.Edit{Context: c.state.number, Collection: collections.Of(r), Edit: abi.EditRemove, Handle: handle})
	return true
}

// Replace replaces a record by another. It reports whether the first was in the collection; for an invalid
// replacement it returns the error of Validate.
func (c *Collection[R]) Replace(old, r R) (bool, error) {
	if err := r.Validate(); err != nil {
		return false, err
	}
	t := c.turn()
	body, err := t.encode(r)
	if err != nil {
		return false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.replaceRecord(c.state, old, r, body), nil
}

// Clear removes all records.
func (c *Collection[R]) Clear() {
	t := c.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := c.order(); o.Len() > 0 {
		o.Clear()
		var r R
		t.edit(&abi.Edit{Context: c.state.number, Collection: collections.Of(r), Edit: abi.EditClear})
	}
}

// Has reports whether a record is in the collection.
func (c *Collection[R]) Has(r R) bool {
	t := c.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	handle, known := t.handles.Find(r)
	return known && c.order().Has(handle)
}

// Len is the number of records.
func (c *Collection[R]) Len() int {
	t := c.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	return c.order().Len()
}

// All visits the records in order.
func (c *Collection[R]) All() iter.Seq[R] {
	return func(yield func(R) bool) {
		for _, r := range c.Slice() {
			if !yield(r) {
				return
			}
		}
	}
}

// Slice returns the records in order, in a slice of the caller's own.
func (c *Collection[R]) Slice() []R {
	t := c.turn()
	t.mu.Lock()
	defer t.mu.Unlock()
	return collections.Records[R](c.order(), &t.handles)
}

// Get returns the first record with the given id (an instruction: text).
func (c *Collection[R]) Get(id string) (r R, ok bool) {
	list := c.Slice()
	if i := slices.IndexFunc(list, func(r R) bool { return record.Key(r) == id }); i >= 0 {
		return list[i], true
	}
	return r, false
}

package turns

import (
	"iter"
	"slices"

	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/record"
)

// Collection is an ordered set of records of a context, such as TurnMessages. Elements are compared by identity, not
// by id: adding the same record twice changes nothing, and two records with the same id may both be in the set.
// Changes made here reach the core, but not storage: Store, Mutate and Delete do both.
//
// Its methods may be called from many goroutines, and in loops over the collection: a loop sees the elements as they
// were when it began.
type Collection[R record.Type] struct {
	state *turn.Context
}

// context is the context whose collection it is.
func (c *Collection[R]) context() *turn.Context {
	if c == nil || c.state == nil {
		panic("turns: a Collection belongs to a context: get one from a method such as TurnMessages")
	}
	return c.state
}

func (c *Collection[R]) kind() uint8 {
	var r R
	return collections.Of(r)
}

// Add appends the records that are not in the collection yet. For an invalid record it returns the error of Validate
// and adds none.
func (c *Collection[R]) Add(records ...R) error { return turn.Add(c.context(), records) }

// AddAll appends the current records of a history in constant time, whatever their number. A nil history has none.
func (c *Collection[R]) AddAll(h *History[R]) error {
	if h.empty() {
		c.context() // says what a zero Collection lacks
		return nil
	}
	return c.context().AddHistory(h.data.View(), h)
}

// addFirst appends the first n records of a history.
func (c *Collection[R]) addFirst(h *History[R], n int) error {
	return c.context().AddHistory(h.data.View().First(n), h)
}

// Remove removes a record. It reports whether the record was in the collection.
func (c *Collection[R]) Remove(r R) bool { return c.context().Remove(r) }

// Replace replaces a record by another. It reports whether the first was in the collection; for an invalid
// replacement it returns the error of Validate.
func (c *Collection[R]) Replace(old, r R) (bool, error) { return c.context().Replace(old, r) }

// Clear removes all records.
func (c *Collection[R]) Clear() { c.context().Clear(c.kind()) }

// Has reports whether a record is in the collection.
func (c *Collection[R]) Has(r R) bool { return c.context().Has(r) }

// Len is the number of records.
func (c *Collection[R]) Len() int { return c.context().Len(c.kind()) }

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
func (c *Collection[R]) Slice() []R { return turn.Records[R](c.context()) }

// Get returns the first record with the given id (an instruction: text).
func (c *Collection[R]) Get(id string) (r R, ok bool) {
	list := c.Slice()
	if i := slices.IndexFunc(list, func(r R) bool { return record.Key(r) == id }); i >= 0 {
		return list[i], true
	}
	return r, false
}

package turn

import (
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/record"
)

// Add appends the records that are not in a collection of the context yet. For an invalid record it returns the error
// of Validate and adds none.
func Add[R record.Type](c *Context, records []R) error {
	// Encoding runs code of payloads, so that no lock may be held.
	t := c.turn
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
		t.addRecord(c, r, bodies[start:ends[i]])
		start = ends[i]
	}
	return nil
}

// AddHistory appends the records of the beginning of a history, in constant time. The turn holds on to owner.
func (c *Context) AddHistory(view collections.View, owner any) error {
	t := c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.histories, owner) {
		t.histories = append(t.histories, owner)
	}
	return t.addHistory(c, view)
}

// Remove removes a record. It reports whether the record was in its collection.
func (c *Context) Remove(r record.Record) bool {
	t := c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	handle, known := t.handles.Find(r)
	if !known || !c.records[collections.Of(r)].Remove(handle) {
		return false
	}
	t.Edit(&abi.Edit{Context: c.number, Collection: collections.Of(r), Edit: abi.EditRemove, Handle: handle})
	return true
}

// Replace replaces a record by another. It reports whether the first was in its collection; for an invalid replacement
// it returns the error of Validate.
func (c *Context) Replace(old, r record.Record) (bool, error) {
	if err := r.Validate(); err != nil {
		return false, err
	}
	t := c.turn
	body, err := t.encode(r)
	if err != nil {
		return false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.replaceRecord(c, old, r, body), nil
}

// Clear removes all records of a collection.
func (c *Context) Clear(kind uint8) {
	t := c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := &c.records[kind]; o.Len() > 0 {
		o.Clear()
		t.Edit(&abi.Edit{Context: c.number, Collection: kind, Edit: abi.EditClear})
	}
}

// Has reports whether a record is in its collection.
func (c *Context) Has(r record.Record) bool {
	t := c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	handle, known := t.handles.Find(r)
	return known && c.records[collections.Of(r)].Has(handle)
}

// Len is the number of records of a collection.
func (c *Context) Len(kind uint8) int {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	return c.records[kind].Len()
}

// Records returns the records of a collection in order, in a slice of the caller's own.
func Records[R record.Type](c *Context) []R {
	var r R
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	return collections.Records[R](&c.records[collections.Of(r)], &c.turn.handles)
}

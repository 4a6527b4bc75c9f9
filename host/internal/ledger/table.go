package ledger

import "slices"

// Row is a record and the revisions that added it and wrote it last.
type Row[T any] struct {
	ID             string
	Value          T
	Added, Changed uint64
}

// Table holds the records of one kind in order.
type Table[T any] struct {
	Rows []Row[T]       // their Added ascends
	ids  map[string]int // places; nil when out of date
}

// After returns the records that were added after a revision.
func (t *Table[T]) After(revision uint64) []Row[T] {
	from, _ := slices.BinarySearchFunc(t.Rows, revision+1, func(r Row[T], n uint64) int { return int(int64(r.Added) - int64(n)) })
	return t.Rows[from:]
}

func (t *Table[T]) place(id string) (int, bool) {
	if t.ids == nil {
		t.ids = make(map[string]int, len(t.Rows))
		for i, r := range t.Rows {
			t.ids[r.ID] = i
		}
	}
	i, ok := t.ids[id]
	return i, ok
}

// changed is the revision that wrote a record last.
func (t *Table[T]) changed(id string) (revision uint64, there bool) {
	i, there := t.place(id)
	if !there {
		return 0, false
	}
	return t.Rows[i].Changed, true
}

// write does a write of a revision. settles tells whether it changed what was there, or its order.
func (t *Table[T]) write(w *Write[T], revision uint64) (settles bool) {
	gone := make(map[string]bool, len(w.Old))
	at := len(t.Rows)
	for _, id := range w.Old {
		if i, there := t.place(id); there {
			gone[id], at = true, min(at, i)
		}
	}
	if len(gone) == 0 {
		for _, item := range w.New {
			settles = t.put(item, revision, w.Fixed) || settles
		}
		return settles
	}
	if len(w.Old) == 1 && len(w.New) == 1 && w.Old[0] == w.New[0].ID {
		return t.put(w.New[0], revision, w.Fixed)
	}
	before := t.Rows[max(at-1, 0)].Added // it must ascend, and who knows this revision knows all that was added before
	in := Table[T]{}
	for _, item := range w.New {
		in.put(item, revision, w.Fixed)
		gone[item.ID] = true
	}
	for i := range in.Rows {
		in.Rows[i].Added = before
	}
	isGone := func(r Row[T]) bool { return gone[r.ID] }
	front := slices.DeleteFunc(slices.Clone(t.Rows[:at]), isGone)
	t.Rows, t.ids = append(append(front, in.Rows...), slices.DeleteFunc(t.Rows[at:], isGone)...), nil
	return true
}

// put adds a record, or puts it in the place of the one with the same id. settles tells that it did that.
func (t *Table[T]) put(item Item[T], revision uint64, fixed bool) (settles bool) {
	if i, ok := t.place(item.ID); ok {
		if fixed {
			return false
		}
		t.Rows[i].Value, t.Rows[i].Changed = item.Value, revision
		return true
	}
	t.ids[item.ID] = len(t.Rows)
	t.Rows = append(t.Rows, Row[T]{item.ID, item.Value, revision, revision})
	return false
}

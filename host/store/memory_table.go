package store

import (
	"slices"

	"github.com/turncore/turncore/host/record"
)

// table holds the records of one kind in order.
type table[R record.Type] struct {
	rows []row[R]       // their added ascends
	ids  map[string]int // places; nil when out of date
}

// row is a record and the revisions that added it and wrote it last.
type row[R record.Type] struct {
	record         R
	added, changed uint64
}

// after returns the records that were added after a revision.
func (t *table[R]) after(revision uint64) []R {
	from, _ := slices.BinarySearchFunc(t.rows, revision+1, func(r row[R], n uint64) int { return int(int64(r.added) - int64(n)) })
	list := make([]R, 0, len(t.rows)-from)
	for _, r := range t.rows[from:] {
		list = append(list, r.record)
	}
	return list
}

// clone returns a table with the same records, which goes its own way.
func (t *table[R]) clone() table[R] { return table[R]{rows: slices.Clone(t.rows)} }

func (t *table[R]) place(id string) (int, bool) {
	if t.ids == nil {
		t.ids = make(map[string]int, len(t.rows))
		for i, r := range t.rows {
			t.ids[record.Key(r.record)] = i
		}
	}
	i, ok := t.ids[id]
	return i, ok
}

// changed is the revision that wrote a record last.
func (t *table[R]) changed(id string) (revision uint64, there bool) {
	i, there := t.place(id)
	if !there {
		return 0, false
	}
	return t.rows[i].changed, true
}

// apply does a write of a revision. added is false if it changed what was there, or its order.
func (t *table[R]) apply(d *Delta, revision uint64) (added bool) {
	switch r, isRecord := d.Record.(R); {
	case d.Op == OpReplaceToolCallGroup:
		return t.replaceGroup(d, revision)
	case d.Op == OpDelete:
		return !t.remove(d.ID)
	case isRecord && d.Op == OpMutate && d.ID != "" && d.ID != record.Key(r):
		return t.rename(d.ID, r, revision)
	case isRecord:
		return t.put(r, revision)
	}
	return true
}

// put adds a record, or puts it in the place of the one with the same id.
func (t *table[R]) put(r R, revision uint64) (added bool) {
	if i, ok := t.place(record.Key(r)); ok {
		if text, is := any(r).(*record.Instruction); is && text.Text == record.Key(t.rows[i].record) {
			return true
		}
		t.rows[i].record, t.rows[i].changed = r, revision
		return false
	}
	t.ids[record.Key(r)] = len(t.rows)
	t.rows = append(t.rows, row[R]{r, revision, revision})
	return true
}

func (t *table[R]) remove(id string) bool {
	i, there := t.place(id)
	if there {
		t.rows, t.ids = slices.Delete(t.rows, i, i+1), nil
	}
	return there
}

// rename puts an instruction in the place of the one with an old text.
func (t *table[R]) rename(old string, r R, revision uint64) (added bool) {
	if _, there := t.place(old); !there {
		return t.put(r, revision)
	}
	t.remove(record.Key(r))
	i, _ := t.place(old)
	t.rows[i].record, t.rows[i].changed, t.ids = r, revision, nil
	return false
}

// replaceGroup puts tool calls where the first of those that they replace was.
func (t *table[R]) replaceGroup(d *Delta, revision uint64) (added bool) {
	gone := make(map[string]bool, len(d.IDs)+len(d.Records))
	at := len(t.rows)
	for _, id := range d.IDs {
		if i, there := t.place(id); there {
			gone[id], at = true, min(at, i)
		}
	}
	in := table[R]{}
	for _, c := range d.Records {
		if r, ok := any(c).(R); ok {
			in.put(r, revision)
			if _, there := t.place(record.Key(r)); there {
				gone[record.Key(r)] = true
			}
		}
	}
	if len(gone) == 0 {
		for _, r := range in.rows {
			t.put(r.record, revision)
		}
		return true
	}
	before := t.rows[max(at-1, 0)].added // it must ascend, and who knows this revision knows all that was added before
	for i := range in.rows {
		in.rows[i].added = before
	}
	isGone := func(r row[R]) bool { return gone[record.Key(r.record)] }
	front := slices.DeleteFunc(slices.Clone(t.rows[:at]), isGone)
	t.rows, t.ids = append(append(front, in.rows...), slices.DeleteFunc(t.rows[at:], isGone)...), nil
	return false
}

package sqlstore

import (
	"cmp"
	"math"
	"slices"
)

// shared are the records of a base that its fork shares, by the statement for all or for those of a kind; none of
// another session.
func (t *tx) shared(r *sessionRow, kind ...int64) ([]recordRow, error) {
	if r.base == 0 {
		return nil, nil
	}
	statement, args := "sharedRecords", []any{r.base}
	if len(kind) > 0 {
		statement, args = "sharedOfKind", append(args, kind[0])
	}
	rows, err := t.rows(statement, append(args, r.cut)...)
	all, err := list(rows, err, (*recordRow).scan)
	for i := range all {
		all[i].shared = true
	}
	return all, err
}

// records are all records of a session in their order.
func (t *tx) records(r *sessionRow) ([]recordRow, error) {
	all, err := t.shared(r)
	if err != nil {
		return nil, err
	}
	rows, err := t.rows("allRecords", r.number)
	own, err := list(rows, err, (*recordRow).scan)
	if len(all) == 0 {
		return own, err
	}
	all = append(all, own...)
	slices.SortStableFunc(all, func(a, b recordRow) int { return cmp.Compare(a.kind, b.kind) })
	return all, err
}

// recordsOfKind are those of a kind.
func (t *tx) recordsOfKind(r *sessionRow, kind int64) ([]recordRow, error) {
	all, err := t.shared(r, kind)
	if err != nil {
		return nil, err
	}
	rows, err := t.rows("recordsOfKind", r.number, kind)
	own, err := list(rows, err, (*recordRow).scan)
	return append(all, own...), err
}

// separate gives a fork rows of its own for what it shares. The caller stores the session.
func (t *tx) separate(r *sessionRow) error {
	if r.base == 0 {
		return nil
	}
	for _, statement := range []string{"copyRecords", "copyRefs"} {
		if err := t.exec(statement, r.number, r.base, r.cut); err != nil {
			return err
		}
	}
	r.base, r.cut = 0, 0
	return nil
}

// separateForks separates the forks that share a record of a session which was added by a revision; 0 stands for all
// forks.
func (t *tx) separateForks(session, added int64) error {
	rows, err := t.rows("lockForks", session, added)
	forks, err := list(rows, err, (*sessionRow).scan)
	if err != nil {
		return err
	}
	for i := range forks {
		fork := &forks[i]
		err := fork.check()
		if err == nil {
			err = t.separate(fork)
		}
		if err == nil {
			err = t.set(fork)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unshare sees to it that no other session shares a record that is to be changed, deleted or moved.
func (c *committing) unshare(r *recordRow) error {
	if r.shared {
		r.shared, c.listed = false, false
		return c.separate(c.row)
	}
	if r.added >= c.unshared {
		return nil
	}
	c.unshared = r.added
	return c.separateForks(c.row.number, r.added)
}

// allShared is the revision from which on records are unshared as long as none is.
const allShared = math.MaxInt64

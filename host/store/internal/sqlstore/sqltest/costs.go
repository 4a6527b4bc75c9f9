package sqltest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// counter counts the statements of a store.
type counter map[string]int

// opened opens the store that is counted. It is to be called from one goroutine.
func (c counter) opened(t *testing.T, d *Database) *sqlstore.Store {
	t.Helper()
	return opened(t, d, sqlstore.Options{Tell: func(statement string) { c[statement]++ }})
}

// of returns what a function runs, in words.
func (c counter) of(run func()) string {
	clear(c)
	run()
	words := ""
	for _, name := range slices.Sorted(maps.Keys(c)) {
		words += fmt.Sprintf("%s %d, ", name, c[name])
	}
	return words
}

// commitsCostTheSame makes 2,000 commits in a turn, each of which changes what the turn itself has written: the last one
// runs the statements of the tenth. The keys of all of them are forgotten at once.
func commitsCostTheSame(t *testing.T, d *Database) {
	count := counter{}
	s := count.opened(t, d)
	seen := commit(t, s, "s", said("m", "text"))
	var tenth, last string
	for n := range 2000 {
		words := count.of(func() {
			if _, err := s.Commit(t.Context(), "s", store.Commit{
				Deltas: []store.Delta{said("m", fmt.Sprint(n)), said(fmt.Sprint("m", n), "text")},
				Key:    fmt.Sprint("key ", n), Turn: "t", Revision: seen,
			}); err != nil {
				t.Fatal(err)
			}
		})
		if n == 9 {
			tenth = words
		}
		last = words
	}
	t.Logf("commit 2,000: %s", last)
	if last != tenth {
		t.Errorf("commit 2,000 runs %s and the tenth %s", last, tenth)
	}
	ends := func(key, turn, ended string) string {
		return count.of(func() {
			c := store.Commit{Deltas: []store.Delta{said(key, "text")}, Key: key, Turn: turn, Ended: []string{ended}}
			if _, err := s.Commit(t.Context(), "s", c); err != nil {
				t.Fatal(err)
			}
		})
	}
	many, one := ends("a", "t2", "t"), ends("b", "t3", "t2")
	if many != one {
		t.Errorf("the end of a turn with 2,000 keys runs %s and that of one with a key %s", many, one)
	}
	if n := d.count(t, "SELECT COUNT(*) FROM turncore_keys"); n != 1 {
		t.Errorf("%d keys are left", n)
	}
}

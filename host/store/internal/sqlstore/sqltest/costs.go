package sqltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// counter counts the statements of a store.
type counter struct {
	mu sync.Mutex
	of map[string]int
}

// opened opens the store that is counted.
func (c *counter) opened(t *testing.T, d *Database) *sqlstore.Store {
	t.Helper()
	s := opened(t, d, sqlstore.Options{Tell: func(statement string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.of != nil {
			c.of[statement]++
		}
	}})
	if _, err := s.Collect(t.Context()); err != nil { // which the first commit would do, in the background
		t.Fatal(err)
	}
	return s
}

// count returns what a function runs, in words. Nothing else is to run.
func (c *counter) count(run func()) (words string) {
	c.of = make(map[string]int)
	run()
	for _, name := range slices.Sorted(maps.Keys(c.of)) {
		words += fmt.Sprintf("%s %d, ", name, c.of[name])
	}
	return words
}

// appendsCostTheSame appends 10,000 events: the last one runs the statements of the tenth, and so does the entry of a
// journal.
func appendsCostTheSame(t *testing.T, d *Database) {
	const all, turns = 10_000, 32
	c := &counter{}
	s := c.opened(t, d)
	if err := s.PutBytes(t.Context(), "s", "b", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	add := func(n int) {
		a := store.Append{
			Event:     &store.SessionEvent{ID: fmt.Sprint(n), Body: []byte("{}")},
			State:     []store.StateValue{{Name: "n", Value: fmt.Append(nil, n)}},
			Artifacts: []store.Artifact{{Name: fmt.Sprint("artifact ", n), Bytes: "b"}},
			Key:       fmt.Sprint("key ", n), Turn: fmt.Sprint("turn ", n%turns),
		}
		if _, err := s.Append(t.Context(), "s", a); err != nil {
			t.Error(err)
		}
	}
	entries, at := make([][]byte, all), int64(0)
	journal := func(n int) {
		if err := s.AppendJournal(t.Context(), "t", store.JournalAppend{Epoch: 1, At: at, Entries: entries[:n]}); err != nil {
			t.Error(err)
		}
		at += int64(n)
	}
	journal(1)
	for n := range turns { // a turn's first append also counts the session's keys
		add(n)
	}
	early := c.count(func() {
		add(turns)
		journal(1)
	})
	c.of = nil
	for n := turns + 1; n < all-1 && !t.Failed(); n++ {
		add(n)
	}
	journal(all - 3)
	last := c.count(func() {
		add(all - 1)
		journal(1)
	})
	t.Logf("append 10,000: %s", last)
	if last != early || d.count(t, "SELECT COUNT(*) FROM turncore_events") != all {
		t.Errorf("append 10,000 runs %s and an early one %s", last, early)
	}
}

// commitsCostTheSame makes 2,000 commits in a turn, each of which changes what the turn itself has written: the last
// one runs the statements of the tenth. The keys of all of them are forgotten at once.
func commitsCostTheSame(t *testing.T, d *Database) {
	count := &counter{}
	s := count.opened(t, d)
	seen := commit(t, s, "s", said("m", "text"))
	var tenth, last string
	for n := range 2000 {
		words := count.count(func() {
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
		return count.count(func() {
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

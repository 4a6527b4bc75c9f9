package sqltest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// twoProcesses commits to one session with two stores at a time: nothing is lost or doubled, under keys that both use.
func twoProcesses(t *testing.T, d *Database) {
	const writers, commits = 8, 25
	all := []*sqlstore.Store{opened(t, d, sqlstore.Options{}), opened(t, d, sqlstore.Options{})}
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := range commits {
				id := fmt.Sprintf("%d.%d", w/2, n)
				c := store.Commit{Deltas: []store.Delta{said(id, "text")}, Key: "key " + id, Turn: "t"}
				if _, err := all[w%2].Commit(t.Context(), "s", c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for _, s := range all {
		if c := load(t, s, "s", ""); len(c.Messages) != writers/2*commits {
			t.Errorf("%d messages are there of %d", len(c.Messages), writers/2*commits)
		}
	}
	if n := d.count(t, "SELECT keys FROM turncore_sessions"); n != writers/2*commits {
		t.Errorf("%d keys are kept", n)
	}
	if _, err := all[0].Commit(t.Context(), "s", store.Commit{Ended: []string{"t"}}); err != nil {
		t.Error(err)
	}
	if n := d.count(t, "SELECT COUNT(*) FROM turncore_keys"); n != 0 {
		t.Errorf("%d keys are kept of a turn that has ended", n)
	}
}

// conflictBesideOthers lets commits fail beside some that do not: each fails by itself.
func conflictBesideOthers(t *testing.T, d *Database) {
	s := opened(t, d, sqlstore.Options{})
	before := commit(t, s, "s", said("m", "first"))
	commit(t, s, "s", store.Delta{Op: store.OpMutate, Kind: "message", ID: "m", Record: record.NewMessage("m", record.User, "second", noon)})
	var group sync.WaitGroup
	for n := range 64 {
		group.Go(func() {
			c := store.Commit{Deltas: []store.Delta{said(fmt.Sprint(n), "text")}, Revision: before}
			if n%2 == 0 {
				c.Deltas = append(c.Deltas, said("m", "third"))
			}
			_, err := s.Commit(t.Context(), "s", c)
			if (n%2 == 0) != errors.Is(err, host.CodeSessionConflict) {
				t.Errorf("commit %d: %v", n, err)
			}
		})
	}
	group.Wait()
	c := load(t, s, "s", "")
	if len(c.Messages) != 33 || c.Messages[0].Content != "second" {
		t.Errorf("%d messages are there, the first is %q", len(c.Messages), c.Messages[0].Content)
	}
}

// closed calls everything of a store that is closed.
func closed(t *testing.T, d *Database) {
	s := opened(t, d, sqlstore.Options{})
	commit(t, s, "s", said("m", "text"))
	content := func() error {
		_, _, err := s.OpenBytes(t.Context(), "s", "id")
		return err
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, loading := s.Load(t.Context(), "s", "")
	_, committing := s.Commit(t.Context(), "s", store.Commit{Deltas: []store.Delta{said("n", "text")}})
	_, _, listing := s.List(t.Context(), "", 1)
	putting := s.PutBytes(t.Context(), "s", "id", strings.NewReader("text"))
	for _, err := range []error{
		loading, committing, listing, putting, content(), s.Fork(t.Context(), "s", "t"), s.Delete(t.Context(), "s"),
		s.SetTitle(t.Context(), "s", "title"),
	} {
		if is(t, err, host.CodeStoreFailed); err != nil && !strings.Contains(err.Error(), "closed") {
			t.Errorf("the error is %v", err)
		}
	}
}

// sessionIDs are ids that are no names of files, members or words of SQL; and some that are refused.
func sessionIDs(t *testing.T, d *Database) {
	s := opened(t, d, sqlstore.Options{})
	long := strings.Repeat("ä", 256)
	for _, id := range []string{"", "__proto__", "constructor", "../../etc", "a\x00b", "a", "' OR 1=1 --", "日本語 🎉", "é", "é", long} {
		commit(t, s, id, said("m\x00"+id, id+"!"))
		if c := load(t, s, id, ""); len(c.Messages) != 1 || c.Messages[0].ID != "m\x00"+id {
			t.Errorf("%q has %d messages", id, len(c.Messages))
		}
		if err := s.SetTitle(t.Context(), id, "\x00"+id); err != nil {
			t.Error(err)
		}
		page, _, err := s.List(t.Context(), "", 1)
		if err != nil || page[0].ID != id || page[0].Title != "\x00"+id {
			t.Errorf("%q is listed as %+v (%v)", id, page, err)
		}
	}
	for _, id := range []string{long + "a", "\xff"} {
		_, err := s.Commit(t.Context(), id, store.Commit{Deltas: []store.Delta{said("m", "text")}})
		is(t, err, host.CodeInvalidSessionID)
		_, err = s.Load(t.Context(), id, "")
		is(t, err, host.CodeInvalidSessionID)
	}
}

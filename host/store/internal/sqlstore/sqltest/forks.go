package sqltest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// forksShareRecords forks sessions and then writes to them: a fork has rows of its own for what it shares only once one
// of the two has changed that, and neither sees what the other one does.
func forksShareRecords(t *testing.T, d *Database) {
	s := opened(t, d, sqlstore.Options{})
	mutated := func(id, text string) store.Delta {
		return store.Delta{Op: store.OpMutate, Kind: "message", ID: id, Record: record.NewMessage(id, record.User, text, noon)}
	}
	deleted := func(kind, id string) store.Delta { return store.Delta{Op: store.OpDelete, Kind: kind, ID: id} }
	replaced := func(ids []string, calls ...*record.ToolCall) store.Delta {
		return store.Delta{Op: store.OpReplaceToolCallGroup, Kind: "toolCall", IDs: ids, Records: calls}
	}
	reworded := store.Delta{Op: store.OpMutate, Kind: "standingInstruction", ID: "be kind", Record: &record.Instruction{Text: "be brief"}}
	later := []store.Delta{said("later", "text"), instructed("later"), spooled("later", text1("later"))}
	const shared = 6
	sum := sha256.Sum256([]byte("long"))
	long := store.ContentID(sum[:])
	for n, c := range []struct {
		what                 string
		toBase, toFork, more []store.Delta // more is for both
		separate             bool          // the fork gets rows of its own
	}{
		{what: "nothing"},
		{what: "base adds", toBase: later},
		{what: "fork adds", toFork: later},
		{what: "both add", toBase: later, toFork: slices.Concat(later, []store.Delta{said("m9", "fork's")})},
		{what: "base stores over", toBase: []store.Delta{said("m1", "again")}, separate: true},
		{what: "fork stores over", toFork: []store.Delta{said("m1", "again")}, separate: true},
		{what: "base changes", toBase: []store.Delta{mutated("m2", "changed")}, separate: true},
		{what: "fork changes", toFork: []store.Delta{mutated("m2", "changed")}, separate: true},
		{what: "base deletes", toBase: []store.Delta{deleted("message", "m2")}, separate: true},
		{what: "fork deletes", toFork: []store.Delta{deleted("message", "m2")}, separate: true},
		{what: "base replaces", toBase: []store.Delta{replaced([]string{"c1"}, called("x", "1"), called("y", "1"))}, separate: true},
		{what: "fork replaces", toFork: []store.Delta{replaced([]string{"c1"}, called("x", "1"), called("y", "1"))}, separate: true},
		{what: "base rewords", toBase: []store.Delta{reworded}, separate: true},
		{what: "fork rewords", toFork: []store.Delta{reworded}, separate: true},
		{what: "base has an instruction again", toBase: []store.Delta{instructed("be kind")}},
		{what: "fork has an instruction again", toFork: []store.Delta{instructed("be kind")}},
		{what: "base changes what it has added", toBase: []store.Delta{said("late", "1")}, more: []store.Delta{mutated("late", "2")}},
		{what: "base deletes what it has added", toBase: []store.Delta{said("late", "1")}, more: []store.Delta{deleted("message", "late")}},
		{what: "fork changes what it has added", toFork: []store.Delta{said("late", "1")}, more: []store.Delta{deleted("message", "late")}},
		{what: "both change what they have added", toBase: []store.Delta{said("late", "1")}, toFork: []store.Delta{said("late", "2")}, more: []store.Delta{mutated("late", "3")}},
		{what: "fork deletes what only base has", toBase: []store.Delta{said("late", "1")}, toFork: []store.Delta{deleted("message", "late")}},
		{what: "base adds and deletes", toBase: []store.Delta{said("late", "1"), deleted("message", "m1")}, separate: true},
	} {
		memory := store.NewInMemory()
		base, fork := fmt.Sprint("base ", n), fmt.Sprint("fork ", n)
		do := func(session string, writes []store.Delta) {
			t.Helper()
			if len(writes) > 0 {
				commit(t, s, session, writes...)
				commit(t, memory, session, writes...)
			}
		}
		do(base, []store.Delta{instructed("be kind"), said("m1", "one"), said("m2", "two"), said("m3", "three"), spooled("c1", text1("long")), spooled("c2", text1("long"))})
		for _, of := range []store.Sessions{s, memory} {
			if err := of.Fork(t.Context(), base, fork); err != nil {
				t.Fatal(err)
			}
		}
		forked := load(t, s, fork, "").Revision
		do(base, c.toBase)
		do(fork, c.toFork)
		do(base, c.more)
		do(fork, c.more)
		rows := func() int {
			return d.count(t, fmt.Sprintf("SELECT COUNT(*) FROM turncore_records WHERE added <= (SELECT created FROM turncore_sessions WHERE number = %d) AND session = %d", numberOf(t, forked), numberOf(t, forked)))
		}
		bases := d.count(t, fmt.Sprintf("SELECT COUNT(*) FROM turncore_sessions WHERE number = %d AND base <> 0", numberOf(t, forked)))
		if (bases == 0) != c.separate || (rows() > 0) != c.separate {
			t.Errorf("%s: %d rows of the fork's own of %d that it began with", c.what, rows(), shared)
		}
		same := func(when string, sessions ...string) {
			t.Helper()
			for _, session := range sessions {
				want, err := lines(withoutReaders(load(t, memory, session, "")))
				if err != nil {
					t.Fatal(err)
				}
				got, err := lines(withoutReaders(load(t, s, session, "")))
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s%s: %s has %q (%v), not %q", c.what, when, session, got, err, want)
				}
				read, err := bytesOf(s, session, long)
				if err != nil || read != "long" {
					t.Errorf("%s%s: the bytes of %s are %q (%v)", c.what, when, session, read, err)
				}
			}
		}
		same("", base, fork)
		// A fork of the fork, after which the fork is deleted; and then the base.
		again := fmt.Sprint("again ", n)
		for _, of := range []store.Sessions{s, memory} {
			if err := of.Fork(t.Context(), fork, again); err != nil {
				t.Fatal(err)
			}
		}
		same(", forked again", base, fork, again)
		do(fork, []store.Delta{mutated("m3", "changed"), said("last", "fork")})
		do(again, []store.Delta{said("last", "again"), deleted("message", "m3")})
		same(", after that", base, fork, again)
		third := fmt.Sprint("third ", n)
		for _, of := range []store.Sessions{s, memory} {
			if err := of.Fork(t.Context(), base, third); err != nil {
				t.Fatal(err)
			}
			if err := of.Delete(t.Context(), base); err != nil {
				t.Fatal(err)
			}
		}
		same(", without its base", fork, again, third)
		for _, session := range []string{fork, again, third} {
			if err := s.Delete(t.Context(), session); err != nil {
				t.Fatal(err)
			}
		}
		for _, table := range []string{"records", "refs", "contents", "sessions"} {
			if n := d.count(t, "SELECT COUNT(*) FROM turncore_"+table); n != 0 {
				t.Errorf("%s: %d rows are left in %s", c.what, n, table)
			}
		}
	}
}

// withoutReaders has words in the place of what readers read.
func withoutReaders(c *store.Conversation) *store.Conversation {
	c.ToolCalls = slices.Clone(c.ToolCalls)
	for i, call := range c.ToolCalls {
		if _, ok := call.Results.(*record.SpooledArtifact); ok {
			plain := *call
			plain.Results = "what a reader reads"
			c.ToolCalls[i] = &plain
		}
	}
	return c
}

// numberOf is the number of a session that a revision is of.
func numberOf(t *testing.T, revision string) (number int64) {
	t.Helper()
	if _, err := fmt.Sscanf(revision, "%d.", &number); err != nil {
		t.Fatal(err)
	}
	return number
}

// forksCostTheSame forks a session of 5 records and one of 2,000: the same statements, none of which copies records.
func forksCostTheSame(t *testing.T, d *Database) {
	c := &counter{}
	s := c.opened(t, d)
	fork := func(session string, records int) string {
		var writes []store.Delta
		for n := range records {
			writes = append(writes, said(fmt.Sprint(n), "text"))
		}
		commit(t, s, session, writes...)
		return c.count(func() {
			if err := s.Fork(t.Context(), session, "fork of "+session); err != nil {
				t.Fatal(err)
			}
			commit(t, s, "fork of "+session, said("more", "text"))
			commit(t, s, session, said("more", "text"))
		})
	}
	few, many := fork("a", 5), fork("b", 2000)
	t.Logf("a fork and two commits: %s", many)
	if few != many || d.count(t, "SELECT COUNT(*) FROM turncore_records") != 2005+4 {
		t.Errorf("a fork of 2,000 records runs %s and one of 5 %s", many, few)
	}
}

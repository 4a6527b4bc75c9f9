package sqltest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// bytesAreCollected collects what no record refers to and is older than an hour.
func bytesAreCollected(t *testing.T, d *Database) {
	now := noon
	s := opened(t, d, sqlstore.Options{Now: func() time.Time { return now }})
	put := func(id string) {
		t.Helper()
		if err := s.PutBytes(t.Context(), "s", id, strings.NewReader("content of "+id)); err != nil {
			t.Fatal(err)
		}
	}
	collect := func() int {
		t.Helper()
		n, err := s.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	commit(t, s, "s", spooled("c", text1("kept")), spooled("d", text1("dropped later")))
	put("loose")
	d.exec(t, "INSERT INTO turncore_contents (added) VALUES ("+d.Mark(1)+")", noon.UnixMicro())
	d.exec(t, "INSERT INTO turncore_parts (content, part, data, sum) SELECT MAX(number), 0, "+d.Mark(1)+", 0 FROM turncore_contents", []byte("left"))
	if n := collect(); n != 0 {
		t.Errorf("%d bytes are collected at once", n)
	}
	now = now.Add(61 * time.Minute)
	put("young")
	if n := collect(); n != 2 {
		t.Errorf("%d bytes are collected, not those without a record and those of a program that ended", n)
	}
	_, err := bytesOf(s, "s", "loose")
	is(t, err, host.CodeBytesNotFound)
	if text, err := bytesOf(s, "s", "young"); err != nil || text != "content of young" {
		t.Error(text, err)
	}
	commit(t, s, "s", store.Delta{Op: store.OpDelete, Kind: "toolCall", ID: "d"})
	now = now.Add(61 * time.Minute)
	if n := collect(); n != 2 {
		t.Errorf("%d bytes are collected, not those of a deleted record and those without one", n)
	}
	// Refs that are lost lose nothing: the records themselves are asked.
	d.exec(t, "DELETE FROM turncore_refs")
	if n := collect(); n != 0 {
		t.Errorf("%d bytes are collected that a record has", n)
	}
	c := load(t, s, "s", "")
	a, _ := c.ToolCalls[0].Results.(*record.SpooledArtifact)
	if text, err := a.AsString(t.Context()); err != nil || text != "kept" {
		t.Error(text, err)
	}
	// A commit collects too, in the background.
	now = now.Add(61 * time.Minute)
	put("again")
	now = now.Add(61 * time.Minute)
	commit(t, s, "r", said("m", "text"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := d.count(t, "SELECT COUNT(*) FROM turncore_contents"); n != 1 {
		t.Errorf("%d contents are left", n)
	}
}

// artifactsKeepContent collects, replaces and deletes the bytes that versions were made of.
func artifactsKeepContent(t *testing.T, d *Database) {
	now := noon
	s := opened(t, d, sqlstore.Options{Now: func() time.Time { return now }})
	put := func(text string) {
		t.Helper()
		if err := s.PutBytes(t.Context(), "s", "b", strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	version := func(session, scope string, n int) {
		t.Helper()
		a := store.Append{Artifacts: []store.Artifact{{Scope: scope, Name: "a", Version: n, Bytes: "b"}}}
		if _, err := s.Append(t.Context(), session, a); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(session, scope string, n int, want string) {
		t.Helper()
		content, size, err := s.OpenArtifact(t.Context(), session, scope, "a", n)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(io.NewSectionReader(content, 0, size)); err != nil || string(got) != want {
			t.Errorf("version %d of session %q, scope %q has %q (%v), not %q", n, session, scope, got, err, want)
		}
	}
	contents := func(want int) {
		t.Helper()
		if n := d.count(t, "SELECT COUNT(*) FROM turncore_contents"); n != want {
			t.Errorf("%d contents, not %d", n, want)
		}
	}
	put("one")
	version("s", "", 0)
	version("s", "shared", 0)
	put("two")
	version("s", "", 1)
	contents(2)
	now = now.Add(61 * time.Minute)
	if n, err := s.Collect(t.Context()); n != 1 || err != nil {
		t.Errorf("%d bytes are collected, not those of the id (%v)", n, err)
	}
	contents(2)
	if err := s.Fork(t.Context(), "s", "fork"); err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"s", "fork"} {
		expect(session, "", 0, "one")
		expect(session, "", 1, "two")
		expect(session, "shared", 0, "one")
		if err := s.Delete(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		contents(map[string]int{"s": 2, "fork": 1}[session])
	}
	now = now.Add(61 * time.Minute)
	if n, err := s.Collect(t.Context()); n != 0 || err != nil {
		t.Errorf("%d contents of the shared scope are collected (%v)", n, err)
	}
	expect("nobody", "shared", 0, "one")
}

// keysExpire forgets the keys of turns that have committed nothing for a week, unless they have a journal.
func keysExpire(t *testing.T, d *Database) {
	now := noon
	s := opened(t, d, sqlstore.Options{Now: func() time.Time { return now }})
	keyed := func(turn, id string) {
		t.Helper()
		c := store.Commit{Deltas: []store.Delta{said(id, "text")}, Key: id, Turn: turn}
		if _, err := s.Commit(t.Context(), "s", c); err != nil {
			t.Fatal(err)
		}
	}
	keyed("crashed", "1")
	keyed("crashed", "2")
	keyed("goes on", "3")
	keyed("writes", "4")
	if err := s.AppendJournal(t.Context(), "goes on", store.JournalAppend{Epoch: 1, Entries: [][]byte{{1}}}); err != nil {
		t.Fatal(err)
	}
	expect := func(want int) {
		t.Helper()
		if _, err := s.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := d.count(t, "SELECT COUNT(*) FROM turncore_keys"); n != want {
			t.Errorf("%d keys are kept, not %d", n, want)
		}
		if n := d.count(t, "SELECT keys FROM turncore_sessions"); n != want {
			t.Errorf("the session says that it has %d keys, not %d", n, want)
		}
	}
	now = noon.Add(6 * 24 * time.Hour)
	keyed("writes", "5")
	expect(5)
	now = noon.Add(8 * 24 * time.Hour)
	expect(3)
	keyed("writes", "4") // it is known
	if c := load(t, s, "s", ""); len(c.Messages) != 5 {
		t.Errorf("the session has %d messages", len(c.Messages))
	}
	if err := s.DeleteJournal(t.Context(), "goes on", 1); err != nil {
		t.Fatal(err)
	}
	expect(2)
}

// bytesInParts puts and reads bytes of many lengths.
func bytesInParts(t *testing.T, d *Database) {
	s := opened(t, d, sqlstore.Options{})
	const part = 1 << 20
	for _, size := range []int{0, 1, part - 1, part, part + 1, 3*part + 5} {
		want := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		if err := s.PutBytes(t.Context(), "s", "id", bytes.NewReader(want)); err != nil {
			t.Fatal(err)
		}
		content, n, err := s.OpenBytes(t.Context(), "s", "id")
		if err != nil || n != int64(size) {
			t.Fatalf("%d bytes of %d (%v)", n, size, err)
		}
		got, err := io.ReadAll(io.NewSectionReader(content, 0, n))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes are not those that were put (%v)", size, err)
		}
		some := make([]byte, min(100, size))
		at := max(0, min(size-100, part-50))
		if _, err := content.ReadAt(some, int64(at)); err != nil || !bytes.Equal(some, want[at:at+len(some)]) {
			t.Errorf("those at %d of %d are wrong (%v)", at, size, err)
		}
		if n, err := content.ReadAt(make([]byte, 1), int64(size)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("behind the end: %d bytes, %v", n, err)
		}
	}
	if n := d.count(t, "SELECT COUNT(*) FROM turncore_parts"); n != 4 {
		t.Errorf("%d parts are left of bytes with 4", n)
	}
	content, _, err := s.OpenBytes(t.Context(), "s", "id")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	_, err = content.ReadAt(make([]byte, 1), 0)
	is(t, err, host.CodeBytesNotFound)
	for table := range columns {
		if n := d.count(t, "SELECT COUNT(*) FROM "+table); n != 0 {
			t.Errorf("%s has %d rows of a deleted session", table, n)
		}
	}
	if n := d.count(t, "SELECT COUNT(*) FROM turncore_contents"); n != 0 {
		t.Errorf("%d contents are left of a deleted session", n)
	}
}

// failingReader puts bytes whose reader fails in the third part: those that were there stay.
func failingReader(t *testing.T, d *Database) {
	s := opened(t, d, sqlstore.Options{})
	if err := s.PutBytes(t.Context(), "s", "id", strings.NewReader("there")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	reader := io.MultiReader(strings.NewReader(strings.Repeat("x", 5<<19)), &failing{broken})
	if err := s.PutBytes(t.Context(), "s", "id", reader); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	if text, err := bytesOf(s, "s", "id"); err != nil || text != "there" {
		t.Errorf("what was there is %q (%v)", text, err)
	}
	if n := d.count(t, "SELECT COUNT(*) FROM turncore_parts"); n != 1 {
		t.Errorf("%d parts are left", n)
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// forksShareContent forks a session with bytes and deletes either: the other one keeps them.
func forksShareContent(t *testing.T, d *Database) {
	s := opened(t, d, sqlstore.Options{})
	texts := []string{strings.Repeat("long ", 1000), "short"}
	for i, text := range texts {
		commit(t, s, "a", spooled(fmt.Sprint(i), text1(text)))
	}
	if err := s.Fork(t.Context(), "a", "b"); err != nil {
		t.Fatal(err)
	}
	if n := d.count(t, "SELECT COUNT(*) FROM turncore_contents"); n != 2 {
		t.Errorf("a fork made %d contents of 2", n)
	}
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	c := load(t, s, "b", "")
	for i, text := range texts {
		a, _ := c.ToolCalls[i].Results.(*record.SpooledArtifact)
		if got, err := a.AsString(t.Context()); err != nil || got != text {
			t.Errorf("the fork reads %q (%v)", got, err)
		}
	}
	if err := s.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if n := d.count(t, "SELECT COUNT(*) FROM turncore_parts"); n != 0 {
		t.Errorf("%d parts are left", n)
	}
}

package sqltest

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// columns are those of all tables. Those of a key are flipped too: the row then belongs to something else.
var columns = map[string][]string{
	"turncore_sessions": {
		"number", "id", "revision", "settled", "newest", "created", "title", "messages", "records", "digest", "keys",
		"events", "appended", "base", "cut", "sum",
	},
	"turncore_records": {"session", "kind", "id", "place", "added", "changed", "body", "sum"},
	"turncore_keys":    {"session", "key", "turn", "revision", "sum"},
	"turncore_bytes":   {"session", "id", "content", "size", "added", "sum"},
	"turncore_parts":   {"content", "part", "data", "sum"},
	"turncore_refs":    {"session", "kind", "record", "bytes"},
	"turncore_events":  {"session", "revision", "id", "body", "sum"},
	// Nothing counts what a scope has: a row whose session or scope is flipped is one of another scope.
	"turncore_state":     {"name", "value", "sum"},
	"turncore_artifacts": {"name", "version", "content", "size", "body", "sum"},
	"turncore_journals":  {"turn", "epoch", "first", "next", "checkpoint", "sum"},
	"turncore_entries":   {"turn", "number", "body", "sum"},
}

// binary are the columns that hold bytes.
var binary = []string{"id", "title", "body", "key", "turn", "data", "record", "bytes", "name", "value", "checkpoint"}

// damagedRows flips a bit in every column of every table: each answer afterwards is right, or an error that names the
// session. The session that is asked is "s", or "z", its fork.
func damagedRows(t *testing.T, d *Database, session string) {
	s := opened(t, d, sqlstore.Options{Now: func() time.Time { return noon }})
	text := strings.Repeat("text\n", 100)
	first := store.Commit{Deltas: []store.Delta{instructed("be kind"), said("m1", "one"), said("m2", "two"), spooled("c1", text1(text))}, Key: "k", Turn: "t"}
	at, err := s.Commit(t.Context(), "s", first)
	if err != nil {
		t.Fatal(err)
	}
	if err = s.SetTitle(t.Context(), "s", "title"); err != nil {
		t.Fatal(err)
	}
	id := d.text(t, "SELECT id FROM turncore_bytes")
	for n, event := range []string{"e1", "e2"} {
		if _, err := s.Append(t.Context(), "s", store.Append{
			Event: &store.SessionEvent{ID: event, Body: []byte("body of " + event)},
			State: []store.StateValue{{Name: event, Value: []byte("own")}, {Scope: "shared", Name: event, Value: []byte("shared")}},
			Artifacts: []store.Artifact{
				{Name: "a", Version: n, Bytes: id, Body: []byte(event)}, {Scope: "shared", Name: "b", Version: n, Bytes: id, Body: []byte(event)},
			},
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := journaled(t, s); err != nil {
		t.Fatal(err)
	}

	if session != "s" {
		if err := s.Fork(t.Context(), "s", session); err != nil {
			t.Fatal(err)
		}
	}
	// look is everything that can be asked, in words.
	look := func(again bool) (answers []string, errs []error) {
		answer := func(what string, err error) {
			if err != nil {
				what = ""
				errs = append(errs, err)
			}
			answers = append(answers, what)
		}
		c, err := s.Load(t.Context(), session, "")
		var of []string
		if err == nil {
			of, err = lines(c)
			_, revision, _ := strings.Cut(c.Revision, ".") // no checksum covers the session's number in front
			of = append(of, revision)
		}
		answer(strings.Join(of, "\n"), err)
		all, err := bytesOf(s, session, id)
		answer(all, err)
		page, _, err := s.List(t.Context(), "", 10)
		for i := range page {
			page[i].Revision = "" // no checksum covers a session's number; a load under a wrong one finds no records
		}
		answer(fmt.Sprintf("%+v", page), err)
		newest, err := s.Newest(t.Context(), session)
		answer(newest.String(), err)
		events, err := s.Events(t.Context(), session, store.EventQuery{})
		for i := range events {
			events[i].Revision = "" // which has the session's number
		}
		answer(fmt.Sprintf("%q", events), err)
		for _, scope := range []string{"", "shared"} {
			state, err := s.State(t.Context(), session, scope)
			answer(fmt.Sprintf("%q", state), err)
			artifacts, err := s.Artifacts(t.Context(), session, scope)
			answer(fmt.Sprintf("%+v", artifacts), err)
			content, size, err := s.OpenArtifact(t.Context(), session, scope, map[string]string{"": "a", "shared": "b"}[scope], 1)
			var all []byte
			if err == nil {
				all, err = io.ReadAll(io.NewSectionReader(content, 0, size))
			}
			answer(string(all), err)
		}
		part, err := s.ReadJournal(t.Context(), "t", 0)
		answer(fmt.Sprintf("%+v", part), err)
		// Where the session or its bytes seem to be others, a commit would make new ones.
		if again && session == "s" {
			again, err := s.Commit(t.Context(), session, first)
			answer(again, err)
		}
		return answers, errs
	}
	want, errs := look(true)
	if len(errs) > 0 || session == "s" && want[len(want)-1] != at {
		t.Fatal(want, errs)
	}
	for table, names := range columns {
		if session != "s" && table == "turncore_keys" {
			continue // which a fork has none of
		}
		for _, name := range names {
			t.Run(table+"."+name, func(t *testing.T) {
				undo := d.flip(t, table, name)
				got, errs := look(table != "turncore_bytes" && table != "turncore_parts" && name != "id" && name != "number")
				undo()
				told := table == "turncore_refs" // which tell nothing but what may be collected
				for i := range got {
					told = told || got[i] == "" && len(errs) > 0
					// Nothing counts what a scope has: that of another number is empty.
					if got[i] != want[i] && got[i] != "" && name != "id" && (name != "number" || got[i] != "[]") {
						t.Errorf("the answer %q is wrong, and should be %q", got[i], want[i])
					}
				}
				for _, err := range errs {
					if !errors.Is(err, host.CodeStoredRecordInvalid) && !errors.Is(err, host.CodeBytesNotFound) || !strings.Contains(err.Error(), `"`) {
						t.Errorf("the error is %v", err)
					}
				}
				if !told {
					t.Error("nothing tells of the flipped bit")
				}
			})
		}
	}
	if got, errs := look(true); len(errs) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("afterwards: %q, %v", got, errs)
	}
}

// journaled makes a journal of the turn "t" with a checkpoint and three entries.
func journaled(t *testing.T, s *sqlstore.Store) error {
	entries := [][]byte{[]byte("one"), []byte("two"), []byte("three"), []byte("four")}
	return errors.Join(
		s.AppendJournal(t.Context(), "t", store.JournalAppend{Epoch: 1, Entries: entries}),
		s.CompactJournal(t.Context(), "t", 1, 1, []byte("checkpoint")),
	)
}

// text1 is a reader of a text.
func text1(text string) record.SpoolReader {
	return record.NewFileReader(strings.NewReader(text), int64(len(text)))
}

// text reads a text from the tables.
func (d *Database) text(t *testing.T, query string) string {
	t.Helper()
	var text []byte
	if err := d.Raw.QueryRowContext(t.Context(), query).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return string(text)
}

// flip flips a bit of a column in the first row of a table, and returns what flips it back.
func (d *Database) flip(t *testing.T, table, column string) (undo func()) {
	t.Helper()
	var old, flipped any
	order := " ORDER BY " + column + " DESC LIMIT 1"
	read := "SELECT " + column + " FROM " + table + order
	if slices.Contains(binary, column) {
		was := d.text(t, read)
		is := []byte(was)
		is[0] ^= 2
		old, flipped = []byte(was), is
	} else {
		was := int64(d.count(t, read))
		old, flipped = was, was^8
	}
	set := "UPDATE " + table + " SET " + column + " = " + d.Mark(1) + " WHERE " + column + " = " + d.Mark(2)
	d.exec(t, set, flipped, old)
	return func() { d.exec(t, set, old, flipped) }
}

// migrations brings a database forward, and refuses it backward.
func migrations(t *testing.T, d *Database) {
	s, err := d.Open(sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, "s", said("m", "hello"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	later := append(sqlstore.Schema(), []string{
		"ALTER TABLE turncore_sessions ADD COLUMN colour INTEGER NOT NULL DEFAULT 7",
		"CREATE TABLE turncore_colours (number INTEGER PRIMARY KEY AUTOINCREMENT, name BLOB NOT NULL)",
	})
	broken := append(sqlstore.Schema(), []string{later[1][0], "CREATE TABLE turncore_sessions (number INTEGER)"})
	if _, err := d.Open(sqlstore.Options{Schema: broken}); err == nil {
		t.Error("a migration that fails says nothing")
	}
	if v := d.count(t, "SELECT value FROM turncore_meta WHERE name = 'schema'"); v != 1 {
		t.Errorf("a migration that failed left version %d", v)
	}
	for range 2 {
		s := opened(t, d, sqlstore.Options{Schema: later})
		if c := load(t, s, "s", ""); len(c.Messages) != 1 {
			t.Errorf("the migrated session has %d messages", len(c.Messages))
		}
	}
	if v := d.count(t, "SELECT value FROM turncore_meta WHERE name = 'schema'"); v != 2 {
		t.Errorf("the schema has version %d", v)
	}
	_, err = d.Open(sqlstore.Options{})
	if is(t, err, host.CodeStoreVersion); err != nil && !strings.Contains(err.Error(), "version 2") {
		t.Errorf("the error is %v", err)
	}
}

// halfMigrated opens databases that lack a part of their schema.
func halfMigrated(t *testing.T, d *Database) {
	s, err := d.Open(sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{
		"ALTER TABLE turncore_refs RENAME COLUMN bytes TO other",
		"DROP TABLE turncore_refs",
		"UPDATE turncore_meta SET value = 0 WHERE name = 'schema'",
		"DELETE FROM turncore_meta",
		"DROP TABLE turncore_meta",
	} {
		d.exec(t, step)
		_, err := d.Open(sqlstore.Options{})
		if is(t, err, host.CodeStoreVersion); t.Failed() {
			t.Fatal(step)
		}
	}
}

// clockGoesBack commits with a clock that does: revisions and the list go on, and so do times of updates.
func clockGoesBack(t *testing.T, d *Database) {
	now := noon
	s := opened(t, d, sqlstore.Options{Now: func() time.Time {
		now = now.Add(-time.Hour)
		return now
	}})
	seen := map[string]bool{}
	for n := range 5 {
		for _, session := range []string{"a", "b"} {
			at := commit(t, s, session, said(fmt.Sprint(n), "text"))
			if seen[session+at] {
				t.Fatalf("revision %s is used twice", at)
			}
			seen[session+at] = true
			page, _, err := s.List(t.Context(), "", 10)
			if err != nil || page[0].ID != session || page[0].UpdatedAt.Before(page[len(page)-1].UpdatedAt) {
				t.Fatalf("after a commit to %s the list is %+v (%v)", session, page, err)
			}
		}
	}
	if c := load(t, s, "a", ""); len(c.Messages) != 5 {
		t.Errorf("a has %d messages", len(c.Messages))
	}
}

// lostTransaction takes the database back to before its last transaction, as after a crash without durable writes.
func lostTransaction(t *testing.T, d *Database) {
	s := opened(t, d, sqlstore.Options{})
	commit(t, s, "s", said("m1", "one"))
	backup := []string{"sessions", "records"}
	for _, name := range backup {
		d.exec(t, "CREATE TABLE kept_"+name+" AS SELECT * FROM turncore_"+name)
	}
	lost := commit(t, s, "s", said("m2", "two"))
	for _, name := range backup {
		d.exec(t, "DELETE FROM turncore_"+name)
	}
	restore(t, d, backup)
	if c := load(t, s, "s", lost); c.After != "" || len(c.Messages) != 1 {
		t.Errorf("after the lost revision %+v is loaded", c)
	}
	_, err := s.Commit(t.Context(), "s", store.Commit{Revision: lost, Deltas: []store.Delta{
		{Op: store.OpMutate, Kind: "message", ID: "m2", Record: record.NewMessage("m2", record.User, "changed", noon)},
	}})
	is(t, err, host.CodeSessionConflict)
	again := commit(t, s, "s", said("m3", "three"))
	if again == lost {
		t.Errorf("the lost revision %s is used again", lost)
	}
}

func restore(t *testing.T, d *Database, tables []string) {
	t.Helper()
	for _, name := range tables {
		names := strings.Join(columns["turncore_"+name], ", ")
		d.exec(t, "INSERT INTO turncore_"+name+" ("+names+") SELECT "+names+" FROM kept_"+name)
	}
}

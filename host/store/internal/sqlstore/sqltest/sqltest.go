// Package sqltest tests a store of package sqlstore on a database: what the published suite of stores cannot see, such
// as the rows.
package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// A Database is an empty database of a test.
type Database struct {
	// Open opens the store; a second one is that of another process.
	Open func(o sqlstore.Options) (*sqlstore.Store, error)
	// Raw has connections of their own to the tables.
	Raw *sql.DB
	// Mark is what a statement has for its n-th value, from 1.
	Mark func(n int) string
}

// Run runs all tests, each with a new database.
func Run(t *testing.T, database func(t *testing.T) *Database) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *Database)
	}{
		{"as in memory", asInMemory},
		{"commits of a turn cost the same", commitsCostTheSame},
		{"appends cost the same", appendsCostTheSame},
		{"places run out", placesRunOut},
		{"damaged rows", func(t *testing.T, d *Database) { damagedRows(t, d, "s") }},
		{"damaged rows of a fork", func(t *testing.T, d *Database) { damagedRows(t, d, "z") }},
		{"migrations", migrations},
		{"half migrated", halfMigrated},
		{"clock goes back", clockGoesBack},
		{"lost transaction", lostTransaction},
		{"bytes are collected", bytesAreCollected},
		{"keys expire", keysExpire},
		{"bytes in parts", bytesInParts},
		{"bytes of a reader that fails", failingReader},
		{"forks share content", forksShareContent},
		{"artifacts keep content", artifactsKeepContent},
		{"forks share records", forksShareRecords},
		{"forks cost the same", forksCostTheSame},
		{"two processes", twoProcesses},
		{"a conflict beside others", conflictBesideOthers},
		{"closed", closed},
		{"session ids", sessionIDs},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, database(t)) })
	}
}

// noon is when records are made.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// opened opens the store and closes it with the test.
func opened(t *testing.T, d *Database, o sqlstore.Options) *sqlstore.Store {
	t.Helper()
	s, err := d.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// said is the write of a message.
func said(id, text string) store.Delta {
	return store.Delta{Op: store.OpStore, Kind: "message", ID: id, Record: record.NewMessage(id, record.User, text, noon)}
}

// instructed is the write of an instruction.
func instructed(text string) store.Delta {
	return store.Delta{Op: store.OpStore, Kind: "standingInstruction", ID: text, Record: &record.Instruction{Text: text}}
}

// called makes a tool call.
func called(id, results string) *record.ToolCall {
	c := &record.ToolCall{
		ID: id, Tool: "tool", Args: []byte("{}"), IsComplete: true, Results: results,
		CreatedAt: noon, UpdatedAt: noon, CompletedAt: noon,
	}
	c.Checksum, _ = record.ToolCallChecksum(c.Tool, c.Args)
	return c
}

// spooled is the write of a tool call whose result a reader has.
func spooled(id string, reader record.SpoolReader) store.Delta {
	c := called(id, "")
	c.Results = record.NewSpooledArtifact(reader)
	return store.Delta{Op: store.OpStore, Kind: "toolCall", ID: id, Record: c}
}

// commit commits writes.
func commit(t *testing.T, s store.Store, session string, writes ...store.Delta) (revision string) {
	t.Helper()
	revision, err := s.Commit(t.Context(), session, store.Commit{Deltas: writes})
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// load loads a session.
func load(t *testing.T, s store.Store, session, after string) *store.Conversation {
	t.Helper()
	c, err := s.Load(t.Context(), session, after)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lines are the records of a conversation in their order.
func lines(c *store.Conversation) (list []string, err error) {
	add := func(r record.Record) {
		body, e := record.Marshal(r)
		err = errors.Join(err, e)
		list = append(list, fmt.Sprintf("%s %q %x", record.KindOf(r), record.Key(r), body))
	}
	for _, text := range c.Instructions {
		add(&record.Instruction{Text: text})
	}
	for _, r := range c.Memories {
		add(r)
	}
	for _, r := range c.Retrievables {
		add(r)
	}
	for _, r := range c.Messages {
		add(r)
	}
	for _, r := range c.Thoughts {
		add(r)
	}
	for _, r := range c.ToolCalls {
		add(r)
	}
	return list, err
}

// bytesOf reads bytes.
func bytesOf(s store.Store, session, id string) (string, error) {
	content, size, err := s.OpenBytes(context.Background(), session, id)
	if err != nil {
		return "", err
	}
	all, err := io.ReadAll(io.NewSectionReader(content, 0, size))
	return string(all), err
}

// is fails the test unless an error has a code.
func is(t *testing.T, err error, code host.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Errorf("the error is %v, not %s", err, code)
	}
}

// exec runs a statement on the tables.
func (d *Database) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := d.Raw.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// count reads a number from the tables.
func (d *Database) count(t *testing.T, text string) (n int) {
	t.Helper()
	if err := d.Raw.QueryRowContext(t.Context(), text).Scan(&n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

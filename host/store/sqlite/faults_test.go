package sqlite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// noon is when records are made.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// said is a commit of a message.
func said(id, text string) store.Commit {
	m := record.NewMessage(id, record.User, text, noon)
	return store.Commit{Deltas: []store.Delta{{Op: store.OpStore, Kind: "message", ID: id, Record: m}}}
}

// fails fails the test unless an error is E_STORE_FAILED and says why.
func fails(t *testing.T, err error, why string) {
	t.Helper()
	if !errors.Is(err, host.CodeStoreFailed) || !strings.Contains(err.Error(), why) {
		t.Errorf("the error is %v, not that %s", err, why)
	}
}

// messages is how many messages a session has.
func messages(t *testing.T, s store.Store, session string) int {
	t.Helper()
	c, err := s.Load(t.Context(), session, "")
	if err != nil {
		t.Fatal(err)
	}
	return len(c.Messages)
}

func TestLockedByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locked.db")
	s, err := Open(t.Context(), path, Options{BusyTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other, err := raw(t, path).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Commit(t.Context(), "s", said("m", "text"))
	fails(t, err, `session "s": it is locked by another process`)
	fails(t, s.PutBytes(t.Context(), "s", "id", strings.NewReader("text")), "locked")
	if n := messages(t, s, "s"); n != 0 {
		t.Errorf("%d messages are there", n)
	}
	// Whoever does not wait that long stores nothing either.
	patient := opened(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := patient.Commit(ctx, "s", said("m", "text")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{s, patient} {
		if _, err := s.Commit(t.Context(), "s", said(t.Name(), "text")); err != nil {
			t.Error(err)
		}
	}
	if n := messages(t, s, "s"); n != 1 {
		t.Errorf("%d messages are there", n)
	}
}

func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full.db")
	s, err := open(t.Context(), path, Options{}, sqlstore.Options{}, "max_page_count(60)")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Commit(t.Context(), "s", said("first", "text")); err != nil {
		t.Fatal(err)
	}
	_, err = s.Commit(t.Context(), "s", said("large", strings.Repeat("x", 1<<20)))
	fails(t, err, `session "s": it is full`)
	fails(t, s.PutBytes(t.Context(), "s", "id", bytes.NewReader(make([]byte, 5<<19))), "it is full")
	if _, err := s.Commit(t.Context(), "s", said("second", "text")); err != nil {
		t.Error(err)
	}
	if n := messages(t, s, "s"); n != 2 {
		t.Errorf("%d messages are there", n)
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.db")
	if _, err := Open(t.Context(), path, Options{ReadOnly: true}); err == nil {
		t.Error("a file that is not there is opened")
	}
	s := opened(t, path)
	if _, err := s.Commit(t.Context(), "s", said("m", "text")); err != nil {
		t.Fatal(err)
	}
	reader, err := Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	_, err = reader.Commit(t.Context(), "s", said("n", "text"))
	fails(t, err, `session "s": it is read-only`)
	fails(t, reader.Delete(t.Context(), "s"), "it is read-only")
	if n := messages(t, reader, "s"); n != 1 {
		t.Errorf("%d messages are there", n)
	}
}

func TestNoDatabase(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "text.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is a text. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, Options{})
	fails(t, err, "its file is no SQLite database")
	_, err = Open(t.Context(), folder, Options{})
	fails(t, err, "cannot be opened")
	_, err = Open(t.Context(), filepath.Join(folder, "missing", "a.db"), Options{})
	fails(t, err, "cannot be opened")
}

// A file whose pages are damaged gives errors, and no wrong answers.
func TestDamagedPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "damaged.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		if _, err := s.Commit(t.Context(), "s", said(id, strings.Repeat(id, 9000))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for at := 4096; at < len(whole); at += 397 {
		data := bytes.Clone(whole)
		data[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path, Options{})
		if err == nil {
			var c *store.Conversation
			c, err = s.Load(t.Context(), "s", "")
			_ = s.Close()
			if err == nil && len(c.Messages) == 0 {
				continue // the index of sessions is damaged: nothing says that this one was there
			}
			for i := 0; err == nil && i < len(c.Messages); i++ {
				if id := string(rune('a' + i)); len(c.Messages) != 4 || c.Messages[i].Content != strings.Repeat(id, 9000) {
					t.Fatalf("with a bit at %d flipped, message %d of %d is wrong", at, i, len(c.Messages))
				}
			}
		}
		if err != nil {
			told++
		}
	}
	if told == 0 {
		t.Error("nothing tells of damage")
	}
}

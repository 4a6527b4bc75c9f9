package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
)

// Bytes that no record refers to go after an hour, and keys of turns that nobody hears of any more after a week.
func TestMemoryForgets(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	m := &InMemory{clock: func() time.Time { return at }}
	put := func(session, id string) {
		t.Helper()
		if err := m.PutBytes(t.Context(), session, id, strings.NewReader(id)); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(session, id, key, turn string, content any) {
		t.Helper()
		r := &record.Retrievable{ID: id, Content: content}
		c := Commit{Deltas: []Delta{{Op: OpStore, Kind: "retrievable", ID: id, Record: r}}, Key: key, Turn: turn}
		if _, err := m.Commit(t.Context(), session, c); err != nil {
			t.Fatal(err)
		}
	}
	there := func(session, id string, want bool) {
		t.Helper()
		_, _, err := m.OpenBytes(t.Context(), session, id)
		if (err == nil) != want || err != nil && !errors.Is(err, host.CodeBytesNotFound) {
			t.Errorf("bytes %q of session %q: %v", id, session, err)
		}
	}
	put("s", "used")
	put("s", "loose")
	commit("s", "r", "k", "crashed", record.NewSpooledArtifact(Opened(m, "s")("used", 4)))
	if err := m.Fork(t.Context(), "s", "fork"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Commit(t.Context(), "s", Commit{Deltas: []Delta{{Op: OpDelete, Kind: "retrievable", ID: "r"}}}); err != nil {
		t.Fatal(err)
	}
	at = at.Add(30 * time.Minute)
	put("s", "young")
	at = at.Add(31 * time.Minute)
	there("s", "loose", true)
	commit("other", "x", "k", "t", "text")
	there("s", "loose", false)
	there("s", "young", true)
	there("s", "used", true) // the fork has it
	there("fork", "used", true)

	at = at.Add(6 * 24 * time.Hour)
	commit("s", "y", "new", "t", "text")
	if _, known := m.sessions["s"].Keys.Find("k"); !known {
		t.Error("a key is forgotten within a week")
	}
	at = at.Add(24 * time.Hour)
	commit("s", "z", "newer", "t", "text")
	if _, known := m.sessions["s"].Keys.Find("k"); known {
		t.Error("the key of a turn that has ended without a word is kept for ever")
	}
	if _, known := m.sessions["s"].Keys.Find("new"); !known {
		t.Error("a key of a turn that goes on is forgotten")
	}
}

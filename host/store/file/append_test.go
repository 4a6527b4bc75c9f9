package file_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/file"
)

// appended is an append of an event, of a value and an artifact of the session, and of a value and an artifact of scope
// "app".
func appended(n int) store.Append {
	body := []byte(fmt.Sprint("body ", n))
	a := store.Append{Event: &store.SessionEvent{ID: fmt.Sprint("e", n), Body: body}, Key: fmt.Sprint("k", n), Turn: "t"}
	for _, scope := range []string{"", "app"} {
		a.State = append(a.State, store.StateValue{Scope: scope, Name: "last", Value: body})
		a.Artifacts = append(a.Artifacts, store.Artifact{Scope: scope, Name: "a", Version: n, Bytes: "b", Body: body})
	}
	return a
}

// appendTo appends to a session.
func appendTo(t *testing.T, s *file.Store, session string, a store.Append) {
	t.Helper()
	if err := s.PutBytes(t.Context(), session, "b", strings.NewReader(session)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), session, a); err != nil {
		t.Fatal(err)
	}
}

// toldOf is what has been appended to session s and to scope "app".
func toldOf(t *testing.T, s *file.Store) (string, error) {
	t.Helper()
	var told []string
	events, err := s.Events(t.Context(), "s", store.EventQuery{})
	for i := range events {
		told = append(told, events[i].ID+"="+string(events[i].Body))
	}
	for _, scope := range []string{"", "app"} {
		values, failed := s.State(t.Context(), "s", scope)
		for _, v := range values {
			told = append(told, v.Name+"="+string(v.Value))
		}
		artifacts, unlisted := s.Artifacts(t.Context(), "s", scope)
		err = errors.Join(err, failed, unlisted)
		for i := range artifacts {
			a := &artifacts[i]
			content, size, failed := s.OpenArtifact(t.Context(), "s", scope, a.Name, a.Version)
			if err = errors.Join(err, failed); err != nil {
				break
			}
			text, failed := io.ReadAll(io.NewSectionReader(content, 0, size))
			err = errors.Join(err, failed)
			told = append(told, fmt.Sprintf("%s.%d=%s %s", a.Name, a.Version, a.Body, text))
		}
	}
	return strings.Join(told, ", "), err
}

// expect compares what has been appended.
func expect(t *testing.T, s *file.Store, want string) {
	t.Helper()
	if got, err := toldOf(t, s); err != nil || got != want {
		t.Errorf("it has %q, not %q (%v)", got, want, err)
	}
}

// An append whose frame in the session's log is not all there was not made: neither in the session nor in the scope.
func TestTornAppends(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	appendTo(t, s, "s", appended(0))
	want, err := toldOf(t, s)
	if err != nil || !strings.Contains(want, "a.0=body 0 s") {
		t.Fatal(want, err)
	}
	log, shared := only(t, folder, "sessions/*/*/log"), filepath.Join(folder, "shared")
	before := [2][]byte{read(t, log), read(t, shared)}
	appendTo(t, s, "s", appended(1))
	all, err := toldOf(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after := [2][]byte{read(t, log), read(t, shared)}
	try := func(what string, ofLog, ofShared int, want string) {
		t.Helper()
		write(t, log, after[0][:ofLog])
		write(t, shared, after[1][:ofShared])
		s := open(t, folder)
		defer s.Close()
		if expect(t, s, want); want == all {
			return
		}
		appendTo(t, s, "s", appended(1))
		if expect(t, s, all); t.Failed() {
			t.Fatal(what)
		}
	}
	for cut := len(before[0]); cut < len(after[0]); cut++ {
		try(fmt.Sprint("the session's log ends at ", cut), cut, len(after[1]), want)
	}
	for cut := len(before[1]); cut < len(after[1]); cut++ {
		try(fmt.Sprint("the log of scopes ends at ", cut), len(before[0]), cut, want)
	}
	try("all is there", len(after[0]), len(after[1]), all)
}

// What was appended to a shared scope stays when the session goes, also if another append was broken off in between.
func TestSharedScopesOutliveSessions(t *testing.T) {
	for _, brokenOff := range []bool{false, true} {
		folder := t.TempDir()
		s := open(t, folder)
		appendTo(t, s, "gone", appended(0))
		want, err := toldOf(t, s)
		if err != nil || !strings.Contains(want, "a.0=body 0 gone") {
			t.Fatal(want, err)
		}
		if brokenOff {
			if err := s.PutBytes(t.Context(), "s", "b", strings.NewReader("s")); err != nil {
				t.Fatal(err)
			}
			logs, err := filepath.Glob(filepath.Join(folder, "sessions/*/*/log"))
			if err != nil || len(logs) != 2 {
				t.Fatal(logs, err)
			}
			sizes := map[string][]byte{logs[0]: read(t, logs[0]), logs[1]: read(t, logs[1])}
			value := store.StateValue{Scope: "app", Name: "last", Value: []byte("lost")}
			appendTo(t, s, "s", store.Append{State: []store.StateValue{value}})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for _, log := range logs {
				write(t, log, sizes[log])
			}
			s = open(t, folder)
		}
		if err := s.Delete(t.Context(), "gone"); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			expect(t, s, want)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, folder)
		}
	}
}

// A flipped bit anywhere is an error that says where, or changes nothing; a log that is damaged at its end may have
// lost its last frame.
func TestFlippedBitsOfAppends(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	appendTo(t, s, "s", appended(0))
	appendTo(t, s, "s", appended(1))
	entries := store.JournalAppend{Epoch: 1, Entries: [][]byte{[]byte("first"), []byte("second")}}
	if err := s.AppendJournal(t.Context(), "t", entries); err != nil {
		t.Fatal(err)
	}
	want, err := toldOf(t, s)
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	journal := only(t, folder, "journals/*")
	names := []string{only(t, folder, "sessions/*/*/log"), filepath.Join(folder, "shared"), journal}
	artifacts, err := filepath.Glob(filepath.Join(folder, "artifacts/*"))
	if err != nil || len(artifacts) != 2 {
		t.Fatal(artifacts, err)
	}
	for _, name := range append(names, artifacts...) {
		whole, told := read(t, name), 0
		for at := range whole {
			data := append([]byte{}, whole...)
			data[at] ^= 1 << (at % 8)
			write(t, name, data)
			s, err := file.Open(folder)
			if err != nil {
				t.Fatal(err)
			}
			got, err := toldOf(t, s)
			part, unread := s.ReadJournal(t.Context(), "t", 0)
			if unread == nil && (part == nil || len(part.Entries) != 2 || string(part.Entries[1]) != "second") {
				t.Fatalf("%s, bit at %d: the journal is %+v", name, at, part)
			}
			if unread != nil && !strings.Contains(unread.Error(), `"t": entry `) {
				t.Fatalf("%s, bit at %d: %v", name, at, unread)
			}
			switch err = errors.Join(err, unread); {
			case err == nil && got != want:
				t.Fatalf("%s, bit at %d of %d: it has %q", name, at, len(whole), got)
			case err != nil && !errors.Is(err, host.CodeStoredRecordInvalid):
				t.Fatalf("%s, bit at %d: %v", name, at, err)
			case err != nil:
				told++
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if write(t, name, whole); told < len(whole)/2 {
			t.Errorf("%s: %d of %d flipped bits are told of", name, told, len(whole))
		}
	}
}

// A journal whose last frame is not all there ends before it.
func TestTornJournals(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	add := func(s *file.Store, at int64, texts ...string) {
		t.Helper()
		a := store.JournalAppend{Epoch: 1, At: at}
		for _, text := range texts {
			a.Entries = append(a.Entries, []byte(text))
		}
		if err := s.AppendJournal(t.Context(), "t", a); err != nil {
			t.Fatal(err)
		}
	}
	add(s, 0, "a", "b", "c")
	if err := s.CompactJournal(t.Context(), "t", 1, 2, []byte("point")); err != nil {
		t.Fatal(err)
	}
	name := only(t, folder, "journals/*")
	before := len(read(t, name))
	add(s, 3, "d", "e")
	whole := read(t, name)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for cut := before; cut < len(whole); cut++ {
		write(t, name, whole[:cut])
		s := open(t, folder)
		part, err := s.ReadJournal(t.Context(), "t", 0)
		if err != nil || part.First != 2 || len(part.Entries) != 1 || string(part.Checkpoint) != "point" {
			t.Fatalf("cut at %d: %+v, %v", cut, part, err)
		}
		add(s, 3, "d", "e")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if string(read(t, name)) != string(whole) {
			t.Fatalf("cut at %d, the journal goes on as another one", cut)
		}
	}
	s = open(t, folder)
	if err := s.DeleteJournal(t.Context(), "t", 1); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "journals/*")); err != nil || len(left) > 0 {
		t.Errorf("%q are left of a deleted journal (%v)", left, err)
	}
}

// Logs are written anew when most of them is out of date, and say the same.
func TestCompactedAppends(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	large := strings.Repeat("x", 64<<10)
	appendTo(t, s, "s", appended(0))
	for n := range 20 {
		a := store.Append{State: []store.StateValue{
			{Name: "large", Value: []byte(large[n:])},
			{Scope: "app", Name: "large", Value: []byte(large[n:])},
			{Scope: "app", Name: "gone", Value: []byte{}},
		}}
		if n%2 > 0 {
			a.State[2].Value = nil
		}
		appendTo(t, s, "s", a)
	}
	want, err := toldOf(t, s)
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{only(t, folder, "sessions/*/*/log"), filepath.Join(folder, "shared")} {
		if size := len(read(t, name)); size > 10*len(large) {
			t.Errorf("%s has %d bytes", name, size)
		}
	}
	expect(t, open(t, folder), want)
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
)

// What is no file's path, bad options and bad arguments are refused by name. No file is made.
func TestArguments(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	for path, field := range map[string]string{
		":memory:": "path", "file::memory:": "path", "file:a.db?mode=memory": "path", "": "path", "a.db": "busyTimeout",
	} {
		_, err := Open(t.Context(), path, Options{BusyTimeout: -time.Second})
		refused(t, err, field)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	s := opened(t, filepath.Join(folder, "a.db"))
	_, err := s.Commit(t.Context(), "s", store.Commit{Deltas: []store.Delta{{Op: "merge", Kind: "message", ID: "m"}}})
	refused(t, err, "deltas[0].op")
	_, err = s.Events(t.Context(), "s", store.EventQuery{Limit: -1})
	refused(t, err, "limit")
	for _, cursor := range []string{"nonsense", "-1", "0", "1", "1.x"} {
		_, _, err := s.List(t.Context(), cursor, 1)
		refused(t, err, "cursor")
	}
	if page, next, err := s.ListOf(t.Context(), "a\xff", "", 1); len(page) > 0 || next != "" || err != nil {
		t.Errorf("%v, %q, %v", page, next, err)
	}
}

func refused(t *testing.T, err error, field string) {
	t.Helper()
	var e *host.Error
	if !errors.As(err, &e) || e.Code != host.CodeInvalidValue || e.Details.(map[string]any)["field"] != field {
		t.Errorf("%v, want E_INVALID_VALUE of %s", err, field)
	}
}

package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/turncore/turncore/host/sessions/sessionstest"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/storetest"
)

// opened opens a file, until the test ends.
func opened(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// patient waits for a disk that does nothing for seconds.
var patient = Options{BusyTimeout: time.Minute}

func TestSuite(t *testing.T) {
	storetest.Test(t, storetest.Suite{Place: func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "conversations.db")
		return func() (store.Store, error) { return Open(t.Context(), path, patient) }
	}})
}

func TestSessions(t *testing.T) {
	sessionstest.Test(t, storetest.Suite{Place: func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "sessions.db")
		return func() (store.Store, error) { return Open(t.Context(), path, patient) }
	}})
}

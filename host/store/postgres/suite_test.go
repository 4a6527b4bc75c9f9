package postgres

import (
	"testing"

	"github.com/turncore/turncore/host/sessions/sessionstest"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/storetest"
)

// opened opens a database of its own, until the test ends.
func opened(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), created(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestSuite(t *testing.T) {
	storetest.Test(t, storetest.Suite{Place: func(t *testing.T) storetest.Opener {
		url := created(t)
		return func() (store.Store, error) { return Open(t.Context(), url, Options{}) }
	}})
}

func TestSessions(t *testing.T) {
	sessionstest.Test(t, storetest.Suite{Place: func(t *testing.T) storetest.Opener {
		url := created(t)
		return func() (store.Store, error) { return Open(t.Context(), url, Options{}) }
	}})
}

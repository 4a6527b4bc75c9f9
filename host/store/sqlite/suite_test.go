package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/storetest"
)

func TestSuite(t *testing.T) {
	storetest.Test(t, storetest.Suite{Place: func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "conversations.db")
		return func() (store.Store, error) { return Open(t.Context(), path, Options{}) }
	}})
}

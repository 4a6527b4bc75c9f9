package file_test

import (
	"testing"

	"github.com/turncore/turncore/host/sessions/sessionstest"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/file"
	"github.com/turncore/turncore/host/storetest"
)

func TestSessions(t *testing.T) {
	sessionstest.Test(t, storetest.Suite{Exclusive: true, Place: func(t *testing.T) storetest.Opener {
		folder := t.TempDir()
		return func() (store.Store, error) { return file.Open(folder) }
	}})
}

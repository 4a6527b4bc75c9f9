package sessions_test

import (
	"testing"

	"github.com/turncore/turncore/host/sessions/sessionstest"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/storetest"
)

func TestService(t *testing.T) {
	sessionstest.Test(t, storetest.Suite{Place: func(*testing.T) storetest.Opener {
		s := store.NewInMemory()
		return func() (store.Store, error) { return s, nil }
	}})
}

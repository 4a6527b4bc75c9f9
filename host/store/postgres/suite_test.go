package postgres

import (
	"testing"

	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/storetest"
)

func TestSuite(t *testing.T) {
	storetest.Test(t, storetest.Suite{Place: func(t *testing.T) storetest.Opener {
		url := created(t)
		return func() (store.Store, error) { return Open(t.Context(), url, Options{}) }
	}})
}

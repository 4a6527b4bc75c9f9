package file_test

import (
	"testing"

	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/file"
	"github.com/turncore/turncore/host/storetest"
)

func TestStore(t *testing.T) {
	storetest.Test(t, storetest.Suite{Exclusive: true, Place: func(t *testing.T) storetest.Opener {
		folder := t.TempDir()
		return func() (store.Store, error) { return file.Open(folder) }
	}})
}

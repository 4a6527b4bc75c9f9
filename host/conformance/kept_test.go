package conformance_test

import (
	"testing"

	"github.com/turncore/turncore/host/internal/storecorpus"
	"github.com/turncore/turncore/host/store"
)

// A store keeps what storage callbacks get in the corpus as it was written.
func TestStoreKeepsTheCorpus(t *testing.T) { storecorpus.Keep(t, "../..", store.NewInMemory()) }

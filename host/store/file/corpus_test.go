package file_test

import (
	"testing"

	"github.com/turncore/turncore/host/internal/storecorpus"
)

// The folder has what storage callbacks get in the conformance corpus as it was written.
func TestKeepsTheCorpus(t *testing.T) { storecorpus.Keep(t, "../../..", open(t, t.TempDir())) }

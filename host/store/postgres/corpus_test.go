package postgres

import (
	"testing"

	"github.com/turncore/turncore/host/internal/storecorpus"
)

// The database has what storage callbacks get in the conformance corpus as it was written.
func TestKeepsTheCorpus(t *testing.T) { storecorpus.Keep(t, "../../..", opened(t)) }

package agents_test

import (
	"testing"

	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/internal/carried"
	_ "github.com/turncore/turncore/wasm/core"
)

// manifest returns the manifest of an agent that asks for what is given.
func manifest(asks agents.Asks) *agents.Manifest {
	return &agents.Manifest{Name: "research", Version: "1.4.0", Description: "Reads and sums up.", Turncore: "0.1.0", Asks: asks}
}

// file returns the core with a manifest.
func file(t *testing.T, m *agents.Manifest) []byte {
	t.Helper()
	module, err := carried.Module()
	if err != nil {
		t.Fatal(err)
	}
	with, err := agents.WithManifest(module, m)
	if err != nil {
		t.Fatal(err)
	}
	return with
}

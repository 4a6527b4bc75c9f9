// Package storecorpus has stores keep what the conformance corpus writes. It is for tests of this repository, which has
// the corpus beside its packages.
package storecorpus

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/store"
)

// Keep plays every scenario of the repository in the folder root and has a store keep what its storage callbacks get.
// What the store has in the end of a scenario must be what a store in memory has.
func Keep(t *testing.T, root string, s store.Store) {
	t.Helper()
	files, err := conformance.Load(os.DirFS(filepath.Join(root, "runtime/testdata/conformance")))
	if err != nil {
		t.Fatal(err)
	}
	player := conformance.NewPlayer(conformance.Options{Engine: hosttest.Engines(t)[0], Store: s})
	played := 0
	for _, file := range files {
		for _, scenario := range file.Scenarios {
			if !scenario.Playable(conformance.Features()...) {
				continue
			}
			if _, err := player.Play(scenario); err != nil {
				t.Error(err)
			}
			played++
		}
	}
	t.Logf("%d commits of %d scenarios", player.Commits(), played)
	if player.Commits() == 0 {
		t.Error("no scenario wrote anything")
	}
	if err := player.Close(); err != nil {
		t.Error(err)
	}
}

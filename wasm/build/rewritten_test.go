package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/wazero"
)

// The conformance corpus has the same logs on the module as the go command links it and on the one that is made of it.
func TestRewritingChangesNoLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), fullTarget.file)
	if err := link(t.Context(), testRoot(t), fullTarget, path, stripped); err != nil {
		t.Fatal(err)
	}
	linked, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(linked, built(t, fullTarget)) {
		t.Fatal("nothing is rewritten")
	}
	files, err := conformance.Load(os.DirFS(filepath.Join(testRoot(t), "runtime/testdata/conformance")))
	if err != nil {
		t.Fatal(err)
	}
	want, got := play(t, files, linked), play(t, files, built(t, fullTarget))
	for id, log := range want {
		if got[id] != log {
			t.Errorf("%s: the log on the rewritten module is\n%s\nwant\n%s", id, got[id], log)
		}
	}
	if len(want) == 0 || len(got) != len(want) {
		t.Errorf("%d scenarios and %d", len(want), len(got))
	}
}

// play plays scenarios on a module and returns their logs.
func play(t *testing.T, files []*conformance.File, module []byte) map[string]string {
	t.Helper()
	engine, err := wazero.New(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	logs := map[string]string{}
	for _, file := range files {
		player := conformance.NewPlayer(conformance.Options{Engine: engine})
		for _, s := range file.Scenarios {
			if !s.Playable(conformance.Features()...) {
				continue
			}
			log, err := player.Play(s)
			if err != nil {
				t.Fatalf("%s: %v", s.ID, err)
			}
			logs[s.ID] = log.String()
		}
		if err := player.Close(); err != nil {
			t.Error(err)
		}
	}
	return logs
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/internal/shape"
)

// The conformance corpus has the same logs on the module that hosts get as on the one that the go command links. With
// TURNCORE_LONG, which tells what a fault comes from, it is also played after each part of the work alone.
func TestTheBuildChangesNoLog(t *testing.T) {
	files, err := conformance.Load(os.DirFS(filepath.Join(testRoot(t), "runtime/testdata/conformance")))
	if err != nil {
		t.Fatal(err)
	}
	shippedModule := built(t, fullTarget)
	want := play(t, files, shippedModule)
	if len(want) == 0 {
		t.Fatal("no scenario was played")
	}
	forms := map[string]form{"linked": {}}
	if os.Getenv("TURNCORE_LONG") != "" {
		forms["rewritten"], forms["baked"] = form{Shape: shape.Shape{Rewrite: true}}, form{Shape: shape.Shape{Bake: true}}
	}
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), fullTarget.file)
			if err := compile(t.Context(), testRoot(t), fullTarget, path, f); err != nil {
				t.Fatal(err)
			}
			module, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(module, shippedModule) {
				t.Fatal("it is the module that hosts get")
			}
			got := play(t, files, module)
			for id, log := range want {
				if got[id] != log {
					t.Errorf("%s: the log is\n%s\nwant\n%s", id, got[id], log)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d scenarios, want %d", len(got), len(want))
			}
		})
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

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/shape"
	"github.com/turncore/turncore/internal/size"
)

// sessionsBudget is what sessions and invocations may add to the full module, in bytes after brotli 11. The same
// sources with another build id differ by up to 2,000: brotli finds other places to begin a block.
const sessionsBudget = 89_200

// turnsTarget is the full module without sessions. No host gets it.
var turnsTarget = target{file: "turns.wasm", goos: "wasip1", mode: reactor, tags: []string{"full", "turnsonly"}}

func TestSessionsAddLittle(t *testing.T) {
	full, turns := filepath.Join(buildDir, fullTarget.file), filepath.Join(buildDir, turnsTarget.file)
	built(t, fullTarget)
	built(t, turnsTarget)
	weights, err := size.Weigh(t.Context(), testRoot(t), full, turns)
	if err != nil {
		t.Fatal(err)
	}
	more := weights[0].Brotli - weights[1].Brotli
	t.Logf("%d bytes brotli 11 of %d: %d with sessions, %d without", more, sessionsBudget, weights[0].Brotli, weights[1].Brotli)
	if more > sessionsBudget {
		t.Errorf("sessions add %d bytes brotli 11, %d allowed", more, sessionsBudget)
	}
}

// What is linked of sessions is so in the full module alone.
func TestOnlyTheFullModuleHoldsSessions(t *testing.T) {
	for _, c := range []struct {
		which target
		holds bool
	}{{wasip1Target, false}, {turnsTarget, false}, {fullTarget, true}} {
		path := filepath.Join(t.TempDir(), c.which.file)
		if err := compile(t.Context(), testRoot(t), c.which, path, form{Shape: shape.Shipped, named: true}); err != nil {
			t.Fatal(err)
		}
		if found := sessionFunction(t, path); (found != "") != c.holds {
			t.Errorf("%s: the function %q, want one: %t", c.which.file, found, c.holds)
		}
	}
}

// sessionFunction returns a function of sessions that a module with names holds, "" if there is none.
func sessionFunction(t *testing.T, path string) string {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := inspect(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range info.functions {
		for _, name := range []string{"_runtime_session.", "_runtime_invocation.", "_internal_guest.__sessions_."} {
			if strings.Contains(f.name, name) {
				return f.name
			}
		}
	}
	return ""
}

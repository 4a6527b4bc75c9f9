package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/shape"
	"github.com/turncore/turncore/internal/size"
)

// sessionsBudget is what sessions and invocations may add to the full module, in bytes after brotli 11.
const sessionsBudget = 90_000

// paddings is how many compressions of each module count at first, with different bytes in front: with them brotli
// finds other places to begin a block. By one compression of each module the difference is up to 1,300 bytes off the
// mean of eight, by four up to 500. So eight decide where four are over the budget.
const paddings = 4

// turnsTarget is the full module without sessions. No host gets it.
var turnsTarget = target{file: "turns.wasm", goos: "wasip1", mode: reactor, tags: []string{"full", "turnsonly"}}

func TestSessionsAddLittle(t *testing.T) {
	full, turns, n := 0, 0, 0
	for n == 0 || n == paddings && full-turns > n*sessionsBudget {
		full, turns = full+sumBrotli(t, fullTarget, n), turns+sumBrotli(t, turnsTarget, n)
		n += paddings
	}
	more := (full - turns) / n
	t.Logf("%d bytes brotli 11 of %d, the mean of %d: %d with sessions, %d without", more, sessionsBudget, n, full/n, turns/n)
	if more > sessionsBudget {
		t.Errorf("sessions add %d bytes brotli 11, %d allowed", more, sessionsBudget)
	}
}

// sumBrotli is what a module weighs after brotli 11, summed up over compressions with different bytes in front, from
// the one of a number on.
func sumBrotli(t *testing.T, which target, from int) int {
	t.Helper()
	module, dir := built(t, which), t.TempDir()
	files := make([]string, paddings)
	for i := range files {
		files[i] = filepath.Join(dir, strconv.Itoa(i)+which.file)
		if err := os.WriteFile(files[i], append(make([]byte, 3*(from+i)), module...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	weights, err := size.Weigh(t.Context(), testRoot(t), files...)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, w := range weights {
		sum += w.Brotli
	}
	return sum
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

// Package testmodule has WebAssembly modules for tests of engines: small ones that a test describes, and a guest that
// does what a guest must never do.
package testmodule

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Hostile returns the module of testdata/guests/hostile, built once in a process.
var Hostile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "turncore-guest-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "hostile.wasm")
	const source = "github.com/turncore/turncore/host/testdata/guests/hostile"
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, source)
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build %s: %w: %s", source, err, out)
	}
	return os.ReadFile(file)
})

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// overlay writes a file for -overlay to dir: what the build changes in Go's library.
func (f form) overlay(ctx context.Context, root, toolchain string, t target, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+toolchain)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find Go's library: %w", err)
	}
	library := filepath.Join(strings.TrimSpace(string(out)), "src")
	replace := map[string]string{}
	if f.bakes(t) {
		// The function that a baked module calls at its first step.
		replace[filepath.Join(library, "runtime", "turncore_reseed.go")] = filepath.Join(root, "wasm", "build", "_runtime", "reseed.go")
	}
	if f.rewrite {
		source := filepath.Join(library, "internal", "runtime", "atomic", "atomic_wasm.go")
		text, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		inlined, err := inlineAtomics(string(text))
		if err != nil {
			return "", fmt.Errorf("%s: %w", source, err)
		}
		replace[source] = filepath.Join(dir, "atomic_wasm.go")
		if err := os.WriteFile(replace[source], []byte(inlined), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

var neverInlined = regexp.MustCompile(`(?m)^//go:noinline\n(func \w+)`)

// withBarrier is the one atomic function that stores a pointer as such. Where the runtime calls it, the compiler allows
// no write barrier, and would make one of it.
const withBarrier = "func Casp1"

// inlineAtomics lets the compiler inline the atomic operations of WebAssembly. Nothing runs beside them: each is a load
// or a store, at the cost of a call.
func inlineAtomics(source string) (string, error) {
	kept := 0
	inlined := neverInlined.ReplaceAllStringFunc(source, func(match string) string {
		function := neverInlined.FindStringSubmatch(match)[1]
		if function == withBarrier {
			kept++
			return match
		}
		return function
	})
	if kept != 1 || strings.Count(inlined, "//go:noinline") != 1 || inlined == source {
		return "", fmt.Errorf("not the atomic operations that are known: %d of %s", kept, withBarrier)
	}
	return inlined, nil
}

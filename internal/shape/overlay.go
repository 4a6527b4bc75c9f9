package shape

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed _runtime/reseed.go
var reseed []byte

// overlay writes a file for go build's flag -overlay to the folder dir, with what it names, and returns its path: what
// the shape changes in Go's library, whose folder goroot is.
func (s Shape) overlay(goroot, dir string) (string, error) {
	library, replace := filepath.Join(goroot, "src"), map[string]string{}
	put := func(name, inDir string, text []byte) error {
		replace[name] = filepath.Join(dir, inDir)
		return os.WriteFile(replace[name], text, 0o600)
	}
	if s.Bake {
		// The function that a baked module calls at its first step.
		if err := put(filepath.Join(library, "runtime", "turncore_reseed.go"), "reseed.go", reseed); err != nil {
			return "", err
		}
	}
	if s.Rewrite {
		source := filepath.Join(library, "internal", "runtime", "atomic", "atomic_wasm.go")
		text, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		inlined, err := inlineAtomics(string(text))
		if err != nil {
			return "", fmt.Errorf("%s: %w", source, err)
		}
		if err := put(source, "atomic_wasm.go", []byte(inlined)); err != nil {
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

package shape

import (
	_ "embed"
	"encoding/json"
	"errors"
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
		for file, rewritten := range map[string]func(source string) (string, error){
			"internal/runtime/atomic/atomic_wasm.go": inlineAtomics,
			"runtime/symtab.go":                      findByHalves,
			"runtime/stubs.go":                       replaceOnce(barrier, barrier+" {}"),
			"runtime/asm_wasm.s":                     replaceOnce(barrierInAssembly, ""),
			"internal/bytealg/equal_wasm.s":          replaceOnce(byteByByte, equalWords+byteByByte),
		} {
			source := filepath.Join(library, filepath.FromSlash(file))
			text, err := os.ReadFile(source)
			if err != nil {
				return "", err
			}
			said, err := rewritten(string(text))
			if err != nil {
				return "", fmt.Errorf("%s: %w", source, err)
			}
			if err := put(source, filepath.Base(source), []byte(said)); err != nil {
				return "", err
			}
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

// findfunc looks a program counter up in the table of functions, from a place on that it finds in another table.
const (
	findBegins = "\tx := uintptr(pcOff) + datap.text - datap.minpc //"
	findEnds   = "\tidx := ffb.idx + uint32(ffb.subbuckets[i])\n"
	findLimit  = "\tconst nsub = uintptr(len(findfuncbucket{}.subbuckets))\n"
)

// findByHalves has the runtime look for a function by halving the table of functions. A module then needs no other
// table (package segments).
func findByHalves(source string) (string, error) {
	before, rest, _ := strings.Cut(source, findBegins)
	_, after, ok := strings.Cut(rest, findEnds)
	before, limited, found := strings.Cut(before, findLimit)
	if !ok || !found || strings.Contains(rest, findBegins) {
		return "", errors.New("not the function findfunc that is known")
	}
	const halving = "\tidx, end := uint32(0), uint32(len(datap.ftab)-1)\n" +
		"\tfor end-idx > 1 {\n" +
		"\t\tif middle := (idx + end) / 2; datap.ftab[middle].entryoff <= pcOff {\n" +
		"\t\t\tidx = middle\n" +
		"\t\t} else {\n" +
		"\t\t\tend = middle\n" +
		"\t\t}\n" +
		"\t}\n"
	return before + limited + halving + after, nil
}

// The barrier that every allocation ends with is for other processors, and empty for WebAssembly. In assembly it is a
// call all the same.
const (
	barrier           = "\nfunc publicationBarrier()"
	barrierInAssembly = "TEXT ·publicationBarrier(SB), NOSPLIT, $0-0\n\tRET\n"
)

// byteByByte begins the loop with which Go compares texts: R2 bytes at R0 with those at R1.
const byteByByte = "\nloop:\n\tLoop\n"

// equalWords compares four or more bytes by words, and leaves fewer to that loop.
//
//go:embed _runtime/equal.s
var equalWords string

// replaceOnce returns a function that replaces a text that must occur once.
func replaceOnce(text, by string) func(source string) (string, error) {
	return func(source string) (string, error) {
		if n := strings.Count(source, text); n != 1 {
			return "", fmt.Errorf("%d times %q, not once", n, text)
		}
		return strings.Replace(source, text, by, 1), nil
	}
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/turncore/turncore/internal/shape"
)

// A share is what one package, or the data of all of them, adds to the file.
type share struct {
	name string
	size int // bytes
}

// dataShare stands for the data section, which has no names in the file.
const dataShare = "(data: strings, type descriptions, tables for stack traces)"

// packageShares compiles the full module with function names and sums up code
// by package.
func packageShares(ctx context.Context, root string) ([]share, error) {
	dir, err := os.MkdirTemp("", "turncore-shares-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, fullTarget.file)
	if err := compile(ctx, root, fullTarget, path, form{Shape: shape.Shipped, named: true}); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	info, err := inspect(data)
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", fullTarget.file, err)
	}
	packages, err := listDeps(ctx, root, fullTarget, modulePackage)
	if err != nil {
		return nil, err
	}
	return attribute(info, packages), nil
}

// The linker writes every byte of a symbol outside this class as "_".
var notInName = regexp.MustCompile(`[^\w.]`)

// attribute sums function sizes by the package whose name starts the symbol.
func attribute(info *binaryInfo, packages []string) []share {
	prefixes := make([]string, len(packages))
	for i, p := range packages {
		prefixes[i] = notInName.ReplaceAllString(p, "_") + "."
	}
	sizes := map[string]int{}
	for _, f := range info.functions {
		best, owner := 0, "(made by the compiler and linker)"
		for i, prefix := range prefixes {
			if len(prefix) > best && strings.HasPrefix(f.name, prefix) {
				best, owner = len(prefix), packages[i]
			}
		}
		sizes[owner] += f.size
	}
	shares := []share{{dataShare, info.dataBytes}}
	for name, size := range sizes {
		shares = append(shares, share{name, size})
	}
	slices.SortFunc(shares, func(a, b share) int { return cmp.Compare(a.name, b.name) })
	return shares
}

// listDeps returns the import paths of everything that pattern is compiled
// from for a target, itself included.
func listDeps(ctx context.Context, root string, t target, pattern string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"list", "-deps", "-tags=" + strings.Join(t.tags, ",")}, t.mode...), pattern)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+t.goos, "GOARCH=wasm", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of %s: %w", pattern, err)
	}
	return strings.Fields(string(out)), nil
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/turncore/turncore/internal/shape"
)

// The module, and the main package that all files are compiled from.
const (
	modulePath    = "github.com/turncore/turncore"
	modulePackage = "./wasm/module"
)

// A target is one file that the build writes.
type target struct {
	folder string   // below wasm
	file   string   // name in the folder
	goos   string   // GOOS; GOARCH is wasm
	mode   []string // -buildmode, if it is not the usual one
	tags   []string // of the sources
	source string   // the main package, if it is not that of the modules
}

var (
	wasip1Target = target{folder: "core", file: "turncore.wasm", goos: "wasip1", mode: reactor}
	fullTarget   = target{folder: "full", file: "turncore-full.wasm", goos: "wasip1", mode: reactor, tags: []string{"full"}}
	jsTarget     = target{folder: "core", file: "turncore-js.wasm", goos: "js", tags: []string{"full"}}
	targets      = []target{wasip1Target, fullTarget, jsTarget}
)

var reactor = []string{"-buildmode=c-shared"}

// form is what the build makes of what Go's linker writes.
type form struct {
	shape.Shape
	named   bool // with the names of functions
	counted bool // with globals that count what it executes
}

// shipped is the form that hosts get.
var shipped = form{Shape: shape.Shipped}

// of returns the form for t. A module for GOOS=js is not baked: it starts within Go's loader, which keeps a part of it.
func (f form) of(t target) form {
	f.Bake = f.Bake && t.goos == "wasip1"
	return f
}

// compileAll builds all targets, each at the path that place gives. Those of one GOOS follow each other, since they are
// made of the same compiled packages, and the two GOOS run side by side.
func compileAll(ctx context.Context, root string, place func(target) string, f form) error {
	systems := map[string][]target{}
	for _, t := range targets {
		systems[t.goos] = append(systems[t.goos], t)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for _, list := range systems {
		group.Go(func() {
			for _, t := range list {
				if err := compile(ctx, root, t, place(t), f); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// compile builds t from the sources under root, gives it its form and puts it at path in one step, so that an
// interrupted build leaves the previous file.
func compile(ctx context.Context, root string, t target, path string, f form) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	f = f.of(t)
	// The name starts with a dot so that no embed pattern takes it up.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".build-")
	if err != nil {
		return fmt.Errorf("create a folder to build in: %w", err)
	}
	defer os.RemoveAll(dir)
	built := filepath.Join(dir, t.file)
	if err := link(ctx, root, t, built, f); err != nil {
		return err
	}
	file, err := os.ReadFile(built)
	if err != nil {
		return err
	}
	if file, err = f.Apply(ctx, file); err != nil {
		return fmt.Errorf("%s: %w", t.file, err)
	}
	if f.counted {
		if file, err = shape.Count(file); err != nil {
			return fmt.Errorf("%s: %w", t.file, err)
		}
	}
	if err := os.WriteFile(built, file, 0o644); err != nil {
		return err
	}
	if err := os.Chmod(built, 0o644); err != nil {
		return err
	}
	return os.Rename(built, path)
}

// link has the go command build t, and leaves the file as it wrote it.
func link(ctx context.Context, root string, t target, path string, f form) error {
	toolchain, err := pinnedToolchain(ctx, root)
	if err != nil {
		return err
	}
	goroot, err := libraryRoot(ctx, root, toolchain)
	if err != nil {
		return err
	}
	flags, err := f.Flags(goroot, filepath.Dir(path), t.tags...)
	if err != nil {
		return err
	}
	ldflags := "-ldflags=-s -w"
	if f.named { // changes neither code nor data
		ldflags = "-ldflags=-w"
	}
	args := slices.Concat([]string{"build", ldflags, "-o", path}, t.mode, flags)
	cmd := exec.CommandContext(ctx, "go", append(args, cmp.Or(t.source, modulePackage))...)
	cmd.Dir = root
	// Whatever the caller's environment holds that could change the bytes is
	// set here; a later entry wins.
	cmd.Env = append(os.Environ(), "GOOS="+t.goos, "GOARCH=wasm", "CGO_ENABLED=0",
		"GOTOOLCHAIN="+toolchain, "GOFLAGS=", "GOWASM=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off",
		"GOGC=400") // the compiler's own: it takes a fifth less time
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s: %w\n%s", t.file, err, bytes.TrimSpace(out))
	}
	return nil
}

// libraryRoot returns the folder of a Go release.
func libraryRoot(ctx context.Context, root, toolchain string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+toolchain)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find Go's library: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// pinnedToolchain returns the Go release that go.mod names. A newer local Go
// would be accepted by the go command and would give other bytes.
func pinnedToolchain(ctx context.Context, root string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("read go.mod: %w", err)
	}
	var mod struct{ Toolchain string }
	if err := json.Unmarshal(out, &mod); err != nil {
		return "", fmt.Errorf("read go.mod: %w", err)
	}
	if mod.Toolchain == "" {
		return "", errors.New("go.mod has no toolchain line: the module's bytes would depend on the local Go")
	}
	return mod.Toolchain, nil
}

// moduleRoot returns the folder of the go.mod that the working directory is in.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	path := strings.TrimSpace(string(out))
	if path == "" || path == os.DevNull {
		return "", errors.New("find the module: no go.mod in this folder or above")
	}
	return filepath.Dir(path), nil
}

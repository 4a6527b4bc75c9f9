package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/turncore/turncore/internal/confine"
	"github.com/turncore/turncore/wasm/build/internal/peephole"
	"github.com/turncore/turncore/wasm/build/internal/segments"
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
	args   []string // what it needs besides the common arguments
	budget int      // most bytes after brotli 11; 0 for no bound
}

var (
	wasip1Target = target{folder: "core", file: "turncore.wasm", goos: "wasip1", args: []string{"-buildmode=c-shared"}, budget: 910_000}
	fullTarget   = target{folder: "full", file: "turncore-full.wasm", goos: "wasip1", args: []string{"-buildmode=c-shared", "-tags=full"}, budget: 1_300_000}
	jsTarget     = target{folder: "core", file: "turncore-js.wasm", goos: "js", args: []string{"-tags=full"}}
	targets      = []target{wasip1Target, fullTarget, jsTarget}
)

// compileAll builds all targets, each at the path that place gives. Those of one GOOS follow each other, since they are
// made of the same compiled packages, and the two GOOS run side by side.
func compileAll(ctx context.Context, root string, place func(target) string) error {
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
				if err := compile(ctx, root, t, place(t), stripped); err != nil {
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

// seldom are packages that no turn spends its time in: nothing is inlined in them, which makes the
// compressed module 6 KB smaller.
var seldom = []string{
	"internal/catalogue", "internal/pattern",
	"runtime/internal/jsonpath", "runtime/internal/markdown", "runtime/internal/yaml",
}

// What the linker is told. Names of functions change neither code nor data: they tell which function the code of the
// stripped file belongs to.
const (
	stripped = "-ldflags=-s -w"
	named    = "-ldflags=-w"
)

// compile builds t from the sources under root, rewrites it as the packages peephole,
// segments and confine do and puts it at path in one step, so that an interrupted build leaves the previous file.
func compile(ctx context.Context, root string, t target, path, ldflags string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	// The name starts with a dot so that no embed pattern takes it up.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".build-")
	if err != nil {
		return fmt.Errorf("create a folder to build in: %w", err)
	}
	defer os.RemoveAll(dir)
	built := filepath.Join(dir, t.file)
	if err := link(ctx, root, t, built, ldflags); err != nil {
		return err
	}
	file, err := os.ReadFile(built)
	if err != nil {
		return err
	}
	if file, err = peephole.Rewrite(file); err != nil {
		return fmt.Errorf("rewrite %s: %w", t.file, err)
	}
	if file, err = segments.Rewrite(file); err != nil {
		return fmt.Errorf("rewrite %s: %w", t.file, err)
	}
	if file, err = confine.Module(file, confine.BuiltPages); err != nil {
		return fmt.Errorf("rewrite %s: %w", t.file, err)
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
func link(ctx context.Context, root string, t target, path, ldflags string) error {
	toolchain, err := pinnedToolchain(ctx, root)
	if err != nil {
		return err
	}
	args := append([]string{"build", "-trimpath", "-buildvcs=false", ldflags, "-o", path}, t.args...)
	for _, name := range seldom {
		args = append(args, "-gcflags="+modulePath+"/"+name+"=-l")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, modulePackage)...)
	cmd.Dir = root
	// Whatever the caller's environment holds that could change the bytes is
	// set here; a later entry wins.
	cmd.Env = append(os.Environ(), "GOOS="+t.goos, "GOARCH=wasm", "CGO_ENABLED=0",
		"GOTOOLCHAIN="+toolchain, "GOFLAGS=", "GOWASM=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s: %w\n%s", t.file, err, bytes.TrimSpace(out))
	}
	return nil
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

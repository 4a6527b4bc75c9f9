package wasmtime_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/wasmtime"
)

// newSmallEngine makes an engine of a module that takes no time to compile, and sees that it starts.
func newSmallEngine(t *testing.T, options ...wasmtime.Option) {
	t.Helper()
	open(t, newEngine(t, fine(), options...))
}

// cached are the files below a cache folder.
func cached(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestEngineTellsWhatItRuns(t *testing.T) {
	e := newEngine(t, fine())
	sum := sha256.Sum256(fine())
	if e.Name() != wasmtime.Name || e.ModuleHash() != hex.EncodeToString(sum[:]) {
		t.Fatalf("%s, %s", e.Name(), e.ModuleHash())
	}
}

func TestDefaultCacheLiesInTheUsersCacheFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("HOME", home)
	user, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("this system has no cache folder: %v", err)
	}
	newSmallEngine(t)
	if files := cached(t, filepath.Join(user, "turncore", "wasmtime")); len(files) != 1 {
		t.Fatalf("cached %v", files)
	}
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(filepath.Join(user, "turncore", "wasmtime"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("the folder has mode %v, %v", info.Mode(), err)
	}
}

func TestWithoutCacheWritesNothing(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("HOME", home)
	newSmallEngine(t, wasmtime.WithoutCache())
	if files := cached(t, home); len(files) != 0 {
		t.Fatalf("wrote %v", files)
	}
}

// A file that another program has damaged costs time, nothing else, and is written anew.
func TestDamagedCacheIsPassedOver(t *testing.T) {
	dir := t.TempDir()
	newSmallEngine(t, wasmtime.WithCacheDir(dir))
	files := cached(t, dir)
	if len(files) != 1 {
		t.Fatalf("cached %v", files)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte(nil), whole...)
	flipped[len(flipped)/2] ^= 1
	foreign := []byte("not what was written")
	sum := sha256.Sum256(foreign)
	for name, damaged := range map[string][]byte{
		"cut off": whole[:len(whole)/2], "empty": nil, "foreign": foreign, "a flipped bit": flipped,
		"of another program": append(sum[:], foreign...),
	} {
		if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		newSmallEngine(t, wasmtime.WithCacheDir(dir))
		content, err := os.ReadFile(files[0])
		if err != nil || len(content) != len(whole) {
			t.Errorf("%s: %d bytes remain, %v; want %d", name, len(content), err, len(whole))
		}
	}
	if files := cached(t, dir); len(files) != 1 {
		t.Errorf("left over: %v", files)
	}
}

func TestUnusableCacheDir(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	module := fine()
	if e, err := wasmtime.New(context.Background(), module, wasmtime.WithCacheDir(file)); err == nil {
		_ = e.Close(context.Background())
		t.Error("a file was taken for the folder that the caller chose")
	}
	t.Setenv("XDG_CACHE_HOME", file)
	t.Setenv("HOME", file)
	newSmallEngine(t)
}

func TestMemoryLimit(t *testing.T) {
	e := newEngine(t, growing(), wasmtime.WithMemoryLimitPages(4))
	i, neighbour := open(t, e), open(t, e)
	for pages := uint64(2); pages <= 4; pages++ {
		if _, err := i.Step(nil, []byte{0}); err != nil || i.MemoryBytes() != pages<<16 {
			t.Fatalf("%d bytes, %v; want %d", i.MemoryBytes(), err, pages<<16)
		}
	}
	_, err := i.Step(nil, []byte{0})
	if !errors.Is(err, host.CodeInstanceFailed) || !strings.Contains(err.Error(), "unreachable") {
		t.Fatalf("%v", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has more than the reason: %q", err)
	}
	if _, err := neighbour.Step(nil, nil); err != nil {
		t.Errorf("the neighbour: %v", err)
	}
}

// Wasmtime handles signals of the process; Go's own keep their meaning.
func TestGoFindsNilPointers(t *testing.T) {
	newSmallEngine(t)
	defer func() {
		if err, ok := recover().(runtime.Error); !ok {
			t.Errorf("recovered %v", err)
		}
	}()
	var nothing *engine.TimeoutError
	t.Error(nothing.Timeout)
}

// The error names an import of another kind than a function.
func TestOtherImports(t *testing.T) {
	for name, entry := range map[string][]byte{"table": {1, 0x70, 0, 1}, "global": {3, 0x7f, 0}} {
		imports := append([]byte{1, 3, 'e', 'n', 'v', 1, 'x'}, entry...)
		// In the place of the empty section of imports, behind that of types.
		module := fine()
		at := 8 + 2 + int(module[9])
		rest := module[at+2+int(module[at+1]):]
		module = append(append(append(module[:at:at], 2, byte(len(imports))), imports...), rest...)
		_, err := wasmtime.New(t.Context(), module, wasmtime.WithoutCache())
		if want := "it imports the " + name + " env.x, which no host provides"; !errors.Is(err, host.CodeInvalidModule) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Whoever closes an engine at the same time as others do frees it once.
func TestCloseAtOnce(t *testing.T) {
	for range 20 {
		e, err := wasmtime.New(t.Context(), fine(), wasmtime.WithStepTimeout(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		open(t, e)
		var closing sync.WaitGroup
		for range 4 {
			closing.Go(func() {
				if err := e.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		closing.Wait()
	}
}

package wazero

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/turncore/turncore/host/internal/testmodule"
)

// newSmallEngine makes an engine of a module that takes no time to compile, with the options alone, and sees that it
// starts.
func newSmallEngine(t *testing.T, options ...Option) {
	t.Helper()
	e, err := New(context.Background(), testmodule.Text{Exports: testmodule.Fine()}.Encode(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	open(t, e)
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
	e := newEngine(t)
	sum := sha256.Sum256(hostileModule(t))
	if e.Name() != "wazero" || e.ModuleHash() != hex.EncodeToString(sum[:]) {
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
	if files := cached(t, filepath.Join(user, "turncore")); len(files) == 0 {
		t.Fatal("nothing was cached")
	}
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(filepath.Join(user, "turncore"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("the folder has mode %v, %v", info.Mode(), err)
	}
}

func TestWithoutCacheWritesNothing(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("HOME", home)
	newSmallEngine(t, WithoutCache())
	if files := cached(t, home); len(files) != 0 {
		t.Fatalf("wrote %v", files)
	}
}

// A file that another program has damaged costs time, nothing else.
func TestDamagedCacheIsPassedOver(t *testing.T) {
	dir := t.TempDir()
	newSmallEngine(t, WithCacheDir(dir))
	files := cached(t, dir)
	if len(files) == 0 {
		t.Fatal("nothing was cached")
	}
	for _, damage := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { return nil },
		func(b []byte) []byte { return []byte("not what was written") },
	} {
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			newSmallEngine(t, WithCacheDir(dir))
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestUnusableCacheDir(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err := New(context.Background(), testmodule.Text{Exports: testmodule.Fine()}.Encode(), WithCacheDir(file)); err == nil {
		_ = e.Close(context.Background())
		t.Error("a file was taken for the folder that the caller chose")
	}
	t.Setenv("XDG_CACHE_HOME", file)
	t.Setenv("HOME", file)
	newSmallEngine(t)
}

func TestMemoryOnTheHeap(t *testing.T) {
	e := newEngine(t, func(c *config) { c.heap = true }, WithMemoryLimitPages(256))
	i := open(t, e)
	if out, err := i.Step(nil, []byte("\x00hello")); err != nil || string(out) != "hello" {
		t.Fatalf("%q, %v", out, err)
	}
	if _, err := i.Step(nil, []byte("hoard")); err == nil {
		t.Fatal("the limit does not hold")
	}
}

package wazero

import (
	"context"
	"os"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/testmodule"
)

// cacheDir is shared by the tests of this package, so that the guest is compiled once.
var cacheDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "turncore-cache-*")
	if err != nil {
		panic(err)
	}
	cacheDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func hostileModule(t testing.TB) []byte {
	t.Helper()
	module, err := testmodule.Hostile()
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// newEngine returns an engine with the hostile guest.
func newEngine(t testing.TB, options ...Option) *Engine {
	t.Helper()
	e, err := New(context.Background(), hostileModule(t), append([]Option{WithCacheDir(cacheDir)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func open(t testing.TB, e *Engine) host.Instance {
	t.Helper()
	i, err := e.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return i
}

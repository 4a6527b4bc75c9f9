package wazero

import (
	"context"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/testmodule"
)

func hostileModule(t testing.TB) []byte {
	t.Helper()
	module, err := testmodule.Hostile()
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// newEngine returns an engine with the hostile guest. Its compiled code stays in the user's cache folder, so that it is
// compiled once and not under the race detector.
func newEngine(t testing.TB, options ...Option) *Engine {
	t.Helper()
	e, err := New(context.Background(), hostileModule(t), options...)
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

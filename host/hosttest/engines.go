// Package hosttest helps to test programs that run turns. It has the engines for a test, and a model provider with
// scripted answers. It does not link package testing, so commands may use it too.
package hosttest

import (
	"context"
	"os"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/full"
)

// TB is the part of testing.TB that this package needs.
type TB interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

var shared = sync.OnceValues(func() ([]host.Engine, error) {
	engines := []host.Engine{native.New()}
	module, ok := full.Module()
	if !ok {
		return engines, nil
	}
	e, err := wazero.New(context.Background(), module)
	if err != nil {
		return nil, err
	}
	return append(engines, e), nil
})

// Engines returns the engines for a test: native, and wazero if this build carries the module. Without the module the
// test continues with native alone and logs that; if the environment sets CI=true, it fails instead.
//
// All tests of a process share the engines. Do not close them; close the instances that a test opens.
//
//	for _, engine := range hosttest.Engines(t) {
//		t.Run(engine.Name(), func(t *testing.T) { … })
//	}
func Engines(t TB) []host.Engine {
	t.Helper()
	engines, err := shared()
	if err != nil {
		t.Fatalf("hosttest: %v", err)
	}
	if len(engines) == 1 {
		withoutModule(t, "the test runs on the native engine only")
	}
	if folder := os.Getenv(RecordTo); folder != "" {
		recorded := make([]host.Engine, len(engines))
		for i, e := range engines {
			recorded[i] = Record(e, folder)
		}
		return recorded
	}
	return engines
}

// withoutModule says what a test does where this build carries no module, or fails.
func withoutModule(t TB, instead string) {
	t.Helper()
	const missing = "hosttest: this build carries no module, `make wasm` builds it"
	if os.Getenv("CI") == "true" {
		t.Fatalf(missing)
	}
	t.Logf("%s; %s", missing, instead)
}

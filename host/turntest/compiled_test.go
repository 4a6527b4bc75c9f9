package turntest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/internal/carried"
	_ "github.com/turncore/turncore/wasm/full"
)

// version is a file of an agent, with bytes of its own for each version.
func version(t *testing.T, n int) []byte {
	t.Helper()
	module, err := carried.Module()
	if err != nil {
		t.Fatal(err)
	}
	file, err := agents.WithManifest(module, &agents.Manifest{Name: "agent", Version: "1.0." + string(rune('0'+n))})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// keptModules lists the modules of the process that are compiled.
func keptModules() []host.Engine {
	modules.mu.Lock()
	defer modules.mu.Unlock()
	var engines []host.Engine
	for _, c := range modules.list {
		engines = append(engines, c.engine)
	}
	return engines
}

func TestFileIsCompiledOnce(t *testing.T) {
	file := version(t, 0)
	var all sync.WaitGroup
	engines := make([]host.Engine, 6)
	for i := range engines {
		all.Go(func() {
			e, err := compileOnce(t.Context(), file)
			if err != nil {
				t.Error(err)
				return
			}
			engines[i] = e
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	shared := engines[0].(*lent).Engine
	for _, e := range engines {
		if e.(*lent).Engine != shared {
			t.Error("a test has compiled the file for itself")
		}
	}
	for _, e := range engines[1:] {
		for range 2 { // the second time does nothing
			if err := e.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	i, err := engines[0].Open(t.Context())
	if err != nil {
		t.Fatalf("others have left the module: %v", err)
	}
	if err := i.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := engines[0].Close(t.Context()); err != nil {
		t.Error(err)
	}
	if !slices.Contains(keptModules(), shared) {
		t.Error("the next test has to compile the file again")
	}

	for n := 1; n <= mostUnused; n++ {
		e, err := compileOnce(t.Context(), version(t, n))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if now := keptModules(); len(now) != mostUnused || slices.Contains(now, shared) {
		t.Errorf("%d modules are kept, want the %d that were used last", len(now), mostUnused)
	}
	if _, err := shared.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a module that is not kept: %v", err)
	}
}

func TestWhatDoesNotCompileIsNotKept(t *testing.T) {
	if _, err := compileOnce(t.Context(), []byte("no module")); err == nil {
		t.Fatal("it compiles")
	}
	if slices.Contains(keptModules(), nil) {
		t.Error("what does not compile is kept")
	}
}

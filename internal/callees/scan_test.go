package callees

import (
	"slices"
	"testing"

	"github.com/turncore/turncore/internal/wasmfile"
	"github.com/turncore/turncore/wasm/full"
)

// In a module of Go's linker no function does anything else with a table, and those that do not look like it have no
// indirect call.
func TestGoModulesHaveNoFurtherCalls(t *testing.T) {
	module, ok := full.Module()
	if !ok {
		t.Fatal("this build carries no module: run `make wasm` first")
	}
	if !Linked(module) {
		t.Fatal("the module does not say that Go's linker made it")
	}
	m := rewriter{module: module}
	if !m.read() || !m.choose() || !m.scan() {
		t.Fatal("the module would stay as it is")
	}
	all := scanner{has: m.has, code: m.code}
	r := wasmfile.Reader{Rest: m.code}
	for range m.functions {
		body := r.Bytes(r.Uint())
		to := len(m.code) - len(r.Rest)
		all.function(to-len(body), to)
	}
	if all.failed {
		t.Fatal("a function does something else with a table")
	}
	var sites []site
	for _, c := range all.calls {
		if m.first[c.of] == m.called {
			sites = append(sites, c.site)
		} else if !m.other[m.first[c.of]] {
			t.Errorf("a call of type %d is not found", c.of)
		}
	}
	if len(sites) < 100 || !slices.Equal(sites, m.sites) {
		t.Errorf("%d calls are found, %d there are", len(m.sites), len(sites))
	}
}

package turns

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/inprocess"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/internal/carried"
)

// A program that names no engine runs the module that it imports, natively what no module is there for, and is told
// what to import where it imports nothing.
func TestDefaultEngine(t *testing.T) {
	logged := new(bytes.Buffer)
	logger := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(logged, nil)))
	core, full, nat := carried.Core, carried.Full, inprocess.New
	t.Cleanup(func() {
		slog.SetDefault(logger)
		carried.Core, carried.Full, inprocess.New = core, full, nat
	})
	notBuilt := func() ([]byte, bool) { return nil, false }
	broken := func() ([]byte, bool) { return []byte("broken"), true }
	inProcess := func() host.Engine { return native.New() }
	for name, c := range map[string]struct {
		core, full func() ([]byte, bool)
		native     func() host.Engine
		engine     string // or else
		says       string
		warns      bool
	}{
		"nothing imported":       {says: "`import _ \"github.com/turncore/turncore/wasm/full\"`"},
		"a module not built":     {full: notBuilt, says: "`make wasm` builds it"},
		"neither built":          {full: notBuilt, core: notBuilt, native: inProcess, engine: "native", warns: true},
		"the native core alone":  {native: inProcess, engine: "native", warns: true},
		"a broken module":        {core: broken, native: inProcess, says: "does not compile"},
		"both, the full broken":  {full: broken, core: core, native: inProcess, says: "does not compile"},
		"what this test imports": {core, full, nat, map[bool]string{true: wazero.Name, false: native.Name}[built(full)], "", !built(full)},
	} {
		t.Run(name, func(t *testing.T) {
			logged.Reset()
			carried.Core, carried.Full, inprocess.New = c.core, c.full, c.native
			e, err := defaultEngine(context.Background())
			if c.says != "" {
				if !errors.Is(err, host.CodeInvalidModule) || !strings.Contains(err.Error(), c.says) || e != nil {
					t.Fatalf("%v, %v, want %q", e, err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close(context.Background())
			if e.Name() != c.engine || strings.Contains(logged.String(), "natively") != c.warns {
				t.Errorf("the engine is %s, logged %q", e.Name(), logged)
			}
		})
	}
}

// built tells whether a module's package is imported and holds it.
func built(module func() ([]byte, bool)) bool {
	if module == nil {
		return false
	}
	_, ok := module()
	return ok
}

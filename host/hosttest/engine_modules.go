package hosttest

import (
	"context"
	"errors"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/internal/testmodule"
)

// modules that are none of this ABI are refused by name.
func (s engineSuite[S]) modules(t S) {
	fine, without, changed := testmodule.Fine, testmodule.Without, testmodule.Changed
	type text = testmodule.Text
	all := []string{engine.ExportInitialize, abi.ExportABI, abi.ExportInbox, abi.ExportStep, "its memory"}
	for name, c := range map[string]struct {
		module []byte
		code   host.Code
		says   []string
	}{
		"no module":     {[]byte("hello"), host.CodeInvalidModule, nil},
		"nothing":       {nil, host.CodeInvalidModule, nil},
		"cut off":       {text{Exports: fine()}.Encode()[:40], host.CodeInvalidModule, nil},
		"no initialize": {text{Exports: without(engine.ExportInitialize)}.Encode(), host.CodeInvalidModule, []string{"it does not export the function _initialize"}},
		"no abi":        {text{Exports: without(abi.ExportABI)}.Encode(), host.CodeInvalidModule, []string{"it does not export the function turncore_abi"}},
		"no inbox":      {text{Exports: without(abi.ExportInbox)}.Encode(), host.CodeInvalidModule, []string{"it does not export the function turncore_inbox"}},
		"no step":       {text{Exports: without(abi.ExportStep)}.Encode(), host.CodeInvalidModule, []string{"it does not export the function turncore_step"}},
		"no memory":     {text{Exports: fine(), NoMemory: true}.Encode(), host.CodeInvalidModule, []string{"it does not export its memory"}},
		"no export":     {text{NoMemory: true}.Encode(), host.CodeInvalidModule, all},
		"step of a wrong type": {
			text{Exports: changed(abi.ExportStep, func(e *testmodule.Export) { e.Result = testmodule.I32 })}.Encode(),
			host.CodeInvalidModule,
			[]string{"turncore_step has type [i32] -> [i32] instead of [i32] -> [i64]"},
		},
		"a foreign import": {text{Exports: fine(), Imports: [][2]string{{"env", "log"}}}.Encode(), host.CodeInvalidModule, []string{"env", "log"}},
		"an unknown function of WASI": {
			text{Exports: fine(), Imports: [][2]string{{"wasi_snapshot_preview1", "fd_wrote"}}}.Encode(),
			host.CodeInvalidModule,
			[]string{"wasi_snapshot_preview1", "fd_wrote"},
		},
		"a function of WASI of a wrong type": {
			text{Exports: fine(), Imports: [][2]string{{"wasi_snapshot_preview1", "sched_yield"}}}.Encode(),
			host.CodeInvalidModule,
			[]string{"wasi_snapshot_preview1", "sched_yield"},
		},
		"two tables": {
			text{Exports: fine(), Tables: [][]byte{{0x70, 0, 1}, {0x70, 0, 1}}}.Encode(),
			host.CodeInvalidModule,
			[]string{"it has 2 tables"},
		},
		"a large table": {
			text{Exports: fine(), Tables: [][]byte{{0x70, 0, 0xff, 0xff, 0xff, 0xff, 0xf}}}.Encode(),
			host.CodeInvalidModule,
			[]string{"it has a table of 4294967295 entries"},
		},
		"many globals": {text{Exports: fine(), Globals: 65}.Encode(), host.CodeInvalidModule, []string{"it has 65 globals"}},
		"another major": {
			text{Exports: changed(abi.ExportABI, func(e *testmodule.Export) { e.Value = 7<<16 | 4 })}.Encode(),
			host.CodeABIVersion,
			[]string{"the module speaks 7.4, this host 2.0"},
		},
	} {
		t.Run(name, func(t S) {
			e, err := s.newEngine(context.Background(), c.module)
			if err == nil {
				_ = e.Close(context.Background())
				t.Fatalf("the module was taken")
			}
			var coded *host.Error
			if !errors.As(err, &coded) || coded.Code != c.code || coded.Help == "" || !coded.Fatal {
				t.Fatalf("error %#v, want a fatal %s that helps", err, c.code)
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
	t.Run("a newer minor", func(t S) {
		module := text{Exports: changed(abi.ExportABI, func(e *testmodule.Export) { e.Value = abi.Version + 5 })}
		opened(t, s.engine(t, module.Encode()))
	})
}

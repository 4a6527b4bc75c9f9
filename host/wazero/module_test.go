package wazero

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

func TestNewRefusesForeignModules(t *testing.T) {
	tests := map[string]struct {
		module []byte
		code   host.Code
		says   string
	}{
		"no module":        {[]byte("hello"), host.CodeInvalidModule, "it does not compile"},
		"nothing":          {nil, host.CodeInvalidModule, "it does not compile"},
		"no initialize":    {moduleText{exports: without(exportInitialize)}.encode(), host.CodeInvalidModule, "it does not export the function _initialize"},
		"no abi":           {moduleText{exports: without(abi.ExportABI)}.encode(), host.CodeInvalidModule, "it does not export the function turncore_abi"},
		"no inbox":         {moduleText{exports: without(abi.ExportInbox)}.encode(), host.CodeInvalidModule, "it does not export the function turncore_inbox"},
		"no step":          {moduleText{exports: without(abi.ExportStep)}.encode(), host.CodeInvalidModule, "it does not export the function turncore_step"},
		"no memory":        {moduleText{exports: fine(), noMemory: true}.encode(), host.CodeInvalidModule, "it does not export its memory"},
		"a foreign import": {moduleText{exports: fine(), imports: [][2]string{{"env", "log"}}}.encode(), host.CodeInvalidModule, "it imports the function env.log"},
		"an unknown function of WASI": {
			moduleText{exports: fine(), imports: [][2]string{{"wasi_snapshot_preview1", "fd_wrote"}}}.encode(),
			host.CodeInvalidModule, "it imports the function wasi_snapshot_preview1.fd_wrote, which no host provides",
		},
		"a function of WASI of a wrong type": {
			moduleText{exports: fine(), imports: [][2]string{{"wasi_snapshot_preview1", "sched_yield"}}}.encode(),
			host.CodeInvalidModule, "it imports the function wasi_snapshot_preview1.sched_yield with type [] -> [] instead of [] -> [i32]",
		},
		"two tables": {
			moduleText{exports: fine(), tables: [][]byte{{0x70, 0, 1}, {0x70, 0, 1}}}.encode(),
			host.CodeInvalidModule, "it has 2 tables",
		},
		"a large table": {
			moduleText{exports: fine(), tables: [][]byte{{0x70, 0, 0xff, 0xff, 0xff, 0xff, 0xf}}}.encode(),
			host.CodeInvalidModule, "it has a table of 4294967295 entries",
		},
		"many globals": {moduleText{exports: fine(), globals: 65}.encode(), host.CodeInvalidModule, "it has 65 globals"},
		"step of a wrong type": {
			moduleText{exports: changed(abi.ExportStep, func(e *export) { e.result = i32 })}.encode(),
			host.CodeInvalidModule, "turncore_step has type [i32] -> [i32] instead of [i32] -> [i64]",
		},
		"another major": {
			moduleText{exports: changed(abi.ExportABI, func(e *export) { e.value = 7<<16 | 4 })}.encode(),
			host.CodeABIVersion, "the module speaks 7.4, this host 2.0",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := New(context.Background(), test.module, WithoutCache())
			if err == nil {
				_ = e.Close(context.Background())
				t.Fatal("the module was taken")
			}
			if !errors.Is(err, test.code) || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("error %q, want %s and %q", err, test.code, test.says)
			}
			var coded *host.Error
			if !errors.As(err, &coded) || coded.Help == "" || !coded.Fatal {
				t.Fatalf("error %#v has no help or is not fatal", coded)
			}
		})
	}
}

func TestNewNamesEverythingThatIsMissing(t *testing.T) {
	_, err := New(context.Background(), moduleText{noMemory: true}.encode(), WithoutCache())
	if err == nil {
		t.Fatal("the module was taken")
	}
	for _, name := range []string{exportInitialize, abi.ExportABI, abi.ExportInbox, abi.ExportStep, exportMemory} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}

func TestNewTakesANewerMinor(t *testing.T) {
	module := moduleText{exports: changed(abi.ExportABI, func(e *export) { e.value = abi.Version + 5 })}.encode()
	e, err := New(context.Background(), module, WithoutCache())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// A step that does not touch the marker has not run to its end, whatever it returns.
func TestStepWithoutMark(t *testing.T) {
	e, err := New(context.Background(), moduleText{exports: fine()}.encode(), WithoutCache())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	inst, err := e.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inst.Step(nil, []byte{1}); !errors.Is(err, host.CodeInstanceFailed) {
		t.Fatalf("error %v", err)
	}
}

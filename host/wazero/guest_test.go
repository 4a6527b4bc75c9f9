package wazero

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/turncore/turncore/abi"
)

// hostile is the module of testdata/guests/hostile, built once per test run.
var hostile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "turncore-guest-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "hostile.wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "../testdata/guests/hostile")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return out, err
	}
	return os.ReadFile(file)
})

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
	module, err := hostile()
	if err != nil {
		t.Fatalf("%v: %s", err, module)
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

// A moduleText describes a small module, which [moduleText.encode] writes in WebAssembly's binary format.
type moduleText struct {
	imports  [][2]string // functions without parameters and results
	exports  []export
	tables   [][]byte // types
	globals  int
	noMemory bool
}

// export is a function that returns one constant, or nothing.
type export struct {
	name   string
	params []byte
	result byte // its type, 0 for none
	value  uint64
}

const i32, i64 = 0x7f, 0x7e

// fine are exports that make a module pass.
func fine() []export {
	return []export{
		{name: exportInitialize},
		{name: abi.ExportABI, result: i32, value: abi.Version},
		{name: abi.ExportInbox, params: []byte{i32}, result: i32, value: 1024},
		{name: abi.ExportStep, params: []byte{i32}, result: i64},
	}
}

// without returns fine exports less the one of that name.
func without(name string) []export {
	return slices.DeleteFunc(fine(), func(e export) bool { return e.name == name })
}

// changed returns fine exports with one of them changed.
func changed(name string, change func(*export)) []export {
	list := fine()
	change(&list[slices.IndexFunc(list, func(e export) bool { return e.name == name })])
	return list
}

func (m moduleText) encode() []byte {
	section := func(out []byte, id byte, entries [][]byte) []byte {
		body := leb(nil, uint64(len(entries)))
		for _, entry := range entries {
			body = append(body, entry...)
		}
		return append(leb(append(out, id), uint64(len(body))), body...)
	}
	var types, imports, functions, exports, codes [][]byte
	for _, from := range m.imports {
		imports = append(imports, append(leb(text(text(nil, from[0]), from[1]), 0), leb(nil, uint64(len(types)))...))
		types = append(types, []byte{0x60, 0, 0})
	}
	for i, e := range m.exports {
		kind := append([]byte{0x60, byte(len(e.params))}, e.params...)
		code := []byte{0}
		switch e.result {
		case 0:
			kind = append(kind, 0)
		case i32:
			kind, code = append(kind, 1, i32), sleb(append(code, 0x41), int64(e.value))
		case i64:
			kind, code = append(kind, 1, i64), sleb(append(code, 0x42), int64(e.value))
		}
		code = append(code, 0x0b)
		functions = append(functions, leb(nil, uint64(len(types))))
		types = append(types, kind)
		codes = append(codes, append(leb(nil, uint64(len(code))), code...))
		exports = append(exports, append(text(nil, e.name), 0, byte(len(imports)+i)))
	}
	memories := [][]byte{{0, 1}}
	exports = append(exports, append(text(nil, exportMemory), 2, 0))
	if m.noMemory {
		exports = exports[:len(exports)-1]
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = section(out, 1, types)
	out = section(out, 2, imports)
	out = section(out, 3, functions)
	if len(m.tables) > 0 {
		out = section(out, 4, m.tables)
	}
	out = section(out, 5, memories)
	if m.globals > 0 {
		out = section(out, 6, slices.Repeat([][]byte{{i32, 1, 0x41, 0, 0x0b}}, m.globals))
	}
	out = section(out, 7, exports)
	return section(out, 10, codes)
}

func text(out []byte, s string) []byte { return append(leb(out, uint64(len(s))), s...) }

// leb writes a number in LEB128.
func leb(out []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

// sleb writes a number in signed LEB128.
func sleb(out []byte, n int64) []byte {
	for ; n < -64 || n > 63; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n)&0x7f)
}

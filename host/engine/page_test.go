package engine_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	wz "github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/hosttest"
)

// Engine is the module, compiled.
type Engine struct {
	hash      string
	runtime   wz.Runtime
	module    wz.CompiledModule
	instances engine.Instances
}

// New compiles a module and checks it.
func New(ctx context.Context, module []byte) (*Engine, error) {
	confined, err := engine.Confine(module, 8192) // pages: 512 MiB
	if err != nil {
		return nil, err
	}
	e := &Engine{hash: fmt.Sprintf("%x", sha256.Sum256(module)), runtime: wz.NewRuntime(ctx)}
	if _, err = wasi.Instantiate(ctx, e.runtime); err == nil {
		e.module, err = e.runtime.CompileModule(ctx, confined)
	}
	if err == nil {
		err = e.check(ctx)
	} else {
		err = host.NewError(host.CodeInvalidModule, "it does not compile", err)
	}
	if err != nil {
		_ = e.Close(ctx)
		return nil, err
	}
	return e, nil
}

// check looks at exports and imports, and starts an instance, which asks the module for its version.
func (e *Engine) check(ctx context.Context) error {
	exports, memory := e.module.ExportedFunctions(), e.module.ExportedMemories()["memory"]
	wrong := engine.CheckExports(func(name string) string { return typeOf(exports[name]) }, memory != nil)
	links := e.runtime.Module(wasi.ModuleName).ExportedFunctionDefinitions()
	for _, f := range e.module.ImportedFunctions() {
		from, name, _ := f.Import()
		if from != wasi.ModuleName || typeOf(links[name]) != typeOf(f) {
			wrong = append(wrong, "it imports "+from+"."+name+", which no host provides")
		}
	}
	if len(wrong) > 0 {
		return host.NewError(host.CodeInvalidModule, strings.Join(wrong, "; "), nil)
	}
	first, err := e.Open(ctx)
	if err != nil {
		return err
	}
	return first.Close(ctx)
}

// typeOf is the type of a function, "" for none.
func typeOf(f api.FunctionDefinition) string {
	if f == nil {
		return ""
	}
	names := func(types []api.ValueType) (list []string) {
		for _, t := range types {
			list = append(list, api.ValueTypeName(t))
		}
		return list
	}
	return engine.FunctionType(names(f.ParamTypes()), names(f.ResultTypes()))
}

func (e *Engine) Name() string       { return "mine" }
func (e *Engine) ModuleHash() string { return e.hash }

func (e *Engine) Open(ctx context.Context) (host.Instance, error) {
	i, err := e.instances.Open(func(g *engine.Guest) (engine.Module, error) { return e.start(ctx, g) })
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (e *Engine) Close(ctx context.Context) error {
	return errors.Join(e.instances.Close(ctx), e.runtime.Close(ctx))
}

// start starts an instance with the WASI functions that abi/SPEC.md lists.
func (e *Engine) start(ctx context.Context, g *engine.Guest) (engine.Module, error) {
	sleep := func(ns int64) {
		if err := g.Sleep(ns); err != nil {
			panic(err) // the runtime makes it a trap
		}
	}
	module, err := e.runtime.InstantiateModule(ctx, e.module, wz.NewModuleConfig().WithName("").
		WithStartFunctions(engine.ExportInitialize).WithStdout(g).WithStderr(g).
		WithSysNanotime().WithSysWalltime().WithRandSource(rand.Reader).WithNanosleep(sleep))
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	m := &mine{module}
	version, err := m.call(abi.ExportABI)
	if err == nil {
		err = engine.CheckVersion(uint32(version))
	}
	if err != nil {
		return nil, errors.Join(err, m.Close(ctx))
	}
	return m, nil
}

// mine has the four primitives.
type mine struct{ module api.Module }

func (m *mine) Inbox(size uint32) (uint32, error) {
	address, err := m.call(abi.ExportInbox, uint64(size))
	return uint32(address), err
}

func (m *mine) Step(size uint32) (uint64, error) { return m.call(abi.ExportStep, uint64(size)) }

func (m *mine) Memory() []byte {
	memory, _ := m.module.Memory().Read(0, m.module.Memory().Size())
	return memory
}

func (m *mine) Close(ctx context.Context) error { return m.module.Close(ctx) }

// call calls an export, and says how the guest ended if it did.
func (m *mine) call(name string, arguments ...uint64) (uint64, error) {
	results, err := m.module.ExportedFunction(name).Call(context.Background(), arguments...)
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return 0, engine.ExitError(exit.ExitCode())
	}
	if err != nil {
		return 0, err
	}
	return results[0], nil
}

// The engine of docs/engines.md passes the suite, and the page has its code.
func TestEngineOfThePage(t *testing.T) {
	source, err := os.ReadFile("page_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, begins := strings.Cut(string(source), "// Engine is the module, compiled.")
	code, _, ends := strings.Cut(code, "\n// The engine of docs/engines.md")
	if n := strings.Count(code, "\n"); !begins || !ends || n < 80 || n > 140 {
		t.Errorf("the engine has %d lines", n)
	}
	if !strings.Contains(string(page), strings.TrimSpace(code)) {
		t.Error("the page has another one")
	}
	hosttest.TestEngine(t, func(ctx context.Context, module []byte) (host.Engine, error) { return New(ctx, module) })
}

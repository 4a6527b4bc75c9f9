package wasmtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	wt "github.com/bytecodealliance/wasmtime-go/v39"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/internal/carried"
)

// Name is the result of [Engine.Name].
const Name = "wasmtime"

// Engine is a compiled module. Make one with [New].
type Engine struct {
	config config
	hash   string

	engine *wt.Engine
	linker *wt.Linker
	module *wt.Module // nil before it is compiled
	epochs *epochs    // nil without a time bound

	instances engine.Instances

	freeing sync.Mutex
}

var _ host.Engine = (*Engine)(nil)

// New compiles a module, or loads it from the compile cache, and checks that it is a Turncore module of this ABI
// version. The cache lies below os.UserCacheDir unless an option says otherwise; an unusable default cache is
// ignored.
//
// Other bytes give [host.CodeInvalidModule], a module of another ABI major gives [host.CodeABIVersion].
func New(ctx context.Context, module []byte, options ...Option) (*Engine, error) {
	e := &Engine{config: newConfig(options)}
	var hashing sync.WaitGroup
	hashing.Go(func() { // beside the rest: it takes milliseconds
		sum := sha256.Sum256(module)
		e.hash = hex.EncodeToString(sum[:])
	})
	err := e.load(ctx, module)
	hashing.Wait()
	if err != nil {
		_ = e.Close(ctx) // the reason why it is closed says more
		return nil, err
	}
	return e, nil
}

// Default is New with the module that the program carries: that of package wasm/full or of wasm/core, whichever it
// imports. Without one the error has [host.CodeInvalidModule].
func Default(ctx context.Context, options ...Option) (*Engine, error) {
	module, err := carried.Module()
	if err != nil {
		return nil, host.NewError(host.CodeInvalidModule, err.Error(), err)
	}
	return New(ctx, module, options...)
}

// load compiles and checks the module, and starts an instance, which asks the module for its version.
func (e *Engine) load(ctx context.Context, module []byte) error {
	module, err := engine.Confine(module, e.config.pages)
	if err != nil {
		return err
	}
	if e.config.fuel.Step > 0 {
		if module, err = engine.Meter(module); err != nil {
			return err
		}
	}
	e.engine = wt.NewEngineWithConfig(e.settings())
	if e.config.timeout > 0 {
		e.epochs = newEpochs(e.config.timeout, e.engine.IncrementEpoch)
	}
	if e.module, err = e.compiled(module); err != nil {
		return err
	}
	if e.linker, err = e.newLinker(); err != nil {
		return err
	}
	if err := e.check(); err != nil {
		return err
	}
	first, err := e.Open(ctx)
	if err != nil {
		return err
	}
	return first.Close(ctx)
}

// maxStack bounds the stack of compiled code, in bytes. Go's own stacks are in the guest's memory.
const maxStack = 1 << 20

// settings are those of the runtime. Modules get the features that every engine of Turncore has, and no others.
func (e *Engine) settings() *wt.Config {
	c := wt.NewConfig()
	c.SetMaxWasmStack(maxStack)
	c.SetEpochInterruption(e.config.timeout > 0)
	c.SetWasmThreads(false)
	c.SetWasmTailCall(false)
	c.SetWasmFunctionReferences(false)
	c.SetWasmGC(false)
	c.SetWasmRelaxedSIMD(false)
	c.SetWasmMultiMemory(false)
	c.SetWasmMemory64(false)
	return c
}

// Name returns "wasmtime".
func (e *Engine) Name() string { return Name }

// ModuleHash returns the module's SHA-256 in lower-case hex.
func (e *Engine) ModuleHash() string { return e.hash }

// Open starts an instance, which takes some 0.1 ms: its memory is a private mapping of the module's.
func (e *Engine) Open(context.Context) (host.Instance, error) {
	i, err := e.instances.Open(e.start)
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Close ends all instances, each after its current step, and frees the compiled code. A step that never ends, without a
// bound, keeps it waiting.
func (e *Engine) Close(ctx context.Context) error {
	err := e.instances.Close(ctx)
	e.freeing.Lock()
	defer e.freeing.Unlock()
	if e.epochs != nil {
		e.epochs.stop()
	}
	if e.module != nil {
		e.module.Close()
	}
	if e.linker != nil {
		e.linker.Close()
	}
	if e.engine != nil {
		e.engine.Close()
	}
	return err
}

package wazero

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	wz "github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/internal/callees"
	"github.com/turncore/turncore/internal/carried"
)

// Name is the result of [Engine.Name].
const Name = "wazero"

// Engine is a compiled module. Make one with [New].
type Engine struct {
	config  config
	hash    string
	cache   wz.CompilationCache // nil for none
	runtime wz.Runtime
	module  wz.CompiledModule
	image   *memoryImage // that memories begin with; nil for none

	instances engine.Instances
	closing   atomic.Pointer[closingError] // steps that count fuel are to end

	mu    sync.Mutex
	spare *engine.Instance // made to check the module, handed out by the first Open
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

// load compiles and checks the module, and makes the first instance.
func (e *Engine) load(ctx context.Context, module []byte) error {
	linked := callees.Linked(module)
	module, fill := e.withoutData(module) // first: the others copy what is left
	module, err := engine.Confine(module, e.config.pages)
	if err != nil {
		return err
	}
	var filling sync.WaitGroup
	filling.Go(fill) // beside the rest, as above
	defer filling.Wait()
	if e.config.fuel.Step > 0 {
		if module, err = engine.Meter(module); err != nil {
			return err
		}
	}
	if linked && !e.config.interpret {
		module = callees.InCode(module)
	}
	if e.config.cache != "" {
		switch err := e.compileCached(ctx, module); {
		case err == nil:
		case e.config.chosen && errors.Is(err, errCache):
			return err
		default:
			// A cache damaged by another program must not keep this program from running.
			slog.Debug("turncore: compiling without the cache", "dir", e.config.cache, "error", err)
		}
	}
	if e.module == nil {
		if err := e.compile(ctx, module); err != nil {
			why, _, _ := strings.Cut(err.Error(), "\n")
			return host.NewError(host.CodeInvalidModule, "it does not compile: "+why, err)
		}
	}
	wasi := e.runtime.Module(wasi_snapshot_preview1.ModuleName).ExportedFunctionDefinitions()
	if err := checkModule(e.module, wasi); err != nil {
		return err
	}
	filling.Wait()
	e.spare, err = e.open(ctx)
	return err
}

// open starts an instance.
func (e *Engine) open(ctx context.Context) (*engine.Instance, error) {
	return e.instances.Open(func(g *engine.Guest) (engine.Module, error) { return e.start(ctx, g) })
}

// errCache marks errors of the cache folder itself.
var errCache = errors.New("compile cache")

// compileCached compiles with the cache on disk.
func (e *Engine) compileCached(ctx context.Context, module []byte) error {
	if err := os.MkdirAll(e.config.cache, 0o700); err != nil {
		return fmt.Errorf("%w: %w", errCache, err)
	}
	cache, err := wz.NewCompilationCacheWithDir(e.config.cache)
	if err != nil {
		return fmt.Errorf("%w: %w", errCache, err)
	}
	e.cache = cache
	if err := e.compile(ctx, module); err != nil {
		err = errors.Join(err, e.runtime.Close(ctx), cache.Close(ctx))
		e.runtime, e.cache = nil, nil
		return err
	}
	return nil
}

// compile makes the runtime and compiles the module in it.
func (e *Engine) compile(ctx context.Context, module []byte) error {
	config := wz.NewRuntimeConfig()
	if e.config.interpret {
		config = wz.NewRuntimeConfigInterpreter()
	}
	config = config.WithMemoryLimitPages(e.config.pages)
	if e.cache != nil {
		config = config.WithCompilationCache(e.cache)
	}
	e.runtime = wz.NewRuntimeWithConfig(ctx, config)
	if err := instantiateWASI(ctx, e.runtime); err != nil {
		return err
	}
	if e.config.fuel.Step > 0 {
		ctx = experimental.WithFunctionListenerFactory(ctx, refuels{})
	}
	compiled, err := e.runtime.CompileModule(ctx, module)
	if err != nil {
		return err
	}
	e.module = compiled
	return nil
}

// Name returns "wazero".
func (e *Engine) Name() string { return Name }

// ModuleHash returns the module's SHA-256 in lower-case hex.
func (e *Engine) ModuleHash() string { return e.hash }

// Open starts an instance, which takes two or three milliseconds.
func (e *Engine) Open(ctx context.Context) (host.Instance, error) {
	e.mu.Lock()
	first := e.spare
	e.spare = nil
	e.mu.Unlock()
	if first != nil {
		return first, nil
	}
	i, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	return i, nil
}

// closingError ends a step that the engine does not wait for. It wraps the cause of the context that has ended.
type closingError struct{ cause error }

func (*closingError) Error() string { return "the engine is closed" }

func (e *closingError) Unwrap() error { return e.cause }

// Close ends all instances, each after its current step, and frees the compiled code. Once ctx is done it waits no
// longer for steps of a module that counts fuel ([WithFuel]), and ends them: their errors wrap the cause of ctx.
func (e *Engine) Close(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { e.closing.Store(&closingError{context.Cause(ctx)}) })()
	e.mu.Lock()
	e.spare = nil
	e.mu.Unlock()
	errs := []error{e.instances.Close(ctx)}
	if e.runtime != nil {
		errs = append(errs, e.runtime.Close(ctx))
	}
	if e.cache != nil {
		errs = append(errs, e.cache.Close(ctx))
	}
	errs = append(errs, e.image.close())
	return errors.Join(errs...)
}

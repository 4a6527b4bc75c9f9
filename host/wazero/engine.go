package wazero

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	wz "github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/internal/confine"
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

	// starting is held for reading while an instance starts, so that the runtime is not closed meanwhile.
	starting sync.RWMutex
	closed   bool

	mu    sync.Mutex
	open  map[*instance]struct{}
	spare *instance // made to check the module, handed out by the first Open
}

var _ host.Engine = (*Engine)(nil)

// New compiles a module, or loads it from the compile cache, and checks that it is a Turncore module of this ABI
// version. The cache lies below os.UserCacheDir unless an option says otherwise; an unusable default cache is
// ignored.
//
// Other bytes give [host.CodeInvalidModule], a module of another ABI major gives [host.CodeABIVersion].
func New(ctx context.Context, module []byte, options ...Option) (*Engine, error) {
	sum := sha256.Sum256(module)
	e := &Engine{config: newConfig(options), hash: hex.EncodeToString(sum[:]), open: map[*instance]struct{}{}}
	if err := e.load(ctx, module); err != nil {
		_ = e.Close(ctx) // the reason why it is closed says more
		return nil, err
	}
	return e, nil
}

// load compiles and checks the module, and makes the first instance.
func (e *Engine) load(ctx context.Context, module []byte) error {
	module, err := confine.Module(module, e.config.pages)
	if err != nil {
		return host.NewError(host.CodeInvalidModule, err.Error(), err)
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
			return host.NewError(host.CodeInvalidModule, "it does not compile", err)
		}
	}
	wasi := e.runtime.Module(wasi_snapshot_preview1.ModuleName).ExportedFunctionDefinitions()
	if err := checkModule(e.module, wasi); err != nil {
		return err
	}
	first, err := e.instantiate(ctx)
	if err != nil {
		return err
	}
	e.spare = first
	return first.checkVersion()
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
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, e.runtime); err != nil {
		return err
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
	i, err := e.instantiate(ctx)
	if err != nil {
		return nil, err
	}
	return i, nil
}

// forget removes an ended instance from the list.
func (e *Engine) forget(i *instance) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, i)
}

// Close ends all instances, each after its current step, and frees the compiled code.
func (e *Engine) Close(ctx context.Context) error {
	e.starting.Lock()
	e.closed = true
	e.starting.Unlock()

	e.mu.Lock()
	e.spare = nil
	open := make([]*instance, 0, len(e.open))
	for i := range e.open {
		open = append(open, i)
	}
	e.mu.Unlock()

	var errs []error
	for _, i := range open {
		errs = append(errs, i.Close(ctx))
	}
	if e.runtime != nil {
		errs = append(errs, e.runtime.Close(ctx))
	}
	if e.cache != nil {
		errs = append(errs, e.cache.Close(ctx))
	}
	return errors.Join(errs...)
}

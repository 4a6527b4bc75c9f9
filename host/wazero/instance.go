package wazero

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	wz "github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/engine"
)

// instance is a running module: [engine.Module] on wazero.
type instance struct {
	module      api.Module
	memory      api.Memory
	inbox, step api.Function
	stack       [1]uint64
}

// start starts the module and asks it which ABI it speaks.
func (e *Engine) start(ctx context.Context, g *engine.Guest) (engine.Module, error) {
	config := wz.NewModuleConfig().
		WithName(""). // anonymous: there may be many
		WithStartFunctions(engine.ExportInitialize).
		WithStdout(g).WithStderr(g).
		WithSysNanotime().WithSysWalltime().WithRandSource(rand.Reader).
		WithNanosleep(func(ns int64) {
			if err := g.Sleep(ns); err != nil {
				panic(err)
			}
		})
	g.GCPercent = e.config.gc
	allocate := newMemory
	if e.config.heap {
		allocate = newHeapMemory
	}
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(allocate))
	module, err := e.runtime.InstantiateModule(ctx, e.module, config)
	if err != nil {
		return nil, fmt.Errorf("start: %w", exited(err))
	}
	i := &instance{
		module: module, memory: module.Memory(),
		inbox: module.ExportedFunction(abi.ExportInbox), step: module.ExportedFunction(abi.ExportStep),
	}
	version, err := i.call(module.ExportedFunction(abi.ExportABI), 0)
	if err == nil {
		err = engine.CheckVersion(uint32(version))
	}
	if err != nil {
		_ = module.Close(ctx) // the reason why it is closed says more
		return nil, err
	}
	return i, nil
}

// call calls a function of one parameter or none.
func (i *instance) call(f api.Function, argument uint32) (uint64, error) {
	i.stack[0] = uint64(argument)
	// No context: to cancel a call from outside, the code must be compiled for it, which is 7 times slower.
	if err := f.CallWithStack(context.Background(), i.stack[:]); err != nil {
		return 0, exited(err)
	}
	return i.stack[0], nil
}

// Inbox implements [engine.Module].
func (i *instance) Inbox(size uint32) (uint32, error) {
	address, err := i.call(i.inbox, size)
	return uint32(address), err
}

// Step implements [engine.Module].
func (i *instance) Step(size uint32) (uint64, error) { return i.call(i.step, size) }

// Memory implements [engine.Module].
func (i *instance) Memory() []byte {
	memory, _ := i.memory.Read(0, i.memory.Size())
	return memory
}

// Close implements [engine.Module].
func (i *instance) Close(ctx context.Context) error { return i.module.Close(ctx) }

// exited is an error as [engine.Module] wants it.
func exited(err error) error {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return engine.ExitError(exit.ExitCode())
	}
	return err
}

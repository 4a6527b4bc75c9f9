package wazero

import (
	"context"
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
	module      api.Module // nil until it is instantiated
	wasi        engine.WASICall
	context     context.Context // of its calls: functions of WASI find the instance in it
	memory      api.Memory
	inbox, step api.Function
	fuel        api.MutableGlobal // nil if the module does not count it
	stack       [1]uint64
}

// start starts the module and asks it which ABI it speaks.
func (e *Engine) start(ctx context.Context, g *engine.Guest) (engine.Module, error) {
	config := wz.NewModuleConfig().
		WithName(""). // anonymous: there may be many
		WithStartFunctions()
	g.GCPercent = e.config.gc
	allocate := newMemory
	if e.config.heap {
		allocate = newHeapMemory
	}
	i := &instance{wasi: engine.WASICall{Guest: g}}
	// No context of a caller: to cancel a call from outside, the code must be compiled for it, which is 7 times slower.
	i.context = context.WithValue(context.Background(), callerKey{}, i)
	ctx = context.WithValue(ctx, callerKey{}, i) // for the start function
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(allocate))
	module, err := e.runtime.InstantiateModule(ctx, e.module, config)
	if err != nil {
		return nil, fmt.Errorf("start: %w", exited(err))
	}
	i.module, i.memory = module, module.Memory()
	i.inbox, i.step = module.ExportedFunction(abi.ExportInbox), module.ExportedFunction(abi.ExportStep)
	if err := i.initialize(e.config.fuel, g); err != nil {
		_ = module.Close(ctx) // the reason why it is closed says more
		return nil, err
	}
	if i.fuel != nil {
		return metered{i}, nil
	}
	return i, nil
}

// initialize runs what the module does before its first step, and checks its version.
func (i *instance) initialize(fuel engine.Fuel, g *engine.Guest) error {
	if fuel.Step > 0 {
		i.fuel, _ = i.module.ExportedGlobal(engine.ExportFuel).(api.MutableGlobal)
		i.wasi.Pay = i.pay
		g.Fuel = fuel
		metered{i}.SetFuel(fuel.Start)
	}
	for _, name := range []string{engine.ExportStart, engine.ExportInitialize} {
		f := i.module.ExportedFunction(name)
		if f == nil {
			continue
		}
		if _, err := i.call(f, 0); err != nil {
			return i.startError(fuel, err)
		}
	}
	version, err := i.call(i.module.ExportedFunction(abi.ExportABI), 0)
	if err != nil {
		return i.startError(fuel, err)
	}
	return engine.CheckVersion(uint32(version))
}

// startError is the error of a start that failed.
func (i *instance) startError(fuel engine.Fuel, err error) error {
	if i.fuel != nil && (metered{i}).Fuel() < 0 {
		err = &engine.FuelError{Units: fuel.Start, Limit: "Start"}
	}
	return fmt.Errorf("start: %w", err)
}

// metered is an instance whose module counts fuel.
type metered struct{ *instance }

// SetFuel implements [engine.Metered].
func (m metered) SetFuel(units int64) { m.fuel.Set(uint64(units)) }

// Fuel implements [engine.Metered].
func (m metered) Fuel() int64 { return int64(m.fuel.Get()) }

// call calls a function of one parameter or none.
func (i *instance) call(f api.Function, argument uint32) (uint64, error) {
	i.stack[0] = uint64(argument)
	if err := f.CallWithStack(i.context, i.stack[:]); err != nil {
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

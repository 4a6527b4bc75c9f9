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
	tank        tank // of its fuel, if the module counts it
	stack       [1]uint64
}

// start starts the module and asks it which ABI it speaks.
func (e *Engine) start(ctx context.Context, g *engine.Guest) (engine.Module, error) {
	config := wz.NewModuleConfig().
		WithName(""). // anonymous: there may be many
		WithStartFunctions().
		WithRandSource(noRandom{}) // wazero's own takes a tenth of a start to seed, and nobody asks it
	g.GCPercent = e.config.gc
	i := &instance{wasi: engine.WASICall{Guest: g}}
	// No context of a caller: to cancel a call from outside, the code must be compiled for it, which is 7 times slower.
	i.context = context.WithValue(context.Background(), callerKey{}, i)
	ctx = context.WithValue(ctx, callerKey{}, i) // for the start function
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(e.allocate))
	module, err := e.runtime.InstantiateModule(ctx, e.module, config)
	if err != nil {
		return nil, fmt.Errorf("start: %w", exited(err))
	}
	i.module, i.memory = module, module.Memory()
	i.inbox, i.step = module.ExportedFunction(abi.ExportInbox), module.ExportedFunction(abi.ExportStep)
	if err := i.initialize(e, g); err != nil {
		_ = module.Close(ctx) // the reason why it is closed says more
		return nil, err
	}
	if i.tank.global != nil {
		return metered{i}, nil
	}
	return i, nil
}

// noRandom has no random bytes: [engine.WASICall] serves those that the module asks for.
type noRandom struct{}

func (noRandom) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// initialize runs what the module does before its first step, and checks its version.
func (i *instance) initialize(e *Engine, g *engine.Guest) error {
	fuel := e.config.fuel
	if fuel.Step > 0 {
		global, _ := i.module.ExportedGlobal(engine.ExportFuel).(api.MutableGlobal)
		i.tank = tank{global: global, engine: e}
		i.wasi.Pay = i.tank.pay
		g.Fuel = fuel
		i.tank.fill(fuel.Start)
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
	if i.tank.global != nil && i.tank.left() < 0 {
		err = &engine.FuelError{Units: fuel.Start, Limit: "Start"}
	}
	return fmt.Errorf("start: %w", err)
}

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

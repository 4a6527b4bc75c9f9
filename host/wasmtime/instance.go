package wasmtime

import (
	"context"
	"fmt"
	"time"

	wt "github.com/bytecodealliance/wasmtime-go/v39"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/engine"
)

// instance is a running module: [engine.Module] on Wasmtime.
type instance struct {
	engine *Engine
	guest  *engine.Guest
	store  *wt.Store
	cause  error     // why a function that the guest has called ends it
	begun  time.Time // the step or the start, if its time is bounded

	of          guest
	inbox, step *function
	fuel        *wt.Global // nil if the module does not count it
}

// start starts the module and asks it which ABI it speaks.
func (e *Engine) start(g *engine.Guest) (engine.Module, error) {
	i := &instance{engine: e, guest: g}
	i.store = wt.NewStoreWithData(e.engine, i)
	g.GCPercent = e.config.gc
	if err := i.begin(); err != nil {
		i.store.Close()
		return nil, err
	}
	if i.fuel != nil {
		return metered{i}, nil
	}
	return i, nil
}

// begin makes the instance in its store, runs what the module does before its first step, and checks its version.
func (i *instance) begin() error {
	// One memory and one table, which the module declares and [engine.Confine] has bounded.
	i.store.Limiter(int64(i.engine.config.pages)<<16, -1, 1, 1, 1)
	i.store.SetWasi(wt.NewWasiConfig())
	started, err := i.instantiate()
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	i.of.setMemory(i.store, started.GetExport(i.store, engine.ExportMemory).Memory())
	i.inbox = newFunction(started.GetFunc(i.store, abi.ExportInbox))
	i.step = newFunction(started.GetFunc(i.store, abi.ExportStep))
	fuel := i.engine.config.fuel
	if fuel.Step > 0 {
		i.fuel = started.GetExport(i.store, engine.ExportFuel).Global()
		i.guest.Fuel = fuel
		metered{i}.SetFuel(fuel.Start)
	}
	var version uint64
	for _, name := range []string{engine.ExportStart, engine.ExportInitialize, abi.ExportABI} {
		f := newFunction(started.GetFunc(i.store, name))
		if f == nil {
			continue // the start function: few modules have one
		}
		if version, err = i.call(f, 0, 0); err != nil {
			if i.fuel != nil && (metered{i}).Fuel() < 0 {
				err = &engine.FuelError{Units: fuel.Start, Limit: "Start"}
			}
			return fmt.Errorf("start: %w", err)
		}
	}
	return engine.CheckVersion(uint32(version))
}

// instantiate makes the instance, and runs its start function if the module is not metered. The time that a start may
// take begins here.
func (i *instance) instantiate() (*wt.Instance, error) {
	if clock := i.engine.epochs; clock != nil {
		clock.begin()
		defer clock.end()
		i.begun = time.Now()
		i.store.SetEpochDeadline(clock.ticks)
	}
	started, err := i.engine.linker.Instantiate(i.store, i.engine.module)
	if err != nil {
		return nil, i.why(flat(err))
	}
	return started, nil
}

// call calls a function of one parameter or none, which may run for so many epochs, 0 for those that are left.
func (i *instance) call(f *function, argument uint32, ticks uint64) (uint64, error) {
	if clock := i.engine.epochs; clock != nil {
		clock.begin()
		defer clock.end()
	}
	value, err := i.of.call(f, argument, ticks)
	if err != nil {
		return 0, i.why(err)
	}
	return value, nil
}

// why is the reason why the guest has ended.
func (i *instance) why(err error) error {
	switch {
	case i.cause != nil:
		return i.cause
	case interrupted(err):
		return i.late()
	}
	return err
}

// late is the error of a guest whose time is over.
func (i *instance) late() error {
	return &engine.TimeoutError{Timeout: i.engine.config.timeout, Limit: "StepTimeout"}
}

// metered is an instance whose module counts fuel.
type metered struct{ *instance }

// SetFuel implements [engine.Metered].
func (m metered) SetFuel(units int64) {
	_ = m.fuel.Set(m.store, wt.ValI64(units)) // it fails only for another type
}

// Fuel implements [engine.Metered].
func (m metered) Fuel() int64 { return m.fuel.Get(m.store).I64() }

// Inbox implements [engine.Module]. The time of a step begins with it.
func (i *instance) Inbox(size uint32) (uint32, error) {
	var ticks uint64
	if i.engine.epochs != nil {
		ticks = i.engine.epochs.ticks
		i.begun = time.Now()
	}
	address, err := i.call(i.inbox, size, ticks)
	return uint32(address), err
}

// Step implements [engine.Module].
func (i *instance) Step(size uint32) (uint64, error) { return i.call(i.step, size, 0) }

// Memory implements [engine.Module].
func (i *instance) Memory() []byte { return i.of.memory() }

// Close implements [engine.Module].
func (i *instance) Close(context.Context) error {
	i.store.Close()
	return nil
}

package wasmtime

import (
	"time"

	wt "github.com/bytecodealliance/wasmtime-go/v39"

	"github.com/turncore/turncore/host/engine"
)

// wasi is the module that guests import.
const wasi = "wasi_snapshot_preview1"

// newLinker returns the functions that a module may import, which [engine.WASICall] serves. All instances of an engine
// share them.
//
// Guests ask for the time often, and Wasmtime's own function takes a tenth of the time of one in Go: so it stays unless
// it is to be paid for. Its other functions take memory of the host for what guests ask for, and their time has no
// bound.
func (e *Engine) newLinker() (*wt.Linker, error) {
	linker := wt.NewLinker(e.engine)
	linker.AllowShadowing(true)
	if err := linker.DefineWasi(); err != nil {
		return nil, err
	}
	store := wt.NewStore(e.engine)
	defer store.Close()
	for _, x := range e.module.Imports() {
		if x.Module() != wasi || x.Name() == nil {
			continue // which check rejects
		}
		name := *x.Name()
		own := linker.Get(store, wasi, name)
		if own == nil || name == "clock_time_get" && e.config.fuel.Step == 0 {
			continue
		}
		f := own.Func().Type(store)
		if err := linker.FuncNew(wasi, name, f, served(name, len(f.Results()))); err != nil {
			return nil, err
		}
	}
	return linker, nil
}

// served is a function that [engine.WASICall] serves, with one result or none.
func served(name string, results int) func(*wt.Caller, []wt.Val) ([]wt.Val, *wt.Trap) {
	return func(caller *wt.Caller, params []wt.Val) ([]wt.Val, *wt.Trap) {
		i := caller.Data().(*instance)
		call := engine.WASICall{Guest: i.guest, Memory: memoryOf(caller), Params: make([]uint64, len(params))}
		for n, p := range params {
			if p.Kind() == wt.KindI64 {
				call.Params[n] = uint64(p.I64())
			} else {
				call.Params[n] = uint64(uint32(p.I32()))
			}
		}
		if i.fuel != nil || i.engine.epochs != nil {
			call.Pay = func(units uint64) error { return i.pay(caller, units) }
		}
		errno, err := call.Do(name)
		if err != nil {
			i.cause = err
			return nil, wt.NewTrap(err.Error())
		}
		return []wt.Val{wt.ValI32(int32(errno))}[:results], nil
	}
}

// memoryOf is the memory of the instance that calls, nil for none.
func memoryOf(caller *wt.Caller) []byte {
	item := caller.GetExport(engine.ExportMemory)
	if item == nil || item.Memory() == nil {
		return nil
	}
	return item.Memory().UnsafeData(caller)
}

// pay takes units from what a module may do that counts it, and ends the module if there are fewer; or if its time is
// over, which compiled code alone looks at.
func (i *instance) pay(caller *wt.Caller, units uint64) error {
	if i.engine.epochs != nil && time.Since(i.begun) > i.engine.config.timeout {
		return i.late()
	}
	if i.fuel == nil {
		return nil
	}
	left := i.fuel.Get(caller).I64() - int64(min(units, 1<<40))
	if err := i.fuel.Set(caller, wt.ValI64(left)); err != nil {
		return err
	}
	if left < 0 {
		return engine.ErrSpent
	}
	return nil
}

package wazero

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/turncore/turncore/host/engine"
)

// slice is how many units a module has at a time, some tens of microseconds for most code. Coming back to Go after each
// costs a hundredth of them.
const slice = 1 << 16

// tank has the fuel of an instance, and gives it to the module in slices.
type tank struct {
	engine *Engine
	global api.MutableGlobal // what the module has; nil if it does not count
	rest   int64             // what it gets later
	begun  time.Time         // the start or the step, if its time is bounded
}

// fill sets the fuel, for a start or a step that begins.
func (t *tank) fill(units int64) {
	t.give(units)
	if t.engine.config.timeout > 0 {
		t.begun = time.Now()
	}
}

// give gives the module a slice of its units, and keeps the rest.
func (t *tank) give(units int64) {
	first := min(units, slice)
	t.global.Set(uint64(first))
	t.rest = units - first
}

// left is what is left of the fuel, negative if the module has been ended for want of it.
func (t *tank) left() int64 { return int64(t.global.Get()) + t.rest }

// pay takes units from what a module may do, and ends the module if there are fewer.
func (t *tank) pay(units uint64) error {
	left := int64(t.global.Get()) - int64(min(units, 1<<40))
	t.global.Set(uint64(left))
	if left < 0 {
		t.refuel()
	}
	if t.left() < 0 {
		return engine.ErrSpent
	}
	return nil
}

// refuel gives the module its next slice, which its last did not suffice for. Others may run meanwhile. It panics if
// the module must not go on.
func (t *tank) refuel() {
	t.give(t.left())
	closing := t.engine.closing.Load()
	switch limit := t.engine.config.timeout; {
	case closing != nil:
		panic(closing)
	case limit > 0 && time.Since(t.begun) > limit:
		panic(&engine.TimeoutError{Timeout: limit, Limit: "StepTimeout"})
	}
	runtime.Gosched()
}

// metered is an instance whose module counts fuel.
type metered struct{ *instance }

// SetFuel implements [engine.Metered].
func (m metered) SetFuel(units int64) { m.tank.fill(units) }

// Fuel implements [engine.Metered].
func (m metered) Fuel() int64 { return m.tank.left() }

// refuels listens to modules that have used up a slice: they call a function of their own, and wazero tells of its
// calls.
type refuels struct{}

// NewFunctionListener implements [experimental.FunctionListenerFactory].
func (refuels) NewFunctionListener(f api.FunctionDefinition) experimental.FunctionListener {
	if slices.Contains(f.ExportNames(), engine.ExportRefuel) {
		return refuels{}
	}
	return nil
}

// Before implements [experimental.FunctionListener].
func (refuels) Before(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
	ctx.Value(callerKey{}).(*instance).tank.refuel()
}

// After implements [experimental.FunctionListener].
func (refuels) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}

// Abort implements [experimental.FunctionListener].
func (refuels) Abort(context.Context, api.Module, api.FunctionDefinition, error) {}

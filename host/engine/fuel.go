package engine

import (
	"fmt"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/internal/metering"
)

// Fuel bounds what a module's code may do, in units: one pays for up to 32 instructions of a function or of a round of
// a loop, or for 256 bytes that are copied, filled or added to the memory at once. How long a unit takes depends on the
// machine: a loop that does nothing takes a nanosecond for each, one that waits for memory a thousand times as long.
//
// Fuel ends an instance, not a turn: a step serves many turns, and the guest's garbage collection.
type Fuel struct {
	Start int64 // for the start of an instance, before its first step
	Step  int64 // for each step
}

// Fuel for modules that are not trusted, unless a host says otherwise. Most steps of the core take some thousand units,
// the largest of the conformance corpus thirty million.
const (
	DefaultStartFuel = 1_000_000_000
	DefaultStepFuel  = 1_000_000_000
)

// Names of what a metered module exports besides [Exports].
const (
	ExportFuel  = metering.Fuel  // a mutable global of type i64: the units that are left, negative after too many
	ExportStart = metering.Start // the module's start function, if it has one, to be called before [ExportInitialize]
	// ExportRefuel is a function that the module calls, without parameters and results, once its fuel is negative. It
	// traps if it is so still. A runtime that tells of the call, and lets the host set the fuel meanwhile, can give it in
	// slices.
	ExportRefuel = metering.Refuel
)

// Metered is a [Module] that counts fuel: one that [Meter] returned.
type Metered interface {
	Module
	// SetFuel sets the units that the module may use from here on.
	SetFuel(units int64)
	// Fuel returns the units that are left, negative if the module has been ended for want of them.
	Fuel() int64
}

// Meter returns a module that counts fuel and traps when it has used more than it has. A module with instructions that
// it does not know fails with [host.CodeInvalidModule].
func Meter(module []byte) ([]byte, error) {
	metered, err := metering.Module(module)
	if err != nil {
		return nil, host.NewError(host.CodeInvalidModule, "it cannot be metered: "+err.Error(), err)
	}
	return metered, nil
}

// FuelError is the error of a module that was ended because it used more fuel than it had.
type FuelError struct {
	Units int64  // the limit
	Limit string // its name: "Start" or "Step", as in [Fuel]
}

func (e *FuelError) Error() string {
	return fmt.Sprintf("it used more than %d units of fuel, the limit %s of its engine", e.Units, e.Limit)
}

// TimeoutError is the error of an instance that was ended because it ran for too long.
type TimeoutError struct {
	Timeout time.Duration // the limit
	Limit   string        // its name: "StepTimeout", as in the engine's option
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("it ran for more than %v, the limit %s of its engine", e.Timeout, e.Limit)
}

// refuel gives the module its fuel for a step. The caller holds the lock.
func (i *Instance) refuel() {
	if i.guest.Fuel.Step > 0 {
		i.module.(Metered).SetFuel(i.guest.Fuel.Step)
	}
}

// spent is the error of a step that failed: want of fuel is a reason of its own. The caller holds the lock.
func (i *Instance) spent(err error) error {
	if i.guest.Fuel.Step > 0 && i.module.(Metered).Fuel() < 0 {
		return &FuelError{i.guest.Fuel.Step, "Step"}
	}
	return err
}

package wazero

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/internal/testmodule"
)

// forever are instructions that never end.
var forever = []byte{0x03, 0x40, 0x0c, 0, 0x0b, 0x00}

// spinning is a small module one of whose functions never ends.
func spinning(export string) []byte {
	return testmodule.Text{Exports: testmodule.Changed(export, func(e *testmodule.Export) { e.Code = forever })}.Encode()
}

// wantFuel checks that an instance ended for want of fuel.
func wantFuel(t *testing.T, err error, limit string, units int64) {
	t.Helper()
	var spent *engine.FuelError
	if !errors.Is(err, host.CodeInstanceFailed) || !errors.As(err, &spent) || spent.Limit != limit || spent.Units != units {
		t.Fatalf("%v, want a FuelError with %s and %d", err, limit, units)
	}
}

func TestFuelEndsAStart(t *testing.T) {
	for _, export := range []string{engine.ExportInitialize, abi.ExportABI} {
		_, err := New(t.Context(), spinning(export), WithFuel(engine.Fuel{Start: 1000}))
		wantFuel(t, err, "Start", 1000)
	}
}

func TestFuelEndsAStep(t *testing.T) {
	for _, export := range []string{abi.ExportInbox, abi.ExportStep} {
		e, err := New(t.Context(), spinning(export), WithFuel(engine.Fuel{Step: 1_000_000}))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close(t.Context())
		i := open(t, e)
		_, err = i.Step(nil, []byte{1})
		wantFuel(t, err, "Step", 1_000_000)
		if _, again := i.Step(nil, nil); again != err {
			t.Errorf("the next step says %v", again)
		}
	}
}

// While guests spin, others step, and garbage is collected.
func TestFuelLeavesTheProcessAlone(t *testing.T) {
	e := newEngine(t, WithFuel(engine.Fuel{Step: 50_000_000}))
	neighbour := open(t, e)
	done := make(chan error)
	const spins = 3
	for range spins {
		i := open(t, e)
		go func() {
			_, err := i.Step(nil, []byte("spin"))
			done <- err
		}()
	}
	for left := spins; left > 0; {
		select {
		case err := <-done:
			wantFuel(t, err, "Step", 50_000_000)
			left--
		default:
			runtime.GC()
			if out, err := neighbour.Step(nil, []byte("\x00hello")); err != nil || string(out) != "hello" {
				t.Fatalf("the neighbour says %q, %v", out, err)
			}
		}
	}
}

// Each step has all of its fuel.
func TestFuelIsForEachStep(t *testing.T) {
	e := newEngine(t, WithFuel(engine.Fuel{Step: 100_000}))
	i := open(t, e)
	for range 1000 {
		if _, err := i.Step(nil, []byte("\x00hello")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFuelRefusesWhatItDoesNotKnow(t *testing.T) {
	tailCall := testmodule.Text{Exports: testmodule.Changed(engine.ExportInitialize, func(e *testmodule.Export) {
		e.Code = []byte{0x12, 0}
	})}
	_, err := New(context.Background(), tailCall.Encode(), WithFuel(engine.Fuel{}))
	if !errors.Is(err, host.CodeInvalidModule) {
		t.Fatalf("%v, want %s", err, host.CodeInvalidModule)
	}
}

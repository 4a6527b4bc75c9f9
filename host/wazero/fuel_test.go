package wazero

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/internal/testmodule"
	"github.com/turncore/turncore/host/internal/testmodule/wat"
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

// rounds is a small module whose step has so many rounds of a loop.
func rounds(t *testing.T, n int) []byte {
	t.Helper()
	file, err := wat.Assemble(fmt.Sprintf(`(module
  (func (export "turncore_step") (param $size i32) (result i64) (local $n i32)
    (loop $l
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $l (i32.lt_u (local.get $n) (i32.const %d))))
    (i32.store8 (i32.const 0x10000) (i32.const 0))
    (i64.const 0))
  (func (export "turncore_inbox") (param i32) (result i32) (i32.const 0x10000)))`, n), `(module
  (memory (export "memory") 32)
  (func (export "_initialize"))
  (func (export "turncore_abi") (result i32) (i32.const 0x20000)))`, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// All fuel together decides where a step ends, wherever its slices do.
func TestFuelEndsWhereItsSumEnds(t *testing.T) {
	const n = 3*slice + 5
	file := rounds(t, n)
	for name, options := range map[string][]Option{"compiled": nil, "interpreted": {WithInterpreter()}} {
		t.Run(name, func(t *testing.T) {
			step := func(units int64) error {
				e, err := New(t.Context(), file, append(options, WithoutCache(), WithFuel(engine.Fuel{Step: units}))...)
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close(t.Context())
				_, err = open(t, e).Step(nil, nil)
				return err
			}
			if err := step(n); err != nil {
				t.Errorf("with a unit a round: %v", err)
			}
			wantFuel(t, step(n-1), "Step", n-1)
		})
	}
}

// A guest that spins holds up neither the collector nor the end of its engine.
func TestFuelComesInSlices(t *testing.T) {
	e, err := New(t.Context(), spinning(abi.ExportStep), WithFuel(engine.Fuel{Step: 1 << 60}))
	if err != nil {
		t.Fatal(err)
	}
	i := open(t, e)
	done := make(chan error)
	began := make(chan struct{})
	go func() {
		close(began)
		_, err := i.Step(nil, []byte{1})
		done <- err
	}()
	<-began
	for range 20 {
		runtime.GC()
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	if err := e.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, host.CodeInstanceFailed) || !errors.Is(err, cause) || !strings.Contains(err.Error(), "is closed") {
		t.Errorf("the step ends with %v", err)
	}
}

func TestStepTimeout(t *testing.T) {
	const limit = 20 * time.Millisecond
	want := func(err error) {
		t.Helper()
		var late *engine.TimeoutError
		if !errors.Is(err, host.CodeInstanceFailed) || !errors.As(err, &late) || late.Timeout != limit || late.Limit != "StepTimeout" {
			t.Errorf("%v, want a TimeoutError with StepTimeout and %v", err, limit)
		}
	}
	options := []Option{WithStepTimeout(limit), WithFuel(engine.Fuel{Start: 1 << 60, Step: 1 << 60})}
	for _, export := range []string{engine.ExportInitialize, abi.ExportABI} {
		_, err := New(t.Context(), spinning(export), options...)
		want(err)
	}
	for _, export := range []string{abi.ExportInbox, abi.ExportStep} {
		e, err := New(t.Context(), spinning(export), options...)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close(t.Context())
		_, err = open(t, e).Step(nil, []byte{1})
		want(err)
	}
	e, err := New(t.Context(), rounds(t, 10*slice), WithStepTimeout(time.Hour)) // counts fuel by itself
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(t.Context())
	if _, err := open(t, e).Step(nil, nil); err != nil {
		t.Error(err)
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

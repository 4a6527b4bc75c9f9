package wasmtime_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/wasmtime"
)

// bound is a bound on what a module does, with the error that names it.
type bound struct {
	option wasmtime.Option
	start  func(error) bool
	step   func(error) bool
}

// timeout is so long that no step exceeds it by accident.
const timeout = 300 * time.Millisecond

// spin is the input of a step of the module moody that never ends.
var spin = []byte{1}

// bounds are all of them.
var bounds = map[string]bound{
	"fuel":    {wasmtime.WithFuel(engine.Fuel{Start: 1e6, Step: 2e6}), outOf("Start", 1e6), outOf("Step", 2e6)},
	"timeout": {wasmtime.WithStepTimeout(timeout), late, late},
}

func outOf(limit string, units int64) func(error) bool {
	return func(err error) bool {
		var spent *engine.FuelError
		return errors.As(err, &spent) && spent.Limit == limit && spent.Units == units
	}
}

func late(err error) bool {
	var over *engine.TimeoutError
	return errors.As(err, &over) && over.Timeout == timeout && over.Limit == "StepTimeout"
}

func wantBound(t *testing.T, err error, names func(error) bool) {
	t.Helper()
	if !errors.Is(err, host.CodeInstanceFailed) || !names(err) {
		t.Fatalf("%v does not name the limit", err)
	}
}

// startSection is a module whose start function, the first one, never ends.
func startSection(t *testing.T) []byte {
	module := spinning(engine.ExportInitialize)
	const code = 10 // the section before which the start is named
	at := len(module) - 2
	for ; at > 0 && (module[at] != code || int(module[at+1]) != len(module)-at-2); at-- {
	}
	if at == 0 {
		t.Fatal("the module has no section of code")
	}
	return append(append(module[:at:at], 8, 1, 0), module[at:]...)
}

func TestBoundsEndAStart(t *testing.T) {
	for name, b := range bounds {
		t.Run(name, func(t *testing.T) {
			for _, module := range [][]byte{spinning(engine.ExportInitialize), spinning(abi.ExportABI), startSection(t)} {
				_, err := wasmtime.New(t.Context(), module, b.option)
				wantBound(t, err, b.start)
			}
		})
	}
}

func TestBoundsEndAStep(t *testing.T) {
	for name, b := range bounds {
		t.Run(name, func(t *testing.T) {
			for _, export := range []string{abi.ExportInbox, abi.ExportStep} {
				i := open(t, newEngine(t, spinning(export), b.option))
				_, err := i.Step(nil, []byte{1})
				wantBound(t, err, b.step)
				if _, again := i.Step(nil, nil); again != err {
					t.Errorf("the next step says %v", again)
				}
			}
		})
	}
}

// While guests spin, a neighbour steps and others start, and garbage is collected.
func TestBoundsLeaveTheProcessAlone(t *testing.T) {
	for name, b := range bounds {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, moody(), b.option)
			neighbour := open(t, e)
			done := make(chan error)
			const spins = 3
			for range spins {
				i := open(t, e)
				go func() {
					_, err := i.Step(nil, spin)
					done <- err
				}()
			}
			for left := spins; left > 0; {
				select {
				case err := <-done:
					wantBound(t, err, b.step)
					left--
				default:
					runtime.GC()
					if _, err := neighbour.Step(nil, nil); err != nil {
						t.Fatalf("the neighbour: %v", err)
					}
					if i, err := e.Open(t.Context()); err != nil || i.Close(t.Context()) != nil {
						t.Fatalf("open: %v", err)
					}
				}
			}
		})
	}
}

// A step without a bound that never ends takes a thread, and nothing else: the process collects garbage, and other
// instances step. A process of its own does that, which ends while the step runs.
func TestGarbageIsCollectedWhileAStepSpins(t *testing.T) {
	const child = "TURNCORE_TEST_SPINS"
	if os.Getenv(child) == "" {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGarbageIsCollectedWhileAStepSpins$")
		again.Env = append(os.Environ(), child+"=1")
		if out, err := again.CombinedOutput(); err != nil || string(out) != "collected\n" {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	e, err := wasmtime.New(t.Context(), moody())
	if err != nil {
		t.Fatal(err)
	}
	i, err := e.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := i.Step(nil, spin)
		ended <- err
	}()
	neighbour := open(t, e)
	for range 10 {
		time.Sleep(10 * time.Millisecond)
		runtime.GC()
		if _, err := neighbour.Step(nil, nil); err != nil {
			t.Fatalf("the neighbour: %v", err)
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("the step ended: %v", err)
	default:
	}
	fmt.Println("collected")
	os.Exit(0)
}

// Each step has all of its time and of its fuel, however long ago the instance began.
func TestBoundsAreForEachStep(t *testing.T) {
	e := newEngine(t, moody(), wasmtime.WithFuel(engine.Fuel{Step: 100}), wasmtime.WithStepTimeout(time.Second))
	i := open(t, e)
	for begun := time.Now(); time.Since(begun) < 1500*time.Millisecond; {
		for range 1000 {
			if _, err := i.Step(nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The timer stands still while nothing runs, and counts again afterwards. It leaves no goroutine.
func TestTimeoutAfterAPause(t *testing.T) {
	b := bounds["timeout"]
	e := newEngine(t, moody(), b.option)
	before := runtime.NumGoroutine()
	for range 2 {
		_, err := open(t, e).Step(nil, spin)
		wantBound(t, err, b.step)
		for wait := 0; runtime.NumGoroutine() > before; wait++ {
			if wait == 1000 {
				t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), before)
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func TestFuelRefusesWhatItDoesNotKnow(t *testing.T) {
	tailCall := with(engine.ExportInitialize, 0x12, 0)
	for name, options := range map[string][]wasmtime.Option{"metered": {wasmtime.WithFuel(engine.Fuel{})}, "plain": nil} {
		if _, err := wasmtime.New(t.Context(), tailCall, options...); !errors.Is(err, host.CodeInvalidModule) {
			t.Errorf("%s: %v, want %s", name, err, host.CodeInvalidModule)
		}
	}
}

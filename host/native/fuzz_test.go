package native_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/native"
)

// greeted returns an instance that has been greeted, with every feature it has.
func greeted(t testing.TB, e host.Engine) host.Instance {
	t.Helper()
	i, err := e.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := host.Greet(i, abi.Hello{Features: 1<<53 - 1}); err != nil {
		t.Fatal(err)
	}
	return i
}

// FuzzStep gives a greeted core any bytes, twice: it may complain, but never fail, and what it says is always frames.
func FuzzStep(f *testing.F) {
	var all []byte
	for _, frame := range hosttest.Conversation() {
		f.Add(frame)
		all = append(all, frame...)
		f.Add(all)
	}
	f.Add(abi.Append(nil, &abi.Hello{Major: abi.Major}))
	f.Add([]byte{0xdd, 0xff, 0xff, 0xff, 0xff})
	e := native.New()
	f.Fuzz(func(t *testing.T, in []byte) {
		i := greeted(t, e)
		defer i.Close(context.Background())
		for range 2 {
			out, err := i.Step(nil, in)
			if err != nil {
				if !errors.Is(err, host.CodeABILimitExceeded) {
					t.Fatal(err)
				}
				return
			}
			for len(out) > 0 {
				if _, _, out, err = abi.Next(out, abi.Limits{}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// The conversation does what it is for: it starts a turn and brings it to its end.
func TestConversation(t *testing.T) {
	i := greeted(t, native.New())
	seen := map[abi.Op]int{}
	for _, frame := range hosttest.Conversation() {
		out, err := i.Step(nil, frame)
		if err != nil {
			t.Fatal(err)
		}
		for len(out) > 0 {
			var op abi.Op
			var answer []byte
			if op, answer, out, err = abi.Next(out, abi.Limits{}); err != nil {
				t.Fatal(err)
			}
			seen[op]++
			if op == abi.OpFault {
				fault, _ := abi.Decode[abi.Fault](answer)
				t.Errorf("fault %+v", fault)
			}
		}
	}
	if seen[abi.OpEnd] != 1 || seen[abi.OpEvent] < 6 || seen[abi.OpEffect] < 3 {
		t.Fatalf("seen %v", seen)
	}
}

// An instance that ends takes its coroutines along, whatever their tasks wait for.
func TestCloseLeavesNothingBehind(t *testing.T) {
	e := native.New()
	frames := hosttest.Conversation()
	before := runtime.NumGoroutine()
	for n := range 3 * len(frames) {
		i := greeted(t, e)
		for _, frame := range frames[:n%len(frames)] {
			if _, err := i.Step(nil, frame); err != nil {
				t.Fatal(err)
			}
		}
		if err := i.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Fatalf("%d goroutines became %d", before, after)
	}
}

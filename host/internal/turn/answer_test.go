package turn

import (
	"context"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/internal/core"
	"github.com/turncore/turncore/host/native"
)

// nothing is a program that takes whatever the core asks, and has nothing to do with it.
type nothing struct{}

func (nothing) Open(*Context, *Context, core.Definition) {}
func (nothing) Prepare(*Effect, *abi.Effect) error       { return nil }
func (nothing) SetTools(*Context, abi.Raw) error         { return nil }
func (nothing) AdoptTool(abi.Raw) error                  { return nil }

// Whatever a core answers, it is taken in or refused with an error.
func FuzzAnswer(f *testing.F) {
	cores := core.Pool{
		Options: core.Options{Clock: host.SystemClock(), Entropy: host.SystemEntropy()},
		Given:   native.New(), HighWater: 1 << 30,
	}
	f.Cleanup(func() { _ = cores.Close(context.Background()) })
	c, err := cores.Acquire(context.Background())
	if err != nil {
		f.Fatal(err)
	}
	// The answers to a whole conversation, one after the other, and each by itself.
	inst, err := native.New().Open(context.Background())
	if err != nil {
		f.Fatal(err)
	}
	in := abi.Append(nil, &abi.Hello{Major: abi.Major, Features: c.Greeting().Features, Seed: make([]byte, abi.SeedSize)})
	if _, err := inst.Step(nil, in); err != nil {
		f.Fatal(err)
	}
	var all []byte
	for _, in := range hosttest.Conversation() {
		out, err := inst.Step(nil, in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(out)
		all = append(all, out...)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, answer []byte) {
		turn := New(c, &core.Runner{}, context.Background(), Spec{ID: "t", Program: nothing{}})
		turn.Enter(1)
		turn.space = new(space)
		turn.mu.Lock()
		defer turn.mu.Unlock()
		_, err := turn.read(&actor{}, answer)
		for _, d := range turn.queue.rest() {
			if d.event != nil {
				if _, err := d.event.MarshalJSON(); err != nil {
					t.Errorf("%T: %v", d.event, err)
				}
			}
		}
		if err != nil {
			turn.die(err)
		}
	})
}

package hosttest

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
)

// coreSuite tests an engine with the core.
type coreSuite[S T[S]] struct {
	newEngine func(ctx context.Context) (host.Engine, error)
	engine    host.Engine
}

// hello is what the tests say first.
var hello = abi.Hello{Features: abi.FeatureChat | abi.FeatureHistory | abi.FeatureTimers | abi.FeatureDigest}

// open opens an instance.
func open[S T[S]](t S, e host.Engine) host.Instance {
	t.Helper()
	i, err := e.Open(context.Background())
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return i
}

// greeted opens an instance and greets it.
func greeted[S T[S]](t S, e host.Engine) host.Instance {
	t.Helper()
	i := open(t, e)
	if _, err := host.Greet(i, hello); err != nil {
		t.Fatalf("greet: %v", err)
	}
	return i
}

// conversation plays the frames of a turn and returns what came back, an answer for each.
func conversation(i host.Instance) ([][]byte, error) {
	var answers [][]byte
	for _, in := range Conversation() {
		out, err := i.Step(nil, in)
		if err != nil {
			return nil, err
		}
		answers = append(answers, out)
	}
	return answers, nil
}

// expected is what a conversation comes to.
var expected = sync.OnceValues(func() ([][]byte, error) {
	i, err := native.New().Open(context.Background())
	if err != nil {
		return nil, err
	}
	defer i.Close(context.Background())
	if _, err := host.Greet(i, hello); err != nil {
		return nil, err
	}
	return conversation(i)
})

// converse has a conversation with an instance.
func converse[S T[S]](t S, i host.Instance) {
	t.Helper()
	want, err := expected()
	if err != nil {
		t.Fatalf("the native engine: %v", err)
	}
	got, err := conversation(i)
	if err != nil {
		t.Fatalf("step: %v", err)
	}
	for n := range want {
		if !bytes.Equal(got[n], want[n]) {
			t.Fatalf("step %d gives\n%x, the native engine\n%x", n, got[n], want[n])
		}
	}
}

// ended sees that an instance has ended with an error, and stays so.
func ended[S T[S]](t S, i host.Instance, why error) {
	t.Helper()
	if i.MemoryBytes() != 0 {
		t.Errorf("the instance keeps %d bytes after its end", i.MemoryBytes())
	}
	out, err := i.Step([]byte("kept"), nil)
	if !errors.Is(err, host.CodeInstanceFailed) || why != nil && err != why {
		t.Errorf("a step after the end: %v, want %v", err, why)
	}
	if string(out) != "kept" {
		t.Errorf("a step after the end gives %q", out)
	}
	if again := i.Retire(errors.New("too late")); again != err {
		t.Errorf("retiring after the end: %v, want %v", again, err)
	}
	if err := i.Close(context.Background()); err != nil {
		t.Errorf("closing after the end: %v", err)
	}
}

func (c coreSuite[S]) greeting(t S) {
	e := c.engine
	if e.Name() == "" || e.ModuleHash() == "" {
		t.Errorf("the engine is %q and runs %q", e.Name(), e.ModuleHash())
	}
	i, ask := open(t, e), hello
	ask.Limits.Depth = 40
	g, err := host.Greet(i, ask)
	if err != nil {
		t.Fatalf("greet: %v", err)
	}
	if g.Features&abi.FeatureHistory == 0 || g.Limits.Depth != 40 || g.Limits.Frame != abi.MaxFrame || len(g.Providers) == 0 {
		t.Errorf("the greeting is %+v", g)
	}
	if _, err := host.Greet(i, hello); !errors.Is(err, host.CodeABIMalformedFrame) {
		t.Errorf("a second Hello: %v", err)
	}
}

// One instance has as many turns as it is asked for.
func (c coreSuite[S]) turns(t S) {
	i := greeted(t, c.engine)
	for range 20 {
		converse(t, i)
	}
}

// A batch above the frame limit is refused and changes nothing.
func (c coreSuite[S]) limits(t S) {
	i := greeted(t, c.engine)
	for _, size := range []int{abi.MaxFrame + 1, 2*abi.MaxFrame + 17} {
		out, err := i.Step([]byte("kept"), make([]byte, size))
		if !errors.Is(err, host.CodeABILimitExceeded) || string(out) != "kept" {
			t.Errorf("a batch of %d bytes: %v, %.20q", size, err, out)
		}
	}
	converse(t, i)
	if out, err := i.Step(nil, bytes.Repeat([]byte{0xc1}, abi.MaxFrame)); err != nil || len(out) == 0 {
		t.Errorf("a batch of %d bytes: %v, %.20q", abi.MaxFrame, err, out)
	}
	converse(t, i)
	if out, err := i.Step(nil, nil); err != nil || out != nil {
		t.Errorf("a step without input: %v, %.20q", err, out)
	}
}

// Whatever goes in, frames come out, and the core goes on.
func (c coreSuite[S]) garbage(t S) {
	i := greeted(t, c.engine)
	for _, in := range [][]byte{{0xc1}, {0x92, 5}, {0x91, 30}, {0xdd, 0xff, 0xff, 0xff, 0xff}, abi.Append(nil, &abi.Hello{Major: 1})} {
		out, err := i.Step(nil, in)
		if err != nil {
			t.Fatalf("%x: %v", in, err)
		}
		if op, _, rest, err := abi.Next(out, abi.Limits{}); err != nil || op != abi.OpFault || len(rest) != 0 {
			t.Errorf("%x gives %x: frame %d, %v", in, out, op, err)
		}
	}
	converse(t, i)
}

// What a step is given and what it gives shares no memory with the instance.
func (c coreSuite[S]) slices(t S) {
	i := greeted(t, c.engine)
	want, err := expected()
	if err != nil {
		t.Fatalf("the native engine: %v", err)
	}
	var in, all, out []byte
	for n, frame := range Conversation() {
		in = append(in[:0], frame...)
		before := len(all)
		if all, err = i.Step(all, in); err != nil {
			t.Fatalf("step: %v", err)
		}
		if !bytes.Equal(in, frame) {
			t.Fatalf("step %d has changed its input", n)
		}
		clear(in)
		if !bytes.Equal(all[before:], want[n]) {
			t.Fatalf("step %d gives\n%x, the native engine\n%x", n, all[before:], want[n])
		}
		out = append(out, want[n]...)
	}
	if !bytes.Equal(all, out) {
		t.Errorf("a later step has changed the answer of an earlier one")
	}
}

func (c coreSuite[S]) retire(t S) {
	i := greeted(t, c.engine)
	cause := errors.New("not a frame")
	err := i.Retire(cause)
	if !errors.Is(err, host.CodeInstanceFailed) || !errors.Is(err, cause) {
		t.Errorf("retire: %v", err)
	}
	ended(t, i, err)
}

func (c coreSuite[S]) close(t S) {
	e := c.engine
	i, neighbour := greeted(t, e), greeted(t, e)
	for range 2 {
		if err := i.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	ended(t, i, nil)
	converse(t, neighbour)
	fresh := open(t, e)
	if err := fresh.Close(context.Background()); err != nil { // that has said nothing
		t.Errorf("close: %v", err)
	}
}

// Close waits for the step that is under way, and those that come after it fail.
func (c coreSuite[S]) closeDuringSteps(t S) {
	i := greeted(t, c.engine)
	var steppers sync.WaitGroup
	begun := make(chan struct{}, 4)
	for range cap(begun) {
		steppers.Go(func() {
			for n := 0; ; n++ {
				_, err := i.Step(nil, nil)
				if err != nil {
					if !errors.Is(err, host.CodeInstanceFailed) {
						t.Errorf("a step beside Close: %v", err)
					}
					return
				}
				if n == 20 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range cap(begun) {
		<-begun
	}
	steppers.Go(func() {
		if err := i.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	steppers.Wait()
	ended(t, i, nil)
}

func (c coreSuite[S]) closeEngine(t S) {
	e, err := c.newEngine(context.Background())
	if err != nil {
		t.Fatalf("new engine: %v", err)
	}
	i, unused := greeted(t, e), open(t, e)
	for range 2 {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("close the engine: %v", err)
		}
	}
	ended(t, i, nil)
	ended(t, unused, nil)
	if _, err := e.Open(context.Background()); !errors.Is(err, host.CodeInstanceFailed) {
		t.Errorf("open after the engine's end: %v", err)
	}
}

// Instances run beside one another, and open and close meanwhile.
func (c coreSuite[S]) atOnce(t S) {
	e := c.engine
	want, err := expected()
	if err != nil {
		t.Fatalf("the native engine: %v", err)
	}
	var instances sync.WaitGroup
	for range 8 {
		instances.Go(func() {
			for range 3 {
				i, err := e.Open(context.Background())
				if err != nil {
					t.Errorf("open: %v", err)
					return
				}
				var got [][]byte
				if _, err = host.Greet(i, hello); err == nil {
					got, err = conversation(i)
				}
				if err != nil {
					t.Errorf("a turn beside others: %v", err)
				}
				for n := range got {
					if !bytes.Equal(got[n], want[n]) {
						t.Errorf("step %d beside others gives\n%x, want\n%x", n, got[n], want[n])
						break
					}
				}
				if err := i.Close(context.Background()); err != nil {
					t.Errorf("close: %v", err)
				}
			}
		})
	}
	instances.Wait()
}

// amongOthers opens instances while others are in the middle of a turn, and after those have ended: each begins as the
// first one did, whatever an engine lets them share.
func (c coreSuite[S]) amongOthers(t S) {
	want, err := expected()
	if err != nil {
		t.Fatalf("the native engine: %v", err)
	}
	frames := Conversation()
	var instances []host.Instance
	for n := range frames {
		instances = append(instances, greeted(t, c.engine))
		for k, i := range instances {
			step := n - k // of this instance
			got, err := i.Step(nil, frames[step])
			if err != nil || !bytes.Equal(got, want[step]) {
				t.Fatalf("instance %d: step %d gives\n%x, %v; want\n%x", k, step, got, err, want[step])
			}
		}
		if n%3 == 2 {
			if err := instances[0].Close(context.Background()); err != nil {
				t.Errorf("close: %v", err)
			}
			last := greeted(t, c.engine)
			if got, err := last.Step(nil, frames[0]); err != nil || !bytes.Equal(got, want[0]) {
				t.Errorf("an instance after %d steps of others gives\n%x, %v; want\n%x", n, got, err, want[0])
			}
			if err := last.Close(context.Background()); err != nil {
				t.Errorf("close: %v", err)
			}
			instances[0] = greeted(t, c.engine)
			for step := range n + 1 {
				if got, err := instances[0].Step(nil, frames[step]); err != nil || !bytes.Equal(got, want[step]) {
					t.Fatalf("step %d of an instance in the place of another gives\n%x, %v; want\n%x", step, got, err, want[step])
				}
			}
		}
	}
	for _, i := range instances {
		if err := i.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

package hosttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/internal/testmodule"
)

// engineSuite tests an engine with modules other than the core.
type engineSuite[S T[S]] struct {
	newEngine func(ctx context.Context, module []byte) (host.Engine, error)
}

// engine returns an engine that ends with the test.
func (s engineSuite[S]) engine(t S, module []byte) host.Engine {
	t.Helper()
	return started(t, func(ctx context.Context) (host.Engine, error) { return s.newEngine(ctx, module) })
}

// opened returns an instance that ends with the test.
func opened[S T[S]](t S, e host.Engine) host.Instance {
	t.Helper()
	i := open(t, e)
	t.Cleanup(func() {
		if err := i.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return i
}

// smallGuests fail in ways that Go's compiler does not make.
func (s engineSuite[S]) smallGuests(t S) {
	const unreachable, callItself = 0x00, 0x10
	for name, c := range map[string]struct {
		export string
		change func(*testmodule.Export)
		says   string
	}{
		"no mark":            {abi.ExportStep, func(*testmodule.Export) {}, "the step returned before its end"},
		"trap in step":       {abi.ExportStep, func(e *testmodule.Export) { e.Code = []byte{unreachable} }, ""},
		"trap in inbox":      {abi.ExportInbox, func(e *testmodule.Export) { e.Code = []byte{unreachable} }, ""},
		"endless recursion":  {abi.ExportStep, func(e *testmodule.Export) { e.Code = []byte{0x20, 0, callItself, 3} }, ""},
		"inbox at the end":   {abi.ExportInbox, func(e *testmodule.Export) { e.Value = 1<<16 - 1 }, "the inbox of 2 bytes at 0xffff is outside of the memory"},
		"inbox out of range": {abi.ExportInbox, func(e *testmodule.Export) { e.Value = 1<<64 - 1 }, "the inbox of 2 bytes at 0xffffffff is outside of the memory"},
	} {
		t.Run(name, func(t S) {
			module := testmodule.Text{Exports: testmodule.Changed(c.export, c.change)}.Encode()
			i := opened(t, s.engine(t, module))
			out, err := i.Step([]byte("kept"), []byte{1})
			if !errors.Is(err, host.CodeInstanceFailed) || !strings.Contains(err.Error(), c.says) || string(out) != "kept" {
				t.Fatalf("error %v, want %q; the failed step gave %q", err, c.says, out)
			}
			ended(t, i, err)
		})
	}
	t.Run("a trap as it starts", func(t S) {
		module := testmodule.Text{Exports: testmodule.Changed(engine.ExportInitialize, func(e *testmodule.Export) { e.Code = []byte{unreachable} })}
		e, err := s.newEngine(context.Background(), module.Encode())
		if err == nil { // it may leave that to Open
			_, err = e.Open(context.Background())
			_ = e.Close(context.Background())
		}
		if !errors.Is(err, host.CodeInstanceFailed) || !strings.Contains(err.Error(), "start: ") {
			t.Errorf("error %v", err)
		}
	})
}

// hostileGuest does what the frames of its steps say.
func (s engineSuite[S]) hostileGuest(t S) {
	module, err := testmodule.Hostile()
	if err != nil {
		t.Fatalf("%v", err)
	}
	const pages = 512 // 32 MiB, though two tests need more
	small, err := engine.Confine(module, pages)
	if err != nil {
		t.Fatalf("%v", err)
	}
	e, bounded := s.engine(t, module), s.engine(t, small)
	t.Run("echoes", func(t S) { echoes(t, opened(t, e)) })
	t.Run("naps", func(t S) { naps(t, opened(t, e)) })
	t.Run("stderr", func(t S) { stderrIsBounded(t, e) })
	t.Run("garbage", func(t S) { garbageIsHandedOn(t, opened(t, e)) })
	t.Run("ends", func(t S) { hostileEnds(t, e, bounded) })
	t.Run("collections", func(t S) {
		i := opened(t, bounded)
		for range 5 {
			if _, err := i.Step(nil, []byte("churn")); err != nil {
				t.Fatalf("step: %v", err)
			}
		}
		if size := i.MemoryBytes(); size == 0 || size > pages<<16 {
			t.Errorf("%d bytes after 320 MB of garbage", size)
		}
	})
	t.Run("steps of many goroutines", func(t S) { closedAmongSteps(t, e) })
}

// echo sends data through an instance and back.
func echo[S T[S]](t S, i host.Instance, data string) {
	t.Helper()
	out, err := i.Step([]byte("before "), append([]byte{0}, data...))
	if err != nil {
		t.Fatalf("echo: %v", err)
	}
	if want := "before " + data; string(out) != want {
		t.Fatalf("got %.40q, want %.40q", out, want)
	}
}

// A step carries bytes both ways, as copies, up to its limit.
func echoes[S T[S]](t S, i host.Instance) {
	for _, size := range []int{0, 1, 1000, 5000, 4, 1 << 20, abi.MaxFrame - 1} {
		echo(t, i, strings.Repeat("x", size))
	}
	out, err := i.Step(nil, nil)
	if err != nil || out != nil {
		t.Fatalf("a step without input: %v, %v", out, err)
	}
	first, err := i.Step(nil, []byte("\x00first"))
	if err != nil {
		t.Fatalf("step: %v", err)
	}
	echo(t, i, "other")
	if string(first) != "first" {
		t.Errorf("the next step changed the answer to %q", first)
	}
	if _, err := i.Step(nil, make([]byte, abi.MaxFrame+1)); !errors.Is(err, host.CodeABILimitExceeded) {
		t.Errorf("too much input: %v", err)
	}
	echo(t, i, "still here")
	if size := i.MemoryBytes(); size < abi.MaxFrame || size%(1<<16) != 0 {
		t.Errorf("the memory has %d bytes", size)
	}
}

// A step may nap as often as Go's runtime does before it dies, and so may the next.
func naps[S T[S]](t S, i host.Instance) {
	for range 2 {
		if _, err := i.Step(nil, []byte("16 naps")); err != nil {
			t.Fatalf("step: %v", err)
		}
	}
	if _, err := i.Step(nil, []byte("17 naps")); !errors.Is(err, host.CodeInstanceFailed) {
		t.Errorf("17 naps: %v", err)
	}
}

// What an error quotes of stderr is bounded and of the last step.
func stderrIsBounded[S T[S]](t S, e host.Engine) {
	i := opened(t, e)
	for range 2 {
		if _, err := i.Step(nil, []byte("flood")); err != nil {
			t.Fatalf("step: %v", err)
		}
	}
	text := i.Retire(errors.New("enough")).Error()
	if !strings.HasPrefix(text, "E_INSTANCE_FAILED: ") || !strings.Contains(text, "enough") || !strings.HasSuffix(text, "the last line") || len(text) > 5000 {
		t.Errorf("an error of %d bytes: %q", len(text), text)
	}
	i = opened(t, e)
	if _, err := i.Step(nil, []byte("flood")); err != nil {
		t.Fatalf("step: %v", err)
	}
	echo(t, i, "a quiet step")
	if err := i.Retire(errors.New("enough")); strings.Contains(err.Error(), "line") {
		t.Errorf("error %q tells what an earlier step wrote", err)
	}
}

// The transport hands garbage in the outbox on. Its decoder finds it, and may then retire the instance.
func garbageIsHandedOn[S T[S]](t S, i host.Instance) {
	out, err := i.Step(nil, []byte("garbage"))
	if err != nil || !bytes.Equal(out, []byte{0xc1, 0xff, 0x93}) {
		t.Fatalf("%x, %v", out, err)
	}
	ended(t, i, i.Retire(errors.New("not a frame")))
}

// Whatever a guest does, its instance fails with a typed error that says why, it stays failed, and its neighbour goes
// on.
func hostileEnds[S T[S]](t S, e, bounded host.Engine) {
	for name, c := range map[string]struct {
		on            host.Engine
		command, says string
	}{
		"trap":                {e, "panic", "the floor is gone"},
		"proc_exit":           {e, "exit", "it exited with status 3"},
		"blocked for good":    {e, "deadlock", "all goroutines are asleep"},
		"sleep":               {e, "sleep", "wants to sleep"},
		"too many naps":       {e, "17 naps", "wants to sleep"},
		"endless recursion":   {bounded, "overflow", ""}, // of the guest's memory or of the engine's stack
		"out of memory":       {bounded, "hoard", "out of memory"},
		"outbox out of range": {e, "outbox out of range", "the outbox of 16 bytes at 0xffffffff is outside of the memory"},
		"outbox too long":     {e, "outbox too long", "is outside of the memory"},
		"outbox too large":    {e, "outbox too large", "the step gave 50331649 bytes, more than 50331648"},
		"no mark":             {e, "no mark", "the step returned before its end"},
		"wrong mark":          {e, "half mark", "the step returned before its end"},
		"flood, then a panic": {e, "flood panic", "panic: drowned"},
		"inbox out of range":  {e, "inbox out of range", "the inbox of 2 bytes at 0xfffffff0 is outside of the memory"},
		"panic in inbox":      {e, "inbox panic", "no inbox today"},
	} {
		t.Run(name, func(t S) {
			neighbour, i := opened(t, c.on), opened(t, c.on)
			out, err := i.Step([]byte("kept"), []byte(c.command))
			if strings.HasPrefix(c.command, "inbox") && err == nil {
				out, err = i.Step([]byte("kept"), []byte{0})
			}
			if !errors.Is(err, host.CodeInstanceFailed) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error %v, want %s and %q", err, host.CodeInstanceFailed, c.says)
			}
			if string(out) != "kept" {
				t.Errorf("the failed step gave %q", out)
			}
			if size := len(err.Error()); size > 5000 {
				t.Errorf("the error has %d bytes", size)
			}
			if c.command == "panic" { // a module without a symbol table says where it was
				for _, want := range []string{"panic: the floor is gone", "goroutine ", "main.step(", "main.go:"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("no %q in %v", want, err)
					}
				}
			}
			ended(t, i, err)
			echo(t, neighbour, "next door")
		})
	}
}

// Goroutines that share instances get their own answers until somebody closes one.
func closedAmongSteps[S T[S]](t S, e host.Engine) {
	var running sync.WaitGroup
	for n := range 4 {
		i := opened(t, e)
		for range 2 {
			running.Go(func() {
				for k := 0; ; k++ {
					want := fmt.Sprintf("%d %d", n, k)
					out, err := i.Step(nil, []byte("\x00"+want))
					if err != nil {
						if !errors.Is(err, host.CodeInstanceFailed) {
							t.Errorf("step: %v", err)
						}
						return
					}
					if string(out) != want {
						t.Errorf("got %q, want %q", out, want)
						return
					}
					if k == 200 {
						_ = i.Close(context.Background())
					}
				}
			})
		}
	}
	for range 3 {
		echo(t, opened(t, e), "opened beside")
	}
	running.Wait()
}

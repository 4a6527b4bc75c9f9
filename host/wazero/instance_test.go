package wazero

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
)

func open(t testing.TB, e *Engine) host.Instance {
	t.Helper()
	i, err := e.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return i
}

// echo sends data through an instance and back.
func echo(t testing.TB, i host.Instance, data string) {
	t.Helper()
	out, err := i.Step([]byte("before "), append([]byte{0}, data...))
	if err != nil {
		t.Fatal(err)
	}
	if want := "before " + data; string(out) != want {
		t.Fatalf("got %.40q, want %.40q", out, want)
	}
}

func TestStepCarriesBytesBothWays(t *testing.T) {
	i := open(t, newEngine(t))
	for _, size := range []int{0, 1, 1000, 5000, 4, 1 << 20, 16<<20 - 1} {
		echo(t, i, strings.Repeat("x", size))
	}
	out, err := i.Step(nil, nil)
	if err != nil || out != nil {
		t.Fatalf("a step without input: %v, %v", out, err)
	}
}

func TestStepAnswerIsACopy(t *testing.T) {
	i := open(t, newEngine(t))
	first, err := i.Step(nil, []byte("\x00first"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Step(nil, []byte("\x00other")); err != nil {
		t.Fatal(err)
	}
	if string(first) != "first" {
		t.Fatalf("the next step changed the answer to %q", first)
	}
}

func TestStepRefusesTooMuchAndGoesOn(t *testing.T) {
	i := open(t, newEngine(t))
	_, err := i.Step(nil, make([]byte, 16<<20+1))
	if !errors.Is(err, host.CodeABILimitExceeded) {
		t.Fatalf("error %v", err)
	}
	echo(t, i, "still here")
}

// A step may nap as often as Go's runtime does before it dies, and so may the next.
func TestNaps(t *testing.T) {
	i := open(t, newEngine(t))
	for range 2 {
		if _, err := i.Step(nil, []byte("16 naps")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := i.Step(nil, []byte("17 naps")); !errors.Is(err, host.CodeInstanceFailed) {
		t.Fatalf("error %v", err)
	}
}

// Whatever a guest does, its instance fails with a typed error that says why, it stays failed, and its neighbour goes on.
func TestHostileGuests(t *testing.T) {
	tests := map[string]struct{ command, says string }{
		"trap":                {"panic", "the floor is gone"},
		"proc_exit":           {"exit", "it exited with status 3"},
		"blocked for good":    {"deadlock", "all goroutines are asleep"},
		"sleep":               {"sleep", "wants to sleep"},
		"too many naps":       {"17 naps", "wants to sleep"},
		"endless recursion":   {"overflow", "out of memory"},
		"out of memory":       {"hoard", "out of memory"},
		"outbox out of range": {"outbox out of range", "the outbox of 16 bytes at 0xffffffff is outside of the memory"},
		"outbox too long":     {"outbox too long", "is outside of the memory"},
		"outbox too large":    {"outbox too large", "the step gave 50331649 bytes, more than 50331648"},
		"no mark":             {"no mark", "the step returned before its end"},
		"wrong mark":          {"half mark", "the step returned before its end"},
		"flood, then a panic": {"flood panic", "panic: drowned"},
		"inbox out of range":  {"inbox out of range", "the inbox of 2 bytes at 0xfffffff0 is outside of the memory"},
		"panic in inbox":      {"inbox panic", "no inbox today"},
	}
	e := newEngine(t, WithMemoryLimitPages(1024))
	neighbour := open(t, e)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			i := open(t, e)
			out, err := i.Step([]byte("kept"), []byte(test.command))
			if strings.HasPrefix(test.command, "inbox") && err == nil {
				out, err = i.Step([]byte("kept"), []byte{0})
			}
			if !errors.Is(err, host.CodeInstanceFailed) || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("error %v, want %s and %q", err, host.CodeInstanceFailed, test.says)
			}
			if string(out) != "kept" {
				t.Errorf("the failed step gave %q", out)
			}
			if size := len(err.Error()); size > 5000 {
				t.Errorf("the error has %d bytes", size)
			}
			if i.MemoryBytes() != 0 {
				t.Error("the memory was not freed")
			}
			if _, again := i.Step(nil, []byte{0}); again != err {
				t.Errorf("the next step says %v", again)
			}
			if again := i.Retire(errors.New("too late")); again != err {
				t.Errorf("retiring says %v", again)
			}
			echo(t, neighbour, "next door")
		})
	}
}

// A trap of a module without a symbol table, as the released one is, says in which Go function and line it was.
func TestTrapNamesFunctions(t *testing.T) {
	i := open(t, newEngine(t))
	_, err := i.Step(nil, []byte("panic"))
	if !errors.Is(err, host.CodeInstanceFailed) {
		t.Fatal(err)
	}
	for _, want := range []string{"panic: the floor is gone", "goroutine ", "main.step(", "main.go:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

func TestStderrIsBoundedAndOfTheLastStep(t *testing.T) {
	e := newEngine(t)
	i := open(t, e)
	for range 3 {
		if _, err := i.Step(nil, []byte("flood")); err != nil {
			t.Fatal(err)
		}
	}
	err := i.Retire(errors.New("enough"))
	text := err.Error()
	if !strings.HasPrefix(text, "E_INSTANCE_FAILED: ") || !strings.Contains(text, "enough") || !strings.HasSuffix(text, "the last line") {
		t.Fatalf("error %q", text)
	}
	if len(text) > 5000 {
		t.Fatalf("the error has %d bytes", len(text))
	}

	i = open(t, e)
	if _, err := i.Step(nil, []byte("flood")); err != nil {
		t.Fatal(err)
	}
	echo(t, i, "a quiet step")
	if err := i.Retire(errors.New("enough")); strings.Contains(err.Error(), "line") {
		t.Fatalf("error %q tells what an earlier step wrote", err)
	}
}

// Garbage in the outbox is for whoever decodes it to find; the transport hands it on and can then be told to retire.
func TestGarbageIsHandedOn(t *testing.T) {
	i := open(t, newEngine(t))
	out, err := i.Step(nil, []byte("garbage"))
	if err != nil || !bytes.Equal(out, []byte{0xc1, 0xff, 0x93}) {
		t.Fatalf("%x, %v", out, err)
	}
	cause := errors.New("not a frame")
	err = i.Retire(cause)
	if !errors.Is(err, host.CodeInstanceFailed) || !errors.Is(err, cause) {
		t.Fatalf("error %v", err)
	}
	if _, again := i.Step(nil, nil); again != err {
		t.Fatalf("the next step says %v", again)
	}
}

func TestCollectedGarbageIsNotKept(t *testing.T) {
	i := open(t, newEngine(t, WithMemoryLimitPages(512)))
	for range 5 {
		if _, err := i.Step(nil, []byte("churn")); err != nil {
			t.Fatal(err)
		}
	}
	if size := i.MemoryBytes(); size == 0 || size > 32<<20 {
		t.Fatalf("%d bytes after 320 MB of garbage", size)
	}
}

func TestCloseDuringSteps(t *testing.T) {
	e := newEngine(t)
	var wg sync.WaitGroup
	for n := range 4 {
		i := open(t, e)
		for range 2 {
			wg.Go(func() {
				for k := 0; ; k++ {
					want := fmt.Sprintf("%d %d", n, k)
					out, err := i.Step(nil, []byte("\x00"+want))
					if err != nil {
						if !errors.Is(err, host.CodeInstanceFailed) {
							t.Error(err)
						}
						return
					}
					if string(out) != want {
						t.Errorf("got %q, want %q", out, want)
						return
					}
					if k == 1000 {
						_ = i.Close(context.Background())
					}
				}
			})
		}
	}
	for range 3 {
		i := open(t, e)
		echo(t, i, "opened beside")
	}
	wg.Wait()
}

func TestEngineCloseEndsItsInstances(t *testing.T) {
	e := newEngine(t)
	i := open(t, e)
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := i.Step(nil, nil); !errors.Is(err, host.CodeInstanceFailed) {
		t.Fatalf("a step after Close: %v", err)
	}
	if _, err := e.Open(context.Background()); !errors.Is(err, host.CodeInstanceFailed) {
		t.Fatalf("Open after Close: %v", err)
	}
}

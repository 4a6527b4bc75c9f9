package engine_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
)

// fake is a core whose behaviour depends on the first byte of its input; by default it echoes the rest.
type fake struct{ inbox, outbox []byte }

func (f *fake) Close() {}

func (f *fake) Inbox(size uint32) []byte {
	if size > 1<<20 {
		return nil
	}
	f.inbox = make([]byte, size+1)
	return f.inbox
}

func (f *fake) Step(in []byte) []byte {
	switch string(in) {
	case "panic":
		panic("the floor is gone")
	case "error":
		panic(errFake)
	case "nil":
		var nothing *fake
		return nothing.outbox
	case "goexit":
		runtime.Goexit()
	}
	f.outbox = append(f.outbox[:0], in...)
	clear(in)
	return f.outbox
}

var errFake = errors.New("an error as a panic")

func openFake(t testing.TB, e *engine.Instances) *engine.Instance {
	t.Helper()
	i, err := e.OpenCore(func() engine.Core { return new(fake) })
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestStepCopiesBothWays(t *testing.T) {
	i := openFake(t, new(engine.Instances))
	in := []byte("first")
	first, err := i.Step([]byte("> "), in)
	if err != nil {
		t.Fatal(err)
	}
	if string(in) != "first" {
		t.Errorf("the core changed the input to %q", in)
	}
	if _, err := i.Step(nil, []byte("other")); err != nil {
		t.Fatal(err)
	}
	if string(first) != "> first" {
		t.Errorf("the next step changed the answer to %q", first)
	}
	if _, err := i.Step(nil, make([]byte, 1<<20+1)); !errors.Is(err, host.CodeABILimitExceeded) {
		t.Errorf("too much input: %v", err)
	}
	if _, err := i.Step(nil, in); err != nil {
		t.Errorf("after too much input: %v", err)
	}
}

func TestPanicsEndTheInstance(t *testing.T) {
	e := new(engine.Instances)
	neighbour := openFake(t, e)
	for command, says := range map[string]string{
		"panic": "panic: the floor is gone", "error": "panic: an error as a panic", "nil": "nil pointer",
	} {
		i := openFake(t, e)
		out, err := i.Step([]byte("kept"), []byte(command))
		if !errors.Is(err, host.CodeInstanceFailed) || !strings.Contains(err.Error(), says) {
			t.Fatalf("%s: error %v", command, err)
		}
		if command == "error" && !errors.Is(err, errFake) {
			t.Errorf("the cause is lost in %v", err)
		}
		if string(out) != "kept" {
			t.Errorf("%s: the failed step gave %q", command, out)
		}
		if _, again := i.Step(nil, nil); again != err {
			t.Errorf("%s: the next step says %v", command, again)
		}
		if _, err := neighbour.Step(nil, []byte("hello")); err != nil {
			t.Errorf("%s: the neighbour says %v", command, err)
		}
	}
}

func TestGoexitEndsTheInstance(t *testing.T) {
	i := openFake(t, new(engine.Instances))
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = i.Step(nil, []byte("goexit"))
		t.Error("the goroutine went on")
	})
	wg.Wait()
	if _, err := i.Step(nil, nil); !errors.Is(err, host.CodeInstanceFailed) {
		t.Fatalf("error %v", err)
	}
}

func TestCloseAndRetire(t *testing.T) {
	e := new(engine.Instances)
	i, other := openFake(t, e), openFake(t, e)
	cause := errors.New("bad frame")
	if err := i.Retire(cause); !errors.Is(err, host.CodeInstanceFailed) || !errors.Is(err, cause) {
		t.Fatalf("error %v", err)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Step(nil, nil); !errors.Is(err, host.CodeInstanceFailed) {
		t.Fatalf("a step after Close: %v", err)
	}
	if _, err := e.OpenCore(func() engine.Core { return new(fake) }); !errors.Is(err, host.CodeInstanceFailed) {
		t.Fatalf("Open after Close: %v", err)
	}
}

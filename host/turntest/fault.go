package turntest

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/turncore/turncore/abi/catalogue"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
)

// Fault lets one call fail of what it wraps, before anything is done. It counts the calls of all that it wraps
// together.
//
//	for n := 1; n <= 3; n++ {
//		t.Run(fmt.Sprint("commit ", n, " fails"), func(t *testing.T) {
//			fault := turntest.FailAt(t, n, errDisk)
//			runner, err := turns.New(t.Context(), turns.Config{Store: fault.Store(store.NewInMemory()), …})
//
// Its methods may be called from many goroutines.
type Fault struct {
	nth int
	err error

	mu    sync.Mutex
	calls int
}

// FailAt returns a fault: the n-th call, from 1, fails with err. The test fails at its end if that call did not come,
// as it has tested nothing then. With n = 0 no call fails: the fault counts, for [Fault.Calls] to say how many there
// are.
func FailAt(t T, n int, err error) *Fault {
	t.Helper()
	switch {
	case n < 0:
		t.Fatalf("turntest: FailAt: calls count from 1, not from %d", n)
	case n > 0 && err == nil:
		t.Fatalf("turntest: FailAt: call %d fails with no error", n)
	}
	f := &Fault{nth: n, err: err}
	t.Cleanup(func() {
		t.Helper()
		if calls := f.Calls(); calls < n {
			t.Errorf("turntest: call %d was to fail with %q, there were %d", n, err, calls)
		}
	})
	return f
}

// Calls returns how many calls there were, the one that failed among them.
func (f *Fault) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// meet counts a call, and returns the error if it is the one that fails.
func (f *Fault) meet() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls++; f.calls == f.nth {
		return f.err
	}
	return nil
}

// Executor returns an executor whose calls are one each iteration.
func (f *Fault) Executor(e turns.Executor) turns.Executor {
	return func(ctx *turns.DispatchContext, h *turns.Helpers) error {
		if err := f.meet(); err != nil {
			return err
		}
		return e(ctx, h)
	}
}

// Model returns a model whose engine fails, such as that of [Script.Model]. It panics for a model without an engine:
// that one is behind an API, whose requests [Fault.HTTP] has.
func (f *Fault) Model(m turns.Model) turns.Model {
	if m.Engine == nil {
		panic("turntest: the model has no engine: wrap the HTTP of its host")
	}
	engine := *m.Engine
	generate := engine.Generate
	engine.Generate = func(ctx context.Context, r *model.Request, send func(model.Part) error) error {
		if err := f.meet(); err != nil {
			return err
		}
		return generate(ctx, r, send)
	}
	m.Engine = &engine
	return m
}

// HTTP returns a transport whose requests are the calls: the HTTP of turns.HostOptions. nil means
// http.DefaultTransport.
func (f *Fault) HTTP(transport http.RoundTripper) http.RoundTripper {
	if transport == nil {
		transport = http.DefaultTransport
	}
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if err := f.meet(); err != nil {
			if r.Body != nil {
				_ = r.Body.Close() // as a transport must
			}
			return nil, err
		}
		return transport.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Tool returns a copy of a tool whose handler's runs are the calls. It panics for a tool of the catalogue, whose
// handler is inside the core.
func (f *Fault) Tool(tool *turns.Tool) *turns.Tool {
	if entry, ok := catalogue.Tools[tool.Name]; ok && strings.HasPrefix(tool.Description, entry.Description) {
		panic("turntest: the handler of " + tool.Name + " is inside the core, where it cannot be made to fail")
	}
	failing := *tool
	failing.Handler = func(ctx *turns.DispatchContext, args turns.Args) (any, error) {
		if err := f.meet(); err != nil {
			return nil, err
		}
		return tool.Handler(ctx, args)
	}
	return &failing
}

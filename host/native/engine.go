// Package native runs the core's Go code in the host's own process: no module, no compile time, steps without a crossing.
// Frames, order and errors are those of the WebAssembly engines.
//
// There is no wall between the core and the program: its memory is the program's, so there is no bound on it, and a
// fatal error of the Go runtime ends the program. Use it for tests, for debugging, and where the code is trusted.
package native

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/fair"
	"github.com/turncore/turncore/internal/catalogue"
	"github.com/turncore/turncore/internal/fetch"
	"github.com/turncore/turncore/internal/guest"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/chat"
)

// Name is what [Engine.Name] and [Engine.ModuleHash] say.
const Name = "native"

// core is what an instance runs. Inbox returns a buffer for size bytes and one more, nil if that is over the limit. Step
// returns the answer to the frames in it, valid until the next call. Close ends its coroutines.
type core interface {
	Inbox(size uint32) []byte
	Step(in []byte) []byte
	Close()
}

// Engine runs package guest. Make one with [New].
type Engine struct {
	start func() core

	mu     sync.Mutex
	closed bool
	open   map[*instance]struct{}
}

var _ host.Engine = (*Engine)(nil)

func init() { catalogue.Fetch = fetch.New }

// New returns an engine. Its chat executor knows these providers beside those of the full module; one with the name of
// another takes its place.
func New(providers ...chat.Provider) *Engine {
	all := slices.Concat(provider.All, providers)
	return newEngine(func() core { return guest.New(all...) })
}

func newEngine(start func() core) *Engine {
	return &Engine{start: start, open: map[*instance]struct{}{}}
}

// Name returns "native".
func (e *Engine) Name() string { return Name }

// ModuleHash returns "native": the code is that of the program.
func (e *Engine) ModuleHash() string { return Name }

// Open starts an instance.
func (e *Engine) Open(context.Context) (host.Instance, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, failure(errors.New("the engine is closed"))
	}
	i := &instance{engine: e, mu: fair.NewMutex(), core: e.start()}
	e.open[i] = struct{}{}
	return i, nil
}

// Close ends all instances, each after the step it may be in.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	open := make([]*instance, 0, len(e.open))
	for i := range e.open {
		open = append(open, i)
	}
	e.mu.Unlock()
	var errs []error
	for _, i := range open {
		errs = append(errs, i.Close(ctx))
	}
	return errors.Join(errs...)
}

func (e *Engine) forget(i *instance) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, i)
}

func failure(cause error) *host.Error {
	return host.NewError(host.CodeInstanceFailed, cause.Error(), cause)
}

// panicked turns what a panic carried into an error.
func panicked(cause any) error {
	if err, ok := cause.(error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic: %v", cause)
}

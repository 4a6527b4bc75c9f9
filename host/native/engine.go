// Package native runs the core's Go code in the host's own process: without a module, without compile time, without a
// crossing per step. Frames, order and errors are those of the WebAssembly engines.
//
// The core is not isolated from the program: it uses the program's memory without a bound, and a fatal error of the
// Go runtime ends the program. Use this engine for tests, for debugging, and for trusted code.
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

// Name is the result of [Engine.Name] and [Engine.ModuleHash].
const Name = "native"

// core is the code of an instance. Inbox returns a buffer of size+1 bytes, or nil if size exceeds the limit. Step
// returns the answer to the frames in that buffer, valid until the next call. Close ends its coroutines.
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

// New returns an engine. Its chat executor knows these providers in addition to those of the full module; a provider
// replaces a built-in one of the same name.
func New(providers ...chat.Provider) *Engine {
	all := slices.Concat(provider.All, providers)
	return newEngine(func() core { return guest.New(all...) })
}

func newEngine(start func() core) *Engine {
	return &Engine{start: start, open: map[*instance]struct{}{}}
}

// Name returns "native".
func (e *Engine) Name() string { return Name }

// ModuleHash returns "native": the code is part of the program.
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

// Close ends all instances, each after its current step.
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

// panicked turns the value of a panic into an error.
func panicked(cause any) error {
	if err, ok := cause.(error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic: %v", cause)
}

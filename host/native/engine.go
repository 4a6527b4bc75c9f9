// Package native runs the core's Go code in the host's own process: without a module, without compile time, without a
// crossing per step. Frames, order and errors are those of the WebAssembly engines.
//
// The core is not isolated from the program: it uses the program's memory without a bound, and a fatal error of the
// Go runtime ends the program. Use this engine for tests, for debugging, and for trusted code.
package native

import (
	"context"
	"slices"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/internal/inprocess"
	"github.com/turncore/turncore/internal/catalogue"
	"github.com/turncore/turncore/internal/fetch"
	"github.com/turncore/turncore/internal/guest"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/chat"
)

// Name is the result of [Engine.Name] and [Engine.ModuleHash].
const Name = "native"

// Engine runs package guest. Make one with [New].
type Engine struct {
	start     func() engine.Core
	instances engine.Instances
}

var _ host.Engine = (*Engine)(nil)

func init() {
	catalogue.Fetch = fetch.New
	inprocess.New = func() host.Engine { return New() }
}

// New returns an engine. Its chat executor knows these providers in addition to those of the full module; a provider
// replaces a built-in one of the same name.
func New(providers ...chat.Provider) *Engine {
	instance := guest.Maker(slices.Concat(provider.All, providers)...)
	return &Engine{start: func() engine.Core {
		g := instance()
		g.ServeSessions()
		return g
	}}
}

// Name returns "native".
func (e *Engine) Name() string { return Name }

// ModuleHash returns "native": the code is part of the program.
func (e *Engine) ModuleHash() string { return Name }

// Open starts an instance. A panic of the core ends it, and nothing else.
func (e *Engine) Open(context.Context) (host.Instance, error) {
	i, err := e.instances.OpenCore(e.start)
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Close ends all instances, each after its current step.
func (e *Engine) Close(ctx context.Context) error { return e.instances.Close(ctx) }

// Package native runs the core's Go code in the host's own process: no module, no compile time, steps without a crossing.
// Frames, order and errors are those of the WebAssembly engines.
//
// There is no wall between the core and the program: its memory is the program's, so there is no bound on it, and a
// fatal error of the Go runtime ends the program. Use it for tests, for debugging, and where the code is trusted.
package native

import (
	"context"
	"slices"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/internal/carried"
	"github.com/turncore/turncore/internal/catalogue"
	"github.com/turncore/turncore/internal/fetch"
	"github.com/turncore/turncore/internal/guest"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/chat"
)

// Name is what [Engine.Name] and [Engine.ModuleHash] say.
const Name = "native"

// Engine runs package guest. Make one with [New].
type Engine struct {
	start     func() engine.Core
	instances engine.Instances
}

var _ host.Engine = (*Engine)(nil)

func init() {
	catalogue.Fetch = fetch.New
	carried.Native = func() host.Engine { return New() }
}

// New returns an engine. Its chat executor knows these providers beside those of the full module; one with the name of
// another takes its place.
func New(providers ...chat.Provider) *Engine {
	all := slices.Concat(provider.All, providers)
	return &Engine{start: func() engine.Core { return guest.New(all...) }}
}

// Name returns "native".
func (e *Engine) Name() string { return Name }

// ModuleHash returns "native": the code is that of the program.
func (e *Engine) ModuleHash() string { return Name }

// Open starts an instance. A panic of the core ends it, and nothing else.
func (e *Engine) Open(context.Context) (host.Instance, error) {
	i, err := e.instances.OpenCore(e.start)
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Close ends all instances, each after the step it may be in.
func (e *Engine) Close(ctx context.Context) error { return e.instances.Close(ctx) }

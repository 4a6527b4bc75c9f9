// Package engine chooses the engine for a program's core. The module is the full one, with all model providers; the
// native engine has them too.
package engine

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/full"
)

// Names are what [Named] knows.
var Names = []string{wazero.Name, native.Name}

// Default returns the wazero engine with the module that this build of Turncore carries. Releases carry one. Where there
// is none, as in a checkout before `make wasm`, it logs a line that says so and returns the native engine.
func Default(ctx context.Context) (host.Engine, error) {
	module, ok := full.Module()
	if !ok {
		slog.WarnContext(ctx, "turncore: this build carries no WebAssembly module, the core runs natively and without isolation; `make wasm` builds the module, releases carry it")
		return native.New(), nil
	}
	e, err := wazero.New(ctx, module)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Named returns the engine of that name: "wazero", with the module that this build carries, or "native".
func Named(ctx context.Context, name string) (host.Engine, error) {
	switch name {
	case native.Name:
		return native.New(), nil
	case wazero.Name:
		module, ok := full.Module()
		if !ok {
			return nil, host.NewError(host.CodeInvalidModule, "this build carries none; `make wasm` builds it, releases carry it", nil)
		}
		e, err := wazero.New(ctx, module)
		if err != nil {
			return nil, err
		}
		return e, nil
	}
	return nil, fmt.Errorf("engine %q is not one of %v", name, Names)
}

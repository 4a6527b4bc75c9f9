package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/full"
)

// engineNames are the engines of this process.
var engineNames = []string{wazero.Name, native.Name}

// engineFlags choose what the core runs on.
type engineFlags struct {
	name   string // "" for the best there is
	module string // file
}

func (e *engineFlags) register(f *flag.FlagSet) {
	f.Func("engine", "run the core on `engine` wazero or native (wazero where the module is there); in a checkout of\n"+
		"Turncore recordings are played on node and chromium, too", set(&e.name))
	f.Func("module", "run the WebAssembly module in `file` in place of the one in this program", set(&e.module))
}

func (e *engineFlags) check() error {
	if e.name != "" && !slices.Contains(engineNames, e.name) {
		return fmt.Errorf("there is no engine %q, only wazero and native", e.name)
	}
	if e.module != "" && e.name != "" && e.name != wazero.Name {
		return fmt.Errorf("--module is for the wazero engine")
	}
	return nil
}

// isAway tells whether the engine is one of another process.
func (e *engineFlags) isAway() bool { return slices.Contains(awayEngines, e.name) }

// open returns the engine, and calls notice if it is not the one that a user would expect.
func (e *engineFlags) open(ctx context.Context, notice func(string)) (host.Engine, error) {
	if e.module != "" {
		module, err := os.ReadFile(e.module)
		if err != nil {
			return nil, fmt.Errorf("--module: %w", err)
		}
		return wazero.New(ctx, module)
	}
	_, carried := full.Module()
	switch {
	case e.name == "" && !carried:
		notice("this build carries no WebAssembly module, so the core runs natively, without isolation")
		return native.New(), nil
	case e.name == native.Name:
		return native.New(), nil
	}
	return wazero.Default(ctx)
}

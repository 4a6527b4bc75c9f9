// Package carried knows the modules that a program carries: those whose packages it imports. So a program links the one
// that it runs and no other.
package carried

import "errors"

// Core and Full are set by the packages wasm/core and wasm/full, to their Module, as they are imported.
var Core, Full func() (module []byte, ok bool)

// ErrNone is the error of a program that imports no module.
var ErrNone = errors.New("this program carries none: import one, as " +
	"`import _ \"github.com/turncore/turncore/wasm/full\"` or `…/wasm/core` does, or name an engine")

// ErrNotBuilt is the error of a program that imports a module which its build lacks.
var ErrNotBuilt = errors.New("this build carries none; `make wasm` builds it, releases carry it")

// Module returns the module that the program carries: the full one if it carries both.
func Module() ([]byte, error) {
	err := ErrNone
	for _, load := range []func() ([]byte, bool){Full, Core} {
		if load == nil {
			continue
		}
		if module, ok := load(); ok {
			return module, nil
		}
		err = ErrNotBuilt
	}
	return nil, err
}

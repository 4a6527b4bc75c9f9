// Package carried knows what a program that names no engine can run: the modules and the native core whose packages it
// imports. So a program links what it uses and nothing else.
package carried

import "github.com/turncore/turncore/host"

// What packages set as they are imported: wasm/core and wasm/full their Module, host/native its New.
var (
	Core, Full func() (module []byte, ok bool)
	Native     func() host.Engine
)

// ErrNone is what Module says in a program that imports no module.
var ErrNone = host.NewError(host.CodeInvalidModule, "this program carries none: import one, as "+
	"`import _ \"github.com/turncore/turncore/wasm/full\"` or `…/wasm/core` does, or name an engine", nil)

// ErrNotBuilt is what Module says where a module is imported that this build lacks.
var ErrNotBuilt = host.NewError(host.CodeInvalidModule,
	"this build carries none; `make wasm` builds it, releases carry it", nil)

// Module returns the module that the program carries: the full one where it carries both.
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

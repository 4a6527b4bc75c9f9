// Package full carries the full module inside a Go program: the core module with what not every program needs, the reader
// tools of Markdown artifacts. A host runs it like the core module:
//
//	module, ok := full.Module()
//	engine, err := wazero.New(ctx, module)
//	host := turns.NewHost(turns.HostOptions{Engine: engine})
//
// The native engine has all that the full module has.
//
// Like the core module it is a build product: releases hold it, the main branch does not, and Module says which case
// it is.
package full

import "embed"

// The pattern also matches the committed text file: embedding fails when
// nothing matches, and the module itself may be absent.
//
//go:embed turncore-full.*
var files embed.FS

// Name is the file name of the module that Module returns. `make wasm` writes
// it to this package's folder.
const Name = "turncore-full.wasm"

// Module returns the bytes of the full module for WASI hosts, and whether this
// build of the package holds one. The slice is the caller's own copy: load it
// once.
func Module() ([]byte, bool) {
	module, err := files.ReadFile(Name)
	return module, err == nil
}

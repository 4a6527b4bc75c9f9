// Package wasmtime runs the Turncore module on Wasmtime, a WebAssembly runtime in Rust. It needs cgo and a C compiler,
// and adds some 20 MB to a program: so it is a Go module of its own. It gives every instance its own bounded memory,
// and no files, no network and no environment.
//
//	import _ "github.com/turncore/turncore/wasm/full"
//
//	e, err := wasmtime.Default(ctx, wasmtime.WithStepTimeout(10*time.Second))
//
// Use it to start instances often, and for modules that you do not trust. A step that loops holds a thread of the
// system, and neither garbage collection nor other instances wait for it. [WithStepTimeout] ends it after some time,
// [WithFuel] after as many instructions on any machine.
//
// Wasmtime has libraries for Linux and macOS on x86-64 and ARM64, and for Windows on x86-64.
package wasmtime

// Package wazero runs the Turncore module on wazero, a WebAssembly runtime in pure Go. It needs no C compiler, and
// gives every instance a memory of its own with a bound, no files, no network and no environment.
//
//	module, _ := os.ReadFile("turncore.wasm")
//	engine, err := wazero.New(ctx, module)
//
// The module's code is trusted to return: a step that loops for ever is not interrupted.
package wazero

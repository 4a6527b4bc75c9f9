// Package wazero runs the Turncore module on wazero, a WebAssembly runtime in pure Go. It needs no C compiler, and
// gives every instance a memory of its own with a bound, no files, no network and no environment.
//
//	module, _ := os.ReadFile("turncore.wasm")
//	engine, err := wazero.New(ctx, module)
//
// Load only modules that you trust. What a module holds and says is bounded and checked, but nothing interrupts its code:
// a step that loops for ever never returns, and neither does [New] when the module loops as it starts. The machine code
// cannot be preempted, so that the next garbage collection then stops the whole process.
package wazero

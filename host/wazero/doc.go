// Package wazero runs the Turncore module on wazero, a WebAssembly runtime in pure Go. It needs no C compiler. It
// gives every instance its own bounded memory, and no files, no network and no environment.
//
//	module, _ := os.ReadFile("turncore.wasm")
//	engine, err := wazero.New(ctx, module)
//
// Load only modules that you trust. The engine bounds a module's memory and checks its output, but it cannot
// interrupt its code: a step that loops forever never returns, and neither does [New] if the module loops as it
// starts. The machine code cannot be preempted, so the next garbage collection then stops the whole process.
package wazero

// Package wazero runs the Turncore module on wazero, a WebAssembly runtime in pure Go. It needs no C compiler. It
// gives every instance its own bounded memory, and no files, no network and no environment.
//
//	module, _ := os.ReadFile("turncore.wasm")
//	engine, err := wazero.New(ctx, module)
//
// The engine bounds a module's memory and checks its output, but it cannot interrupt its code, and the machine code
// cannot be preempted: while a step loops, the next garbage collection stops the whole process. So give a module that
// you do not trust a bound on what it may do, [WithFuel]: it comes back to Go again and again, and ends as soon as it
// has used more.
package wazero

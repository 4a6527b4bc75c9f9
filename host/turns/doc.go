// Package turns runs turns of an agent: one end-to-end request, through input middleware, the loop around a model call,
// and output middleware. The loop itself runs in a core (a WebAssembly module, or the same code in process), to which
// this package supplies the model call, storage, tools and policy.
//
// [New] makes a runner with defaults for everything, for a model behind an API with OpenAI's chat completions:
//
//	runner, err := turns.New(ctx, turns.Config{Model: turns.Model{Name: "gpt-4o-mini", APIKey: key}})
//	…
//	for event, err := range runner.Stream(ctx, turns.Input{Message: "Hello!"}).Events() { … }
//
// [NewTurnRunner] takes every part explicitly: an [Executor], the storage [Callbacks] (or a [store.Store] through
// [StoreCallbacks]), middleware and tools. [Dispatch] runs only the loop.
//
// A program that names no engine imports the module that it runs:
//
//	import _ "github.com/turncore/turncore/wasm/full" // all providers; wasm/core has OpenAI's protocol alone
//
// # Packages beside this one
//
// Package record has messages, tool calls and other records, store what conversations are kept in, event what happens
// in a turn, and model providers, their options, engines and wrappers. Package middleware has bounds and budgets for
// pipelines, and package tools has tools for models; both are compiled into the core.
//
// # Contexts
//
// Middleware gets a [TurnContext] or a [DispatchContext], executors and tool handlers a DispatchContext. Each holds
// collections of records, a stash and a tool registry, and is a [context.Context], cancelled when it is aborted.
//
// # Events
//
// Listeners run on the goroutine that caused an event, before the causing call returns. The events of a turn come one
// at a time, in the order of their numbers. A call by a listener returns with its answer, and its events follow after
// that listener. Other goroutines that use the turn meanwhile wait until their events were delivered: a listener must
// not wait for them.
//
// No lock is held while the program's code runs. Everything may be used from many goroutines.
//
// # Errors
//
// Errors of Turncore are or wrap a *host.Error with a documented code: test it with errors.Is. An error returned by
// the program's own code comes back as the same value, in events, results and chains. A panic is a *host.PanicError
// with the stack.
package turns

// Package agent compiles an agent into a module: the core, with tools, middleware and an executor of an author's own.
// The one file that `turncore agent build` makes runs wherever the core does, and gets of its host only what a grant
// gives it.
//
//	package main
//
//	import "github.com/turncore/turncore/wasm/agent"
//
//	func init() {
//		agent.Register(agent.Definition{
//			Name: "greeter", Version: "1.0.0", Description: "Greets people.",
//			Tools: []*agent.Tool{agent.NewTool("greet", "Greets a person.", greet)},
//		})
//	}
//
//	func greet(c *agent.Context, args *GreetArgs) (*GreetResult, error) {
//		return &GreetResult{Text: "Hello " + args.Name}, nil
//	}
//
//	func main() {}
//
// Code of an agent runs as tasks of turns, inside the module's one thread. It waits only through [Context], which gives
// it time, ids and randomness too: what it does is a function of the frames that the host sends, and replays.
// Goroutines, channels and package time do not belong there; [Context.Together] runs several waits at once.
package agent

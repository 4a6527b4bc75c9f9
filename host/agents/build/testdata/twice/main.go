// Command twice registers an agent twice.
package main

import "github.com/turncore/turncore/wasm/agent"

func init() {
	d := agent.Definition{Name: "twice", Version: "1.0.0", Description: "Is there twice."}
	agent.Register(d)
	agent.Register(d)
}

func main() {}

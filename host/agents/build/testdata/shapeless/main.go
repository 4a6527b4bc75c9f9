// Command shapeless is an agent whose schemas no runner takes.
package main

import "github.com/turncore/turncore/wasm/agent"

func init() {
	run := func(_ *agent.Context, args []byte) ([]byte, error) { return args, nil }
	agent.Register(agent.Definition{
		Name: "shapeless", Version: "1.0.0", Description: "Has schemas that are none.",
		Options: `{"type":"array"}`,
		Tools: []*agent.Tool{
			agent.RawTool("fine", "Takes anything.", `{"type":"object"}`, run),
			agent.RawTool("text", "Takes a text.", `{"type":"string"}`, run),
			agent.RawTool("typo", "Takes a number.", `{"type":"object","properties":{"n":{"type":"numbr"}}}`, run),
		},
	})
}

func main() {}

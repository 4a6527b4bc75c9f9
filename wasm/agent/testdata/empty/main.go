package main

import "github.com/turncore/turncore/wasm/agent"

func init() {
	agent.Register(agent.Definition{Name: "empty", Version: "1.0.0", Description: "Nothing."})
}

func main() {}

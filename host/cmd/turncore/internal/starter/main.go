// Command starter is an agent, made by "turncore agent build".
package main

import "github.com/turncore/turncore/wasm/agent"

//go:generate go run github.com/turncore/turncore/host/cmd/toolgen -type Person,Greeting

// Person is whom to greet.
type Person struct {
	Name string `json:"name" jsonschema:"the person's name"`
}

// Greeting is what to say.
type Greeting struct {
	Text string `json:"text"`
}

func init() {
	agent.Register(agent.Definition{
		Name: "starter", Version: "0.1.0", Description: "Greets people.",
		Tools: []*agent.Tool{agent.NewTool("greet", "Returns a greeting for a person.", greet)},
		Asks:  agent.Asks{Models: []agent.Ask{{Name: "default", Why: "to answer"}}},
	})
}

func greet(_ *agent.Context, who *Person) (*Greeting, error) {
	return &Greeting{Text: "Hello, " + who.Name + "!"}, nil
}

func main() {}

// Package agents loads agents that other people wrote, and grants each exactly what it needs.
//
// An agent is one file: a module with the core and the author's code in it. Its [Manifest], a custom section of the
// file, says what it is and what it asks for; a [Grant] answers. What the grant does not name is not there:
//
//	file, err := os.ReadFile("research.wasm")
//	…
//	grant, err := agents.ReadGrant(text)
//	…
//	agent, err := agents.Load(ctx, file, agents.Options{Grant: grant, Tools: tools})
//	…
//	defer agent.Close(ctx)
//	runner, err := turns.New(ctx, agent.Config())
//
// A service with many tenants opens the file once, by [Open], and loads an agent with a grant for each of them, by
// [Module.Load]: they share the compiled code and nothing else.
//
// [Explain] says in sentences what an agent can do and what it cannot. The formats of manifest and grant have JSON
// Schemas: abi/agents/manifest.schema.json and grant.schema.json.
package agents

// Command panel is an agent for tests, with two models: one drafts, the other one answers. The draft is in the stash, where
// code of the host finds it.
package main

import "github.com/turncore/turncore/wasm/agent"

func init() {
	agent.Register(agent.Definition{
		Name: "panel", Version: "1.0.0", Description: "Has one model draft and another one answer.",
		Tools: []*agent.Tool{
			agent.RawTool("draft", "Takes a draft.", `{"type":"object"}`, func(c *agent.Context, args []byte) ([]byte, error) {
				return args, c.Set("draft", args)
			}),
		},
		Executor: func(c *agent.Context) error {
			if c.Iteration() == 0 {
				return c.Model("drafter")
			}
			return c.Model("reviewer")
		},
		Asks: agent.Asks{Models: []agent.Ask{{Name: "drafter", Why: "to draft"}, {Name: "reviewer", Why: "to answer"}}},
	})
}

func main() {}

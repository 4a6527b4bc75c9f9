package main

import (
	"fmt"
)

const agentHelp = `turncore agent ACTION [flags]

Makes, builds, tests and looks at agents: files that hold the core and the code of an agent's author.

  turncore agent new DIR             write an agent to begin with
  turncore agent build [DIR]         compile an agent to a file
  turncore agent test [DIR]          build an agent and run its tests
  turncore agent describe FILE       show an agent's manifest; --diff OLD NEW compares two
  turncore agent explain FILE        what an agent asks for, or with a grant what it can do and what it cannot

"turncore agent ACTION -h" lists the flags of an action.
`

// agentActions by their names.
var agentActions = map[string]func(c *command, args []string) error{
	"new": (*command).newAgent, "build": (*command).buildAgent, "test": (*command).testAgent,
	"describe": (*command).describeAgent, "explain": (*command).explainAgent,
}

func (c *command) agent(args []string) error {
	if len(args) == 0 {
		return usagef("agent", "give an action")
	}
	switch args[0] {
	case "-h", "-help", "--help":
		_, err := fmt.Fprint(c.stdout, agentHelp)
		return err
	}
	if action := agentActions[args[0]]; action != nil {
		return action(c, args[1:])
	}
	return usagef("agent", "%q is no action", args[0])
}

package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/agents"
)

const explainHelp = `turncore agent explain FILE [flags]

Says in sentences what the agent in FILE brings and asks for and, with a grant, what it can do and what it cannot. It reads
the file and runs nothing of it.

Exit status: 0; 1 if the file or the grant is wrong, or the grant lacks what the agent asks for; 2 for a command line that
is wrong.

Flags:
`

// explainAgent is "turncore agent explain".
func (c *command) explainAgent(args []string) error {
	var path string
	f := flag.NewFlagSet("agent explain", flag.ContinueOnError)
	f.Func("grant", "the grant in `file`", set(&path))
	rest, helped, err := c.parse(f, explainHelp, args)
	if helped || err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("agent explain", "give one file")
	}
	file, err := readAgent(rest[0])
	if err != nil {
		return err
	}
	manifest, err := agents.ReadManifest(file)
	if err != nil {
		return err
	}
	var grant *agents.Grant
	if path != "" {
		if grant, err = readGrant(path); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprint(c.stdout, agents.Explain(manifest, grant)); err != nil || grant == nil {
		return err
	}
	if grant.Check(manifest) != nil {
		return errTold
	}
	return nil
}

// readAgent reads an agent's file, as far as it is not too large to be one.
func readAgent(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := io.ReadAll(io.LimitReader(f, agents.DefaultMaxBytes+1))
	if err == nil && len(file) > agents.DefaultMaxBytes {
		err = host.NewError(host.CodeAgentTooLarge, fmt.Sprintf("%s: more than %d bytes", path, agents.DefaultMaxBytes), nil)
	}
	return file, err
}

// readGrant reads a grant file.
func readGrant(path string) (*agents.Grant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	grant, err := agents.ReadGrant(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return grant, nil
}

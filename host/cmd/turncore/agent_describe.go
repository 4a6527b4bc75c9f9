package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/turncore/turncore/host/agents"
)

const describeHelp = `turncore agent describe FILE [flags]
turncore agent describe --diff OLD NEW

Shows the manifest of the agent in FILE: what it is, what it brings and what it asks for. With --diff it shows how
the manifests of two versions differ. It reads files and runs nothing of them.

Exit status: 0; 1 if a file is wrong, or NEW asks for something that OLD does not ask for; 2 for a command line that is
wrong.

Flags:
`

// grantSchema is the address of the grants' JSON Schema.
const grantSchema = "https://raw.githubusercontent.com/turncore/turncore/main/abi/agents/grant.schema.json"

// describeAgent is "turncore agent describe".
func (c *command) describeAgent(args []string) error {
	f := flag.NewFlagSet("agent describe", flag.ContinueOnError)
	diff := f.Bool("diff", false, "compare the agents in two files")
	grant := f.Bool("grant", false, "show a grant of everything that the agent asks for, to be completed")
	rest, helped, err := c.parse(f, describeHelp, args)
	if helped || err != nil {
		return err
	}
	switch {
	case *diff && *grant:
		return usagef("agent describe", "--diff and --grant exclude each other")
	case *diff && len(rest) != 2:
		return usagef("agent describe", "give two files, the old one first")
	case !*diff && len(rest) != 1:
		return usagef("agent describe", "give one file")
	}
	list := make([]*agents.Manifest, len(rest))
	for i, path := range rest {
		file, err := readAgent(path)
		if err != nil {
			return err
		}
		if list[i], err = agents.ReadManifest(file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	switch m := list[0]; {
	case *diff:
		return c.differences(m, list[1])
	case *grant:
		g := m.Asks.Grant(m.Name)
		g.Schema = grantSchema
		return printJSON(c.stdout, g)
	default:
		return printJSON(c.stdout, m)
	}
}

// printJSON prints a value for people.
func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// differences shows how two versions of an agent differ. It fails if what the agent asks for has grown.
func (c *command) differences(old, m *agents.Manifest) error {
	var lines []string
	changed := func(what, from, to string) {
		if from != to {
			lines = append(lines, fmt.Sprintf("~ %s: %s → %s", what, from, to))
		}
	}
	changed("name", old.Name, m.Name)
	changed("version", old.Version, m.Version)
	changed("turncore", old.Turncore, m.Turncore)
	changed("executor", whose(old), whose(m))
	if !bytes.Equal(old.Options, m.Options) {
		lines = append(lines, "~ options")
	}
	lines = append(lines, listed(parts(old), parts(m))...)
	if len(lines) == 0 {
		lines = append(lines, "what they bring is the same")
	}
	if grown := m.Grown(old); len(grown) > 0 {
		lines = append(lines, "", m.Name+" asks for more:")
		for _, one := range grown {
			lines = append(lines, "- "+one.String())
		}
		fmt.Fprintln(c.stdout, printable(strings.Join(lines, "\n")))
		return errTold
	}
	_, err := fmt.Fprintln(c.stdout, printable(strings.Join(lines, "\n")))
	return err
}

// whose is the executor of an agent.
func whose(m *agents.Manifest) string {
	if m.Executor {
		return "its own"
	}
	return "chat"
}

// part is something that an agent brings, with all that the manifest says about it.
type part struct{ name, text string }

func parts(m *agents.Manifest) (list []part) {
	for _, t := range m.Tools {
		list = append(list, part{"tool " + t.Name, fmt.Sprint(t.Description, string(t.InputSchema), t.Confirm)})
	}
	for _, w := range m.Middleware {
		list = append(list, part{"middleware " + w.Name + " of " + w.Pipeline, ""})
	}
	for _, name := range m.Imports {
		list = append(list, part{"import " + name, ""})
	}
	return list
}

// listed are the lines of what was added, taken away and changed.
func listed(old, now []part) (lines []string) {
	before := map[string]string{}
	for _, p := range old {
		before[p.name] = p.text
	}
	after := map[string]bool{}
	for _, p := range now {
		after[p.name] = true
		if text, ok := before[p.name]; !ok {
			lines = append(lines, "+ "+p.name)
		} else if text != p.text {
			lines = append(lines, "~ "+p.name)
		}
	}
	for _, p := range old {
		if !after[p.name] {
			lines = append(lines, "- "+p.name)
		}
	}
	return lines
}

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/agents/build"
)

const buildHelp = `turncore agent build [DIR] [flags]

Compiles the agent whose package is in the folder DIR, or in this one, to one file, NAME.wasm, with a manifest in it. It
needs Go.

Exit status: 0; 1 if the agent cannot be built; 2 for a command line that is wrong.

Flags:
`

// buildAgent is "turncore agent build".
func (c *command) buildAgent(args []string) error {
	var path string
	f := flag.NewFlagSet("agent build", flag.ContinueOnError)
	var o build.Options
	f.BoolVar(&o.Core, "core", false, "leave out the providers other than OpenAI's chat completions, and models that the host runs itself")
	f.BoolVar(&o.Meter, "meter", false, "have the module count fuel ahead, for hosts that compile nothing at run time; others refuse it")
	f.Func("o", "write the agent to `file` (NAME.wasm in this folder)", set(&path))
	dir, helped, err := c.folder(f, buildHelp, args)
	if helped || err != nil {
		return err
	}
	agent, err := c.built(dir, o)
	if err != nil {
		return err
	}
	if path == "" {
		path = agent.Manifest.Name + ".wasm"
	}
	if err := replaceFile(path, agent.File); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "%s: %s %s, %d bytes\n", printable(path), agent.Manifest.Name, agent.Manifest.Version, len(agent.File))
	return err
}

const testHelp = `turncore agent test [DIR] [flags]

Builds the agent whose package is in the folder DIR, or in this one, starts it, and holds its manifest against what the
module says of itself; if DIR has a file grant.json, it must grant what the agent asks for. Then it runs the package's
own tests: go test ./...

Exit status: 0; 1 if something failed; 2 for a command line that is wrong.

Flags:
`

// testAgent is "turncore agent test".
func (c *command) testAgent(args []string) error {
	var path string
	f := flag.NewFlagSet("agent test", flag.ContinueOnError)
	f.Func("grant", "the grant in `file` (grant.json in DIR)", set(&path))
	dir, helped, err := c.folder(f, testHelp, args)
	if helped || err != nil {
		return err
	}
	agent, err := c.built(dir, build.Options{})
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	module, err := agents.Open(ctx, agent.File, agents.ModuleOptions{})
	if err != nil {
		return err
	}
	if err := module.Close(ctx); err != nil {
		return err
	}
	given := path != ""
	if !given {
		path = filepath.Join(dir, "grant.json")
	}
	if _, err := os.Stat(path); given || err == nil {
		grant, err := readGrant(path)
		if err != nil {
			return err
		}
		if err := grant.Check(agent.Manifest); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "go", "test", "./...")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, c.stdout, c.stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	return nil
}

// folder parses the arguments of an action on a folder, by default this one.
func (c *command) folder(f *flag.FlagSet, help string, args []string) (dir string, helped bool, err error) {
	rest, helped, err := c.parse(f, help, args)
	switch {
	case helped || err != nil:
		return "", helped, err
	case len(rest) > 1:
		return "", false, usagef(f.Name(), "give one folder")
	case len(rest) == 1:
		return rest[0], false, nil
	}
	return ".", false, nil
}

// built builds the agent in a folder, and says if it is not as usual.
func (c *command) built(dir string, o build.Options) (*build.Agent, error) {
	ctx, stop := interruptible()
	defer stop()
	agent, err := build.Package(ctx, dir, o)
	if err == nil && agent.Plain != "" {
		newScreen(c.stdout, c.stderr, c.getenv).notice("the file is larger and starts more slowly than it could: " + agent.Plain)
	}
	return agent, err
}

// replaceFile writes a file in one step.
func replaceFile(path string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".turncore-")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails when it was renamed
	_, err = temp.Write(text)
	if err == nil {
		err = temp.Chmod(0o644)
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

package main

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

const newHelp = `turncore agent new DIR [flags]

Writes an agent to the folder DIR, which is made if need be: a Go module with a tool and its test, and a grant. The agent
has the folder's name. It needs Go, and adds what the module requires.

Exit status: 0; 1 if the agent cannot be written; 2 for a command line that is wrong.

Flags:
`

// starter is the agent that is written. The package is compiled and tested here, too.
//
//go:embed internal/starter
var starter embed.FS

const starterFolder = "internal/starter"

// starterName is the name that the agent's own takes the place of.
const starterName = "starter"

// goLines are those of an agent's go.mod. A test holds them to this module's own.
const goLines = "go 1.26.0\n\ntoolchain go1.26.8\n"

var agentName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// newAgent is "turncore agent new".
func (c *command) newAgent(args []string) error {
	var checkout string
	f := flag.NewFlagSet("agent new", flag.ContinueOnError)
	f.Func("turncore", "use the checkout of Turncore in `folder` in place of a released version", set(&checkout))
	rest, helped, err := c.parse(f, newHelp, args)
	if helped || err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("agent new", "give one folder")
	}
	dir, err := filepath.Abs(rest[0])
	if err != nil {
		return err
	}
	name := filepath.Base(dir)
	if !agentName.MatchString(name) {
		return usagef("agent new", "%q is no name of an agent: small letters, digits, - and _, at most 64, that begin with a letter", name)
	}
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return fmt.Errorf("the folder %s is not empty", dir)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	complete := false
	defer func() {
		if !complete {
			empty(dir)
		}
	}()
	if err := writeStarter(dir, name); err != nil {
		return err
	}
	module := "module " + name + "\n\n" + goLines
	const core = "github.com/turncore/turncore"
	version := ownVersion()
	if checkout != "" {
		if checkout, err = filepath.Abs(checkout); err != nil {
			return err
		}
		module += "\nrequire " + core + " v0.0.0\n\nreplace " + core + " => " + checkout + "\n"
	} else if version != "" {
		module += "\nrequire " + core + " " + version + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644); err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	tidy := exec.CommandContext(ctx, "go", "mod", "tidy")
	tidy.Dir = dir
	if said, err := tidy.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod tidy: %w\n%s", err, said)
	}
	complete = true
	_, err = fmt.Fprintf(c.stdout, `The agent %s is in %s. There:
  turncore agent test     builds it and runs its tests
  turncore agent build    writes %s.wasm
  turncore run --agent %s.wasm --grant grant.json "Please greet Ada"
`, name, printable(dir), name, name)
	return err
}

// empty removes what was written into a folder, which was empty, so that the command can be given again.
func empty(dir string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range list {
		_ = os.RemoveAll(filepath.Join(dir, entry.Name())) // the error that is told is the one before
	}
}

// writeStarter writes the agent's files.
func writeStarter(dir, name string) error {
	list, err := starter.ReadDir(starterFolder)
	if err != nil {
		return err
	}
	for _, entry := range list {
		text, err := starter.ReadFile(path.Join(starterFolder, entry.Name()))
		if err != nil {
			return err
		}
		named := strings.ReplaceAll(string(text), starterName, name)
		if err := os.WriteFile(filepath.Join(dir, entry.Name()), []byte(named), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ownVersion is the version of the Turncore that this program is of; "" if it is no release.
func ownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/turncore/turncore" && m.Replace == nil {
			return m.Version
		}
	}
	return ""
}

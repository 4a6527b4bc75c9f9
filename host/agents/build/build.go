// Package build compiles agents: from a Go package to one file, which has the core, the package's code and a manifest.
//
// The command turncore does the same with "turncore agent build", and docs/agents.md says how an agent is written.
// Tests of an agent build it from the folder that they are in:
//
//	agent, err := build.Package(ctx, ".", build.Options{})
//	…
//	loaded, err := agents.Load(ctx, agent.File, agents.Options{Grant: grant})
package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/internal/shape"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// core is the module that an agent requires.
const core = "github.com/turncore/turncore"

// unreleased is the version of a core from a checkout of Turncore.
const unreleased = "(devel)"

// Options say what an agent is built from. The zero value is fine.
type Options struct {
	// Core leaves out what only the full module has: the providers other than OpenAI's chat completions, and models that
	// the host runs itself. The file is a fifth smaller.
	Core bool
	// Meter has the module count fuel ahead, for hosts that compile nothing at run time, such as Workers on Cloudflare:
	// the file is what meterAgent of JavaScript makes of the usual one. Other hosts meter themselves, and refuse it.
	Meter bool
}

// Agent is an agent that was built.
type Agent struct {
	File     []byte // a WebAssembly module with a manifest
	Manifest *agents.Manifest
	// Plain says why the file stayed as Go's linker wrote it, which makes it larger and slower to start. It is "" for the
	// usual file.
	Plain string
}

// Package compiles the main package in the folder dir, and asks the module what it is, for the manifest. The same
// sources give the same bytes on every machine. It needs Go: the Go release that Turncore's go.mod names gives the
// smallest and fastest file.
//
// It fails with what the go command says, with an error like [agents.Open]'s if the module does not start, and with
// [host.CodeAgentManifest] if its definition breaks a rule.
func Package(ctx context.Context, dir string, o Options) (*Agent, error) {
	t, err := toolsOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "turncore-agent-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	form, a := shape.Shipped, &Agent{}
	if t.version != t.pinned {
		form = shape.Shape{}
		a.Plain = fmt.Sprintf("Turncore is built with %s, this is %s", t.pinned, t.version)
	}
	var tags []string
	if !o.Core {
		tags = []string{"full"}
	}
	file, err := t.compile(ctx, dir, temp, form, tags)
	if err != nil {
		return nil, err
	}
	if file, err = form.Apply(ctx, file); err != nil {
		return nil, err
	}
	said, err := agents.Describe(ctx, file, agents.ModuleOptions{})
	if err != nil {
		return nil, err
	}
	var m agents.Manifest
	if err := json.Unmarshal(said, &m); err != nil {
		return nil, fmt.Errorf("what the module says of itself: %w", err)
	}
	if err := compilable(&m); err != nil {
		return nil, err
	}
	m.Turncore = t.core
	if o.Meter {
		if file, err = engine.Meter(file); err != nil {
			return nil, err
		}
	}
	if a.File, err = agents.WithManifest(file, &m); err != nil {
		return nil, err
	}
	a.Manifest, err = agents.ReadManifest(a.File)
	return a, err
}

// compilable checks the schemas of tools and options, which otherwise the first runner would.
func compilable(m *agents.Manifest) error {
	var list []string
	check := func(field, name string, schema json.RawMessage) {
		encoded, err := value.FromJSON(nil, schema)
		if err == nil {
			err = (&runtime.Tool{Name: name, InputSchema: encoded}).Compile()
		}
		if err != nil {
			// Such as "…: NAME: inputSchema must be …".
			_, said, found := strings.Cut(fault.MessageOf(err), ": "+name+": inputSchema")
			if !found {
				said = ": " + fault.MessageOf(err)
			}
			list = append(list, "`"+field+"`"+said)
		}
	}
	for i := range m.Tools {
		check(fmt.Sprintf("tools[%d].inputSchema", i), m.Tools[i].Name, m.Tools[i].InputSchema)
	}
	if len(m.Options) > 0 && string(m.Options) != "null" {
		check("options", "options", m.Options)
	}
	if len(list) > 0 {
		return host.NewError(host.CodeAgentManifest, strings.Join(list, "; "), nil)
	}
	return nil
}

// tools are what an agent is built with.
type tools struct {
	core    string // version of Turncore
	pinned  string // Go release that it is built with: "go1.26.8"
	version string // of Go
	goroot  string
}

// toolsOf finds what the package in dir is built with.
func toolsOf(ctx context.Context, dir string) (*tools, error) {
	listed, err := run(ctx, dir, nil, "list", "-m", "-json", core)
	if err != nil {
		return nil, fmt.Errorf("find the module %s, which an agent requires: %w", core, err)
	}
	var module struct {
		Version, GoMod string
		Replace        *struct{ Version, GoMod string }
	}
	if err := json.Unmarshal(listed, &module); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	t := &tools{core: module.Version}
	if module.Replace != nil {
		t.core, module.GoMod = module.Replace.Version, module.Replace.GoMod
	}
	if t.core == "" {
		t.core = unreleased
	}
	edited, err := run(ctx, dir, nil, "mod", "edit", "-json", module.GoMod)
	if err != nil {
		return nil, err
	}
	var file struct{ Toolchain string }
	if err := json.Unmarshal(edited, &file); err != nil {
		return nil, fmt.Errorf("go mod edit: %w", err)
	}
	t.pinned = file.Toolchain
	env, err := run(ctx, dir, nil, "env", "GOVERSION", "GOROOT")
	if err != nil {
		return nil, err
	}
	var found bool
	if t.version, t.goroot, found = strings.Cut(strings.TrimSpace(string(env)), "\n"); !found {
		return nil, fmt.Errorf("go env says %q", env)
	}
	return t, nil
}

// compile has the go command build the package, and returns the file as it wrote it.
func (t *tools) compile(ctx context.Context, dir, temp string, form shape.Shape, tags []string) ([]byte, error) {
	flags, err := form.Flags(t.goroot, temp, tags...)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(temp, "agent.wasm")
	args := append([]string{"build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", path}, flags...)
	env := []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWASM=", "GOEXPERIMENT=", "GOFIPS140=off"}
	if _, err := run(ctx, dir, env, append(args, ".")...); err != nil {
		return nil, fmt.Errorf("compile the agent: %w", err)
	}
	file, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("compile the agent: there is no package main in %s", dir)
	}
	return file, err
}

// run calls the go command in a folder. An error has what it wrote to standard error.
func run(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if said := bytes.TrimSpace(stderr.Bytes()); err != nil && len(said) > 0 {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, said)
	}
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return out, nil
}

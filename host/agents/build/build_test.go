package build_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/agents/build"
	"github.com/turncore/turncore/host/engine"
)

// empty is an agent that adds nothing to the core.
const empty = "../../../wasm/agent/testdata/empty"

func built(t *testing.T, o build.Options) *build.Agent {
	t.Helper()
	agent, err := build.Package(t.Context(), empty, o)
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

// An agent is a file with a manifest, which loads. The same sources give the same bytes.
func TestPackage(t *testing.T) {
	full := built(t, build.Options{})
	if m := full.Manifest; m.Name != "empty" || m.Version != "1.0.0" || m.Turncore == "" || len(m.Imports) == 0 || len(m.Tools) > 0 {
		t.Errorf("the manifest is %+v", m)
	}
	if again := built(t, build.Options{}); !bytes.Equal(again.File, full.File) {
		t.Error("the same sources give other bytes")
	}
	core := built(t, build.Options{Core: true})
	if len(core.File) >= len(full.File)*9/10 {
		t.Errorf("without what the full module has it takes %d bytes instead of %d", len(core.File), len(full.File))
	}
	agent, err := agents.Load(t.Context(), core.File, agents.Options{Grant: &agents.Grant{Agent: "empty"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// What is metered ahead is the module that a host would have metered, with the same manifest; it is not metered again.
func TestPackageMeters(t *testing.T) {
	plain, metered := built(t, build.Options{Core: true}), built(t, build.Options{Core: true, Meter: true})
	module, err := engine.Meter(plain.File)
	if err != nil {
		t.Fatal(err)
	}
	want, err := agents.WithManifest(module, plain.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(metered.File, want) {
		t.Error("it is not what metering makes of the agent")
	}
	_, err = agents.Load(t.Context(), metered.File, agents.Options{Grant: &agents.Grant{Agent: "empty"}})
	if !errors.Is(err, host.CodeInvalidModule) || !strings.Contains(err.Error(), "it is metered already") {
		t.Errorf("the error of a host that meters is %v", err)
	}
}

func TestPackageMistakes(t *testing.T) {
	mistakes := map[string]error{} // by folder: one may make several
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "go.mod"), []byte("module outside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, says string }{
		"a folder that is not there": {filepath.Join(outside, "missing"), "no such file or directory"},
		"a module without Turncore":  {outside, "find the module github.com/turncore/turncore, which an agent requires"},
		"a library package":          {"../../../abi/value", "requires exactly one main package"},
		"code that does not compile": {"testdata/broken", "undefined: missing"},
		"a command without the core": {"testdata/mute", "it does not export the function turncore_abi"},
		"a start that panics":        {"testdata/twice", "fails: panic: agent: Register is called twice"},
		"a tool of another type":     {"testdata/shapeless", "`tools[1].inputSchema` must be a JSON Schema of type object"},
		"a schema with a mistake":    {"testdata/shapeless", "`tools[2].inputSchema`: "},
		"options of another type":    {"testdata/shapeless", "`options` must be a JSON Schema of type object"},
	} {
		t.Run(name, func(t *testing.T) {
			err, known := mistakes[c.dir]
			if !known {
				_, err = build.Package(t.Context(), c.dir, build.Options{})
				mistakes[c.dir] = err
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v: the error does not say %q", err, c.says)
			}
		})
	}
}

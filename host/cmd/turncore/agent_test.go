package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/wasm/full"
)

// agentFile writes a file with a manifest and nothing else.
func agentFile(t *testing.T, dir, name string, m *agents.Manifest) string {
	t.Helper()
	file, err := agents.WithManifest([]byte("\x00asm\x01\x00\x00\x00"), m)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDescribeAgent(t *testing.T) {
	dir := t.TempDir()
	manifest := func(version, tool string, asks agents.Asks) *agents.Manifest {
		return &agents.Manifest{
			Name: "research", Version: version, Description: "Reads.", Asks: asks,
			Tools: []agents.Tool{{Name: "same", InputSchema: []byte("{}")}, {Name: tool, Description: version, InputSchema: []byte("{}")}},
		}
	}
	reads := agents.Asks{HTTP: []agents.AskOrigin{{Origin: "https://a.example", Why: "to read"}}}
	one := agentFile(t, dir, "1.wasm", manifest("1.0.0", "read", agents.Asks{}))
	described := agentFile(t, dir, "2.wasm", manifest("1.1.0", "read", agents.Asks{}))
	grown := agentFile(t, dir, "3.wasm", manifest("2.0.0", "fetch", reads))
	for _, c := range []struct {
		name   string
		args   []string
		status int
		out    string // that stdout or stderr contains
	}{
		{"manifest", []string{one}, exitOK, "\"name\": \"research\",\n  \"version\": \"1.0.0\""},
		{"grant", []string{grown, "--grant"}, exitOK, "\"agent\": \"research\",\n  \"http\": {\n    \"origins\": [\n      \"https://a.example\""},
		{"the same", []string{"--diff", one, one}, exitOK, "what they bring is the same\n"},
		{"changed", []string{"--diff", one, described}, exitOK, "~ version: 1.0.0 → 1.1.0\n~ tool read\n"},
		{
			"grown",
			[]string{"--diff", one, grown},
			exitFailed,
			"~ version: 1.0.0 → 2.0.0\n+ tool fetch\n- tool read\n\nresearch asks for more:\n- requests to https://a.example",
		},
		{"shrunk", []string{"--diff", grown, one}, exitOK, "+ tool read\n- tool fetch\n"},
		{"one file", []string{"--diff", one}, exitUsage, "give two files"},
		{"two files", []string{one, one}, exitUsage, "give one file"},
		{"both", []string{"--diff", "--grant", one, one}, exitUsage, "exclude each other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := turncore(t, append([]string{"agent", "describe"}, c.args...)...)
			if got.status != c.status || !strings.Contains(got.stdout+got.stderr, c.out) {
				t.Errorf("it does not say %q with status %d: %+v", c.out, c.status, got)
			}
		})
	}
}

// What "agent new" writes is built, passes its tests and runs, in a folder outside of this repository.
func TestAgentFromNewToRun(t *testing.T) {
	checkout, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "greeter")
	in := func(want string, args ...string) {
		t.Helper()
		if got := turncore(t, args...); got.status != exitOK || !strings.Contains(got.stdout, want) {
			t.Fatalf("turncore %q: %+v", args, got)
		}
	}
	in("The agent greeter is in ", "agent", "new", dir, "--turncore", checkout)
	file, grant := filepath.Join(dir, "greeter.wasm"), filepath.Join(dir, "grant.json")
	in("greeter.wasm: greeter 0.1.0, ", "agent", "build", dir, "-o", file)
	in("It brings:\n- the tool greet", "agent", "explain", file, "--grant", grant)
	in("ok", "agent", "test", dir)
	in("Hello, Ada!", "run", "--agent", file, "--grant", grant, `Please greet "Ada"`)
	if got := turncore(t, "agent", "new", dir); got.status != exitFailed || !strings.Contains(got.stderr, "is not empty") {
		t.Errorf("a second agent in the folder: %+v", got)
	}
	if err := os.WriteFile(grant, []byte(`{"agent":"other"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"agent", "test", dir}, {"run", "--agent", file, "--grant", grant, "Hi"}, {"run", "--agent", file, "Hi"}} {
		if got := turncore(t, args...); got.status != exitFailed || !strings.Contains(got.stderr, "model default") && !strings.Contains(got.stderr, "`agent` is other") {
			t.Errorf("turncore %q with a grant that does not fit: %+v", args, got)
		}
	}
}

// A command that fails leaves nothing behind: it can be given again.
func TestAgentNewFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "greeter")
	again := call{env: []string{"GOPROXY=off", "GOMODCACHE=" + t.TempDir()}, args: []string{"agent", "new", dir}}
	for range 2 {
		if got := again.run(t); got.status != exitFailed || !strings.Contains(got.stderr, "go mod tidy") {
			t.Errorf("%+v", got)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// A module without an agent inside answers with the model of its grant.
func TestRunAgent(t *testing.T) {
	module, ok := full.Module()
	if !ok {
		t.Fatal("this build carries no module: run `make wasm` first")
	}
	asks := agents.Asks{Models: []agents.Ask{{Name: "main", Why: "to answer"}}}
	with, err := agents.WithManifest(module, &agents.Manifest{Name: "plain", Version: "1.0.0", Description: "Answers.", Asks: asks})
	if err != nil {
		t.Fatal(err)
	}
	path, grant := file(t, "plain.wasm", string(with)), file(t, "grant.json", `{"agent":"plain","models":{"main":"simulated/m"}}`)
	got := turncore(t, "run", "--agent", path, "--grant", grant, "--verbose", "hello")
	if got.status != exitOK || got.stdout != "You said: hello\n" || !strings.Contains(got.stderr, "agent plain 1.0.0") {
		t.Errorf("%+v", got)
	}
}

func TestAgentMistakes(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct {
		args   []string
		status int
		out    string
	}{
		{[]string{"agent"}, exitUsage, "give an action"},
		{[]string{"agent", "fly"}, exitUsage, `"fly" is no action`},
		{[]string{"agent", "-h"}, exitOK, "turncore agent build"},
		{[]string{"agent", "new"}, exitUsage, "give one folder"},
		{[]string{"agent", "new", "No Name"}, exitUsage, "is no name of an agent"},
		{[]string{"agent", "build", "a", "b"}, exitUsage, "give one folder"},
		{[]string{"agent", "build", empty}, exitFailed, "which an agent requires"},
		{[]string{"run", "--grant", "grant.json", "Hi"}, exitUsage, "--grant is for an agent"},
		{[]string{"run", "--agent", "a.wasm", "--model", "m", "Hi"}, exitUsage, "--model and --agent exclude each other"},
		{[]string{"run", "--agent", "a.wasm", "--recording", "r.json"}, exitUsage, "--agent and --recording exclude each other"},
		{[]string{"run", "--agent", filepath.Join(empty, "a.wasm"), "Hi"}, exitFailed, "no such file"},
		{[]string{"run", "--agent", "a.wasm", "--options", "{", "Hi"}, exitUsage, "it is no JSON"},
	} {
		if got := turncore(t, c.args...); got.status != c.status || !strings.Contains(got.stdout+got.stderr, c.out) {
			t.Errorf("turncore %q does not say %q with status %d: %+v", c.args, c.out, c.status, got)
		}
	}
}

// The agent's go.mod has the Go that Turncore is built with.
func TestGoLinesOfNewAgents(t *testing.T) {
	own, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(own), "\n"+goLines) {
		t.Errorf("go.mod has not the lines %q", goLines)
	}
}

// The page shows the agent that "agent new" writes.
func TestPageOfAgents(t *testing.T) {
	page, err := os.ReadFile("../../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, language := range map[string]string{"main.go": "go", "agent_test.go": "go", "grant.json": "json"} {
		text, err := starter.ReadFile(starterFolder + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```"+language+"\n"+strings.ReplaceAll(string(text), starterName, "greeter")+"```\n") {
			t.Errorf("docs/agents.md has another %s", name)
		}
	}
}

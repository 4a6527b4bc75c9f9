package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host/hosttest"
)

// asCommand makes the test's own binary the command.
const asCommand = "TURNCORE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) == "1" {
		main()
	}
	os.Exit(m.Run())
}

// outcome is what a call of the command left.
type outcome struct {
	status         int
	stdout, stderr string
}

// call describes a call of the command.
type call struct {
	stdin string
	env   []string
	args  []string
}

func (c call) cmd(t *testing.T) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, c.args...)
	cmd.Env = os.Environ()
	for _, names := range variablesOf {
		for _, name := range []string{names.baseURL, names.host, names.model, names.key} {
			if name != "" {
				cmd.Env = append(cmd.Env, name+"=") // which counts as not set
			}
		}
	}
	// A program with the race detector sleeps a second at its end.
	cmd.Env = append(append(cmd.Env, asCommand+"=1", "GORACE=atexit_sleep_ms=0"), c.env...)
	cmd.Stdin = strings.NewReader(c.stdin)
	return cmd
}

func (c call) run(t *testing.T) outcome {
	t.Helper()
	cmd := c.cmd(t)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func turncore(t *testing.T, args ...string) outcome {
	t.Helper()
	return call{args: args}.run(t)
}

// on runs a test on every engine there is.
func on(t *testing.T, test func(t *testing.T, engine string)) {
	for _, e := range hosttest.Engines(t) {
		t.Run(e.Name(), func(t *testing.T) { test(t, e.Name()) })
	}
}

// file writes a file into a folder of the test's own.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUsageErrors(t *testing.T) {
	recording := file(t, "r.json", "{}")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "turncore run [PROMPT]"},
		{[]string{"fly"}, `"fly" is no command`},
		{[]string{"help", "fly"}, `"fly" is no command`},
		{[]string{"run", "--nothing", "x"}, "not defined: -nothing"},
		{[]string{"run", "x", "--nothing"}, "not defined: -nothing"},
		{[]string{"run", "a", "b"}, "put the prompt in quotes"},
		{[]string{"run", "a", "--", "--json"}, "put the prompt in quotes"},
		{[]string{"run", ""}, "the prompt is empty"},
		{[]string{"run"}, "the prompt on standard input is empty"},
		{[]string{"run", "-"}, "the prompt on standard input is empty"},
		{[]string{"run", "--engine", "steam", "x"}, `there is no engine "steam"`},
		{[]string{"run", "--engine", "native", "--module", "m", "x"}, "--module is for the wazero engine"},
		{[]string{"run", "--base-url", "ftp://x", "x"}, "http or https"},
		{[]string{"run", "--base-url", "http://", "x"}, "http or https"},
		{[]string{"run", "--base-url", "", "x"}, "it is empty"},
		{[]string{"run", "--provider", "other", "x"}, "it must be one of openai, openai-responses, "},
		{[]string{"run", "--provider", "anthropic", "x"}, "--provider anthropic needs a --model"},
		{[]string{"run", "--model", "gpt-4o-mini", "x"}, `the model "gpt-4o-mini" needs a provider: set OPENAI_API_KEY, or give --provider or --base-url`},
		{[]string{"run", "--provider", "openai", "x"}, "openai needs a key: set OPENAI_API_KEY, or give the --base-url"},
		{[]string{"run", "--provider", "gemini", "--model", "m", "x"}, "gemini needs a key: set GEMINI_API_KEY"},
		{[]string{"run", "--recording", recording, "--provider", "openai"}, "exclude each other"},
		{[]string{"run", "--seed", "-1", "x"}, "whole number"},
		{[]string{"run", "--seed", "4294967296", "x"}, "whole number"},
		{[]string{"run", "--max-iterations", "many", "x"}, "whole number"},
		{[]string{"run", "--max-iterations", "2147483647", "x"}, "whole number up to 2147483646"},
		{[]string{"run", "--tool", "name", "x"}, "NAME=CMD"},
		{[]string{"run", "--tool", "name= ", "x"}, "NAME=CMD"},
		{[]string{"run", "--tool", "a b=cat", "x"}, "letters, digits"},
		{[]string{"run", "--tool", "=cat", "x"}, "letters, digits"},
		{[]string{"run", "--tool", "a=cat", "--tool", "a:again=cat", "x"}, "another tool of that name"},
		{[]string{"run", "--recording", recording, "x"}, "exclude each other"},
		{[]string{"run", "--recording", recording, "--model", "m"}, "exclude each other"},
		{[]string{"run", "--recording", recording, "--tool", "a=cat"}, "exclude each other"},
		{[]string{"run", "--engine", "node", "x"}, "the engine node plays recordings only: give --recording"},
		{[]string{"run", "--engine", "node", "--recording", recording, "--module", "m"}, "--module is for the wazero engine"},
		{[]string{"run", "--engine", "chromium", "--recording", recording, "--log", "f"}, "the engine chromium has no files"},
		{[]string{"replay", "--engine", "node", "f"}, `there is no engine "node"`},
		{[]string{"replay"}, "give one journal"},
		{[]string{"replay", "a", "b"}, "give one journal"},
		{[]string{"replay", "a", "--engine", "steam"}, `there is no engine "steam"`},
		{[]string{"version", "now"}, "no arguments"},
	} {
		got := turncore(t, c.args...)
		if got.status != 2 || got.stdout != "" || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%q: %+v, want %q", c.args, got, c.want)
		}
	}
}

func TestNodeNeedsACheckout(t *testing.T) {
	cmd := call{args: []string{"run", "--engine", "node", "--recording", file(t, "made.json", conversation)}}.cmd(t)
	cmd.Dir = t.TempDir()
	said, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(said), "the engine node is for a checkout of Turncore") {
		t.Errorf("%v: %s", err, said)
	}
}

func TestHelp(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"help"}, []string{"turncore replay FILE"}},
		{[]string{"-h"}, []string{"turncore replay FILE"}},
		{[]string{"--help"}, []string{"turncore replay FILE"}},
		{[]string{"run", "-h"}, []string{
			"Exit status", "OPENAI_API_KEY", "-base-url URL", "-model name", "-system text", "-tool NAME=CMD", "-engine engine",
			"-module file", "-max-iterations n", "-json", "-fixed-clock", "-seed n", "-log file", "-recording file", "-verbose",
		}},
		{[]string{"help", "run"}, []string{"-recording file"}},
		{[]string{"run", "prompt", "--help"}, []string{"-recording file"}},
		{[]string{"replay", "--help"}, []string{"-engine engine", "Exit status"}},
		{[]string{"help", "replay"}, []string{"-module file"}},
		{[]string{"version", "-h"}, []string{"turncore version"}},
		{[]string{"help", "version"}, []string{"turncore version"}},
		{[]string{"version"}, []string{"turncore ", "abi 2.", "go go1.", "module "}},
		{[]string{"--version"}, []string{"abi 2."}},
	} {
		got := turncore(t, c.args...)
		for _, want := range c.want {
			if got.status != 0 || got.stderr != "" || !strings.Contains(got.stdout, want) {
				t.Errorf("%q: %+v, want %q", c.args, got, want)
			}
		}
	}
}

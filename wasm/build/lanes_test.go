package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A lane that ran no test fails, whether it has none or skipped all. So does a lane that does not exist, and one that
// fails after a passing test. Each skipped test is printed with its reason.
func TestLanesThatRanNothingFail(t *testing.T) {
	root := testRoot(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".ci/lanes"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, ".ci", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"test.sh", "lib.sh", "go-reporter.mjs", "node-reporter.mjs"} {
		text, err := os.ReadFile(filepath.Join(root, ".ci", name))
		if err != nil {
			t.Fatal(err)
		}
		write(name, string(text))
	}
	event := func(action, test, output string) string {
		line := `{"Action":"` + action + `","Package":"p","Test":"` + test + `"`
		if output != "" {
			line += `,"Output":"` + output + `\n"`
		}
		return line + "}\n"
	}
	skipped := event("run", "TestA", "") + event("output", "TestA", "    a_test.go:1: the key is missing") + event("skip", "TestA", "")
	passed := event("run", "TestB", "") + event("pass", "TestB", "")
	write("skipped.json", skipped)
	write("both.json", skipped+passed)
	write("skipped.test.mjs", "import test from 'node:test';\ntest('a', { skip: 'the engine is missing' }, () => {});\n")
	write("both.test.mjs", "import test from 'node:test';\ntest('a', { skip: 'the engine is missing' }, () => {});\ntest('b', () => {});\n")
	for lane, script := range map[string]string{
		"good": "tests_ran 1", "none": "true", "fails": "tests_ran 1; false",
		"goskips": "node .ci/go-reporter.mjs <.ci/skipped.json", "goruns": "node .ci/go-reporter.mjs <.ci/both.json",
		"nodeskips": "node_test .ci/skipped.test.mjs", "noderuns": "node_test .ci/both.test.mjs",
	} {
		write("lanes/10-"+lane+".sh", "source .ci/lib.sh\n"+script+"\n")
	}
	for lanes, want := range map[string]struct {
		ok   bool
		says string
	}{
		"good":      {true, "1 passed, 0 failed"},
		"none":      {false, "FAILED (ran no test)"},
		"fails":     {false, "FAILED (exit status 1)"},
		"goskips":   {false, "FAILED (ran no test)"},
		"goruns":    {true, "skip  p TestA: a_test.go:1: the key is missing"},
		"nodeskips": {false, "FAILED (ran no test)"},
		"noderuns":  {true, "skip  a: the engine is missing"},
		"good lost": {false, "no such lane"},
		"":          {false, "3 passed, 4 failed"},
	} {
		cmd := exec.Command("bash", ".ci/test.sh")
		cmd.Dir = dir
		// A test of Node's may have started this one; its tests would be told to it.
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NODE_TEST_CONTEXT=") })
		cmd.Env = append(cmd.Env, "LANES="+lanes, "LANE_COUNT=")
		out, err := cmd.CombinedOutput()
		if (err == nil) != want.ok || !strings.Contains(string(out), want.says) {
			t.Errorf("%q: %v, want %q in\n%s", lanes, err, want.says, out)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// followAgents does in an empty folder what docs/agents.md says: a new agent, its workflow's commands, and a turn.
func followAgents(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	t.Setenv("GOBIN", bin)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	empty := repository{t.TempDir()}
	var steps []string
	for _, line := range regexp.MustCompile(`(?m)^      - run: (.+)$`).FindAllStringSubmatch(string(page), -1) {
		steps = append(steps, line[1])
	}
	if len(steps) != 3 || !strings.HasPrefix(steps[0], "go install "+modulePath) {
		t.Fatalf("the workflow's commands are %q", steps)
	}
	empty.mustRun(t, "bash", "-c", steps[0])
	empty.mustRun(t, "turncore", "agent", "new", "greeter")
	agent := repository{filepath.Join(empty.dir, "greeter")}
	if got := agent.mustRun(t, "go", "list", "-m", modulePath); got != modulePath+" "+testVersion {
		t.Errorf("the agent has %s", got)
	}
	for _, step := range steps[1:] {
		t.Log(agent.mustRun(t, "bash", "-e", "-c", step))
	}
	said := agent.mustRun(t, "turncore", "agent", "explain", "agent.wasm", "--grant", "grant.json")
	if !strings.Contains(said, "greeter") {
		t.Errorf("explain says %s", said)
	}
	out := agent.mustRun(t, "turncore", "run", "--agent", "agent.wasm", "--grant", "grant.json", "--json", "Please greet Ada")
	lines := strings.Split(out, "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, `"status":"ack"`) {
		t.Errorf("the turn ended with %s", last)
	}
}

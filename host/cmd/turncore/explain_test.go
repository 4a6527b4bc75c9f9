package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/agents"
)

func TestExplainAgent(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file, err := agents.WithManifest([]byte("\x00asm\x01\x00\x00\x00"), &agents.Manifest{
		Name: "research", Version: "1.4.0", Description: "Reads and sums up.",
		Asks: agents.Asks{HTTP: []agents.AskOrigin{{Origin: "https://a.example", Why: "to read"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	agent := write("research.wasm", file)
	for _, c := range []struct {
		name   string
		args   []string
		status int
		out    string // that stdout or stderr contains
	}{
		{"no grant", []string{agent}, exitOK, "It asks for:\n- requests to https://a.example (to read)"},
		{
			"enough",
			[]string{agent, "--grant", write("grant.json", []byte(`{"agent":"research","http":{"origins":["https://a.example"]}}`))},
			exitOK, "It can:\n- send requests to https://a.example",
		},
		{"too little", []string{"--grant", write("less.json", []byte(`{"agent":"research"}`)), agent}, exitFailed, "It is refused"},
		{"a wrong grant", []string{agent, "--grant", write("wrong.json", []byte(`{"agent":"research","tool":[]}`))}, exitFailed, "`tool` is unknown"},
		{"a wrong grant, whose file is named", []string{agent, "--grant", write("other.json", []byte("{"))}, exitFailed, "other.json: "},
		{"no agent", []string{write("text.wasm", []byte("text"))}, exitFailed, "E_INVALID_MODULE"},
		{"no file", nil, exitUsage, "give one file"},
		{"help", []string{"-h"}, exitOK, "-grant file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			cmd := &command{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, getenv: func(string) string { return "" }}
			if status := cmd.main(append([]string{"agent", "explain"}, c.args...)); status != c.status {
				t.Errorf("the status is %d, want %d", status, c.status)
			}
			if !strings.Contains(stdout.String()+stderr.String(), c.out) {
				t.Errorf("it does not say %q:\n%s%s", c.out, stdout.String(), stderr.String())
			}
		})
	}
}

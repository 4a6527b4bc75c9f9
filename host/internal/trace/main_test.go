package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TRACE.md is what the core says today.
func TestTraceIsFresh(t *testing.T) {
	want, err := page()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../abi/TRACE.md")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("abi/TRACE.md is stale: run go generate ./abi (%v)", err)
	}
	for _, what := range []string{
		`> {"frame":"Hello",`, `> {"frame":"OpenRunner",`, `,"kind":"turnStart",`, `,"kind":"tool",`, `,"method":"store",`, `< {"frame":"End",`,
	} {
		if !strings.Contains(string(want), what) {
			t.Errorf("no %s", what)
		}
	}
}

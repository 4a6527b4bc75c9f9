package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(file, []byte(strings.Repeat("turncore ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(&out, []string{file, file}); err != nil {
		t.Fatal(err)
	}
	if want := "{\"raw\":9000,\"gzip\":68,\"brotli\":26}\n"; out.String() != want+want {
		t.Errorf("%s, want %s", out.String(), want)
	}
	if err := run(&out, []string{file, file + "b"}); !os.IsNotExist(err) {
		t.Errorf("a file that is missing: %v", err)
	}
}

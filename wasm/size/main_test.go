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
	if err := run(&out, "", []string{file, file}); err != nil {
		t.Fatal(err)
	}
	want := "{\"raw\":9000,\"gzip\":68,\"brotli\":26}\n"
	if out.String() != want+want {
		t.Errorf("%s, want %s", out.String(), want)
	}
	kept := filepath.Join(t.TempDir(), "weights")
	for range 2 {
		out.Reset()
		if err := run(&out, kept, []string{file}); err != nil || out.String() != want {
			t.Errorf("with a folder: %s, %v", out.String(), err)
		}
		// What is kept is said again.
		entries, err := os.ReadDir(kept)
		if err != nil || len(entries) != 1 {
			t.Fatalf("%v are kept, %v", entries, err)
		}
		want = strings.Replace(want, "26", "27", 1)
		if err := os.WriteFile(filepath.Join(kept, entries[0].Name()), []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(&out, kept, []string{file, file + "b"}); !os.IsNotExist(err) {
		t.Errorf("a file that is missing: %v", err)
	}
}

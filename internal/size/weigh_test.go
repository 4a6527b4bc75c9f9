package size_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/size"
)

func TestWeigh(t *testing.T) {
	root := t.TempDir()
	program, err := os.ReadFile("weigh.mjs")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "file")
	for path, content := range map[string][]byte{
		filepath.Join(root, "internal", "size", "weigh.mjs"): program,
		file: []byte(strings.Repeat("turncore ", 1000)),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := size.Weight{Raw: 9000, Gzip: 64, Brotli: 26}
	for range 2 {
		got, err := size.Weigh(t.Context(), root, file, file)
		if err != nil || !slices.Equal(got, []size.Weight{want, want}) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
		// What is kept is said again.
		kept, err := filepath.Glob(filepath.Join(root, "build", "weights", "*"))
		if err != nil || len(kept) != 1 {
			t.Fatalf("%v are kept, %v", kept, err)
		}
		want.Brotli = 27
		if err := os.WriteFile(kept[0], []byte(`{"raw":9000,"gzip":64,"brotli":27}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := size.Weigh(t.Context(), root, file, file+"b"); err == nil {
		t.Error("a file that is missing weighs something")
	}
}

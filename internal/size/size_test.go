package size_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/size"
)

// The documentation states the bounds as they are.
func TestDocumentationStatesTheBounds(t *testing.T) {
	page, err := os.ReadFile("../../docs/executor.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"turncore.wasm", "turncore-full.wasm"} {
		bytes, ok := size.Of(file)
		if !ok {
			t.Fatalf("%s has no bound", file)
		}
		want := fmt.Sprintf("at most %d bytes", bytes)
		stated := false
		for line := range strings.Lines(strings.ReplaceAll(string(page), ",", "")) {
			stated = stated || strings.Contains(line, "`"+file+"`") && strings.Contains(line, want)
		}
		if !stated {
			t.Errorf("docs/executor.md does not say of %s that it has %s", file, want)
		}
	}
	if _, ok := size.Of("turncore-js.wasm"); ok {
		t.Error("turncore-js.wasm has a bound")
	}
}

package native_test

import (
	"os"
	"strings"
	"testing"
)

// The provider of docs/providers.md is that of the example, and is short.
func TestProviderOfThePage(t *testing.T) {
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, ok := strings.Cut(string(example), "// lines is a provider")
	code, _, ends := strings.Cut(code, "\n// A protocol of one's own.")
	if n := strings.Count(code, "\n"); !ok || !ends || n < 50 || n >= 80 {
		t.Fatalf("the example's provider has %d lines", n)
	}
	if !strings.Contains(string(page), code) {
		t.Error("the page has another one")
	}
}

package provider_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/chat"
)

// The tables of docs/executor.md that are written by hand have a row for each provider that they are about, and for no
// other.
func TestTablesOfTheExecutor(t *testing.T) {
	text, err := os.ReadFile("../../docs/executor.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []struct {
		head string
		has  func(chat.Provider) bool
	}{
		{"| provider | goes back |", func(p chat.Provider) bool { return p.Protocol().Reasoning != "" }},
		{"| provider | takes |", func(p chat.Provider) bool { return p.Protocol().Media != nil }},
		{"| provider | address |", func(p chat.Provider) bool { return p.Protocol().Files != nil }},
		{"| provider | the schema goes into |", func(p chat.Provider) bool {
			_, shapes := p.(chat.Shaper)
			return shapes
		}},
	} {
		var want []string
		for _, p := range provider.All {
			if name := p.Protocol().Name; p.Protocol().Local == nil && table.has(p) {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		if got := rows(string(text), table.head); !slices.Equal(got, want) {
			t.Errorf("%s has rows of %v, want %v", table.head, got, want)
		}
	}
}

// rows returns the names in the first column of a Markdown table, in order of the alphabet.
func rows(text, head string) (names []string) {
	_, rest, _ := strings.Cut(text, "\n"+head)
	for i, line := range strings.Split(rest, "\n") {
		switch cell, isRow := strings.CutPrefix(line, "| `"); {
		case isRow:
			name, _, _ := strings.Cut(cell, "`")
			names = append(names, name)
		case i > 0 && !strings.HasPrefix(line, "|"):
			slices.Sort(names)
			return names
		}
	}
	return nil
}

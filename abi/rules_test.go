package abi

import (
	"encoding/json"
	"os"
	"testing"
)

// TestSuggestions holds Suggest to the vectors that JavaScript keeps too.
func TestSuggestions(t *testing.T) {
	text, err := os.ReadFile("testdata/suggestions.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name  string
		Known []string
		Meant string
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		if got := Suggest(v.Name, v.Known); got != v.Meant {
			t.Errorf("Suggest(%q, %q) = %q, want %q", v.Name, v.Known, got, v.Meant)
		}
	}
}

func TestUnknownField(t *testing.T) {
	for name, want := range map[string]string{
		"prompt": "`input.prompt` is not a known field; did you mean `message`?",
		"shape":  "`input.shape` is not a known field",
	} {
		if got := UnknownField("input."+name, name, []string{"stash", "message"}); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

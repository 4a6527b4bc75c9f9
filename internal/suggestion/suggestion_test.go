package suggestion

import (
	"encoding/json"
	"os"
	"testing"
)

// TestOf holds Of to the vectors that JavaScript keeps too.
func TestOf(t *testing.T) {
	text, err := os.ReadFile("../../abi/testdata/suggestions.json")
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
		if got := Of(v.Name, v.Known); got != v.Meant {
			t.Errorf("Of(%q, %q) = %q, want %q", v.Name, v.Known, got, v.Meant)
		}
	}
}

func TestUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"baseUrl": "is not a known option; did you mean `baseURL`?",
		"modle":   "is not a known option; did you mean `model`?",
		"shape":   "is not a known option, and that is all",
	} {
		if got := Unknown(name, []string{"baseURL", "model"}, ", and that is all"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

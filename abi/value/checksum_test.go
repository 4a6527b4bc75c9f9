package value

import (
	"encoding/json"
	"os"
	"testing"
)

// The vectors are common to hosts and guest.
func TestChecksumVectors(t *testing.T) {
	text, err := os.ReadFile("../../abi/testdata/checksums.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ Name, Tool, Args, Canonical, Checksum string }
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 10 {
		t.Fatalf("%d vectors", len(vectors))
	}
	for _, v := range vectors {
		args, err := FromJSON(nil, []byte(v.Args))
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		if got, err := Checksum(v.Tool, args); err != nil || got != v.Checksum {
			t.Errorf("%s: %s, %v, want %s", v.Name, got, err, v.Checksum)
		}
	}
}

package turntest_test

import (
	"flag"
	"os/exec"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/turntest"
)

// Test binaries have the flag -update, other programs do not.
func TestUpdating(t *testing.T) {
	f := flag.Lookup("update")
	if f == nil || f.DefValue != "false" {
		t.Fatalf("the flag is %+v", f)
	}
	for _, value := range []string{"true", "false"} {
		updating(t, value, func() {
			if turntest.Updating() != (value == "true") {
				t.Errorf("with -update=%s it is %v", value, turntest.Updating())
			}
		})
	}
	said, err := exec.CommandContext(t.Context(), "go", "run", "./testdata/program").CombinedOutput()
	if got := strings.TrimSpace(string(said)); err != nil || got != "false false" {
		t.Errorf("a program says %q, %v", got, err)
	}
}

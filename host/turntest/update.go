package turntest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// updateFlag is the name of the flag that files of tests are written anew with.
const updateFlag = "update"

func init() {
	if testing.Testing() && flag.Lookup(updateFlag) == nil {
		flag.Bool(updateFlag, false, "write golden files and recordings of package turntest anew")
	}
}

// Updating reports whether the test runs with the flag -update.
func Updating() bool {
	f := flag.Lookup(updateFlag)
	if f == nil {
		return false
	}
	v, ok := f.Value.(flag.Getter)
	if !ok {
		return f.Value.String() == "true"
	}
	is, _ := v.Get().(bool)
	return is
}

// folderOf makes the folder of a file.
func folderOf(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("the folder of %s: %w", path, err)
	}
	return nil
}

package conformance_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/conformance"
)

func TestLoadSaysWhatIsMissing(t *testing.T) {
	folder := t.TempDir()
	if _, err := conformance.Load(os.DirFS(filepath.Join(folder, "none"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := conformance.Load(os.DirFS(folder)); err == nil || !strings.Contains(err.Error(), "no files *.json") {
		t.Errorf("an empty folder: %v", err)
	}
}

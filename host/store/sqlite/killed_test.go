package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/storetest"
)

// fileOfKilled names the file for the processes that are killed.
const fileOfKilled = "TURNCORE_TEST_FILE"

// What a process that is killed had committed is there, whole and once.
func TestKilled(t *testing.T) {
	path := os.Getenv(fileOfKilled)
	if path == "" {
		path = filepath.Join(t.TempDir(), "killed.db")
	}
	points := 20
	if os.Getenv("TURNCORE_LONG") != "" {
		points = 200
	}
	storetest.Kill(t, points, 1, []string{fileOfKilled + "=" + path}, func() (store.Store, error) {
		return Open(context.Background(), path, Options{})
	})
}

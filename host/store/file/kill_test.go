package file_test

import (
	"os"
	"testing"

	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/file"
	"github.com/turncore/turncore/host/storetest"
)

// folderOfKilled names the folder for the processes that are killed.
const folderOfKilled = "TURNCORE_TEST_FOLDER"

// What a process that is killed had committed is there, whole and once.
func TestKilled(t *testing.T) {
	folder := os.Getenv(folderOfKilled)
	if folder == "" {
		folder = t.TempDir()
	}
	points := 20
	if os.Getenv("TURNCORE_LONG") != "" {
		points = 200
	}
	storetest.Kill(t, points, 1, []string{folderOfKilled + "=" + folder}, func() (store.Store, error) { return file.Open(folder) })
}

package file_test

import (
	"os"
	"testing"

	"github.com/turncore/turncore/host/sessions/sessionstest"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/file"
	"github.com/turncore/turncore/host/storetest"
)

// folderOfKilled names the folder for the processes that are killed.
const folderOfKilled = "TURNCORE_TEST_FOLDER"

// placeOfKilled opens the store of the processes that are killed, and returns what they need of the environment and how
// often to kill them where few is enough for a short test.
func placeOfKilled(t *testing.T, few int) (open storetest.Opener, env []string, often int) {
	t.Helper()
	folder := os.Getenv(folderOfKilled)
	if folder == "" {
		folder = t.TempDir()
	}
	if os.Getenv("TURNCORE_LONG") != "" {
		few *= 10
	}
	return func() (store.Store, error) { return file.Open(folder) }, []string{folderOfKilled + "=" + folder}, few
}

// What a process that is killed had committed is there, whole and once.
func TestKilled(t *testing.T) {
	open, env, points := placeOfKilled(t, 20)
	storetest.Kill(t, points, 1, env, open)
}

// What a process that is killed had delivered of an invocation is there, or one event more.
func TestKilledInvocation(t *testing.T) {
	open, env, rounds := placeOfKilled(t, 3)
	sessionstest.Kill(t, rounds, 1, env, open)
}

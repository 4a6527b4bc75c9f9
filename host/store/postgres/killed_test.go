package postgres

import (
	"context"
	"os"
	"testing"

	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/storetest"
)

// urlOfKilled names the database for the processes that are killed.
const urlOfKilled = "TURNCORE_TEST_POSTGRES"

// What a process that is killed had committed is there, whole and once.
func TestKilled(t *testing.T) {
	url := os.Getenv(urlOfKilled)
	if url == "" {
		url = created(t)
	}
	points := 20
	if os.Getenv("TURNCORE_LONG") != "" {
		points = 200
	}
	storetest.Kill(t, points, 1, []string{urlOfKilled + "=" + url}, func() (store.Store, error) {
		return Open(context.Background(), url, Options{})
	})
}

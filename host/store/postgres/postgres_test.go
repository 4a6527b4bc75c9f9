package postgres

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/turncore/turncore/host/store/postgres/internal/server"
)

// running is the server of the tests.
var running *server.Server

func TestMain(m *testing.M) {
	var err error
	if running, err = server.Start(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	running.Stop()
	os.Exit(status)
}

// opened opens a store in a database of its own.
func opened(t *testing.T) *Store {
	t.Helper()
	url, err := running.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

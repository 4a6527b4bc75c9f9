package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"testing"

	"github.com/turncore/turncore/host/store/internal/sqlstore"
	"github.com/turncore/turncore/host/store/internal/sqlstore/sqltest"
	"github.com/turncore/turncore/host/store/postgres/internal/server"
)

// running is the server of the tests.
var running *server.Server

func TestMain(m *testing.M) {
	if os.Getenv(urlOfKilled) != "" {
		os.Exit(m.Run()) // the process that is to be killed has a server
	}
	var err error
	if running, err = server.Start(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	running.Stop()
	os.Exit(status)
}

// created makes an empty database and returns its URL.
func created(t *testing.T) string {
	t.Helper()
	url, err := running.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func TestStore(t *testing.T) {
	sqltest.Run(t, func(t *testing.T) *sqltest.Database {
		url := created(t)
		db, err := sql.Open("pgx", url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return &sqltest.Database{
			Open: func(o sqlstore.Options) (*sqlstore.Store, error) {
				s, err := open(context.Background(), url, Options{}, o)
				if err != nil {
					return nil, err
				}
				return s.Store, nil
			},
			Raw:  db,
			Mark: func(n int) string { return fmt.Sprintf("$%d", n) },
		}
	})
}

package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
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

// shared is the database of those tests that have a schema of their own. A database costs ten times as much.
var shared = sync.OnceValues(func() (url string, err error) { return running.Create(context.Background()) })

// schemas is how many are made.
var schemas atomic.Int64

// created makes an empty schema and returns the URL of its database, in which tables are those of the schema.
func created(t *testing.T) string {
	t.Helper()
	url, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name := fmt.Sprintf("schema%d", schemas.Add(1))
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	return url + " search_path=" + name
}

// database makes an empty database and returns its URL.
func database(t *testing.T) string {
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

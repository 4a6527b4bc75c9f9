package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/turncore/turncore/host/store/internal/sqlstore"
	"github.com/turncore/turncore/host/store/internal/sqlstore/sqltest"
)

func TestStore(t *testing.T) {
	sqltest.Run(t, func(t *testing.T) *sqltest.Database {
		path := filepath.Join(t.TempDir(), "a b?%.db")
		return &sqltest.Database{
			Open: func(o sqlstore.Options) (*sqlstore.Store, error) {
				s, err := open(context.Background(), path, Options{}, o)
				if err != nil {
					return nil, err
				}
				return s.Store, nil
			},
			Raw:  raw(t, path),
			Mark: func(int) string { return "?" },
		}
	})
}

// raw opens a file beside the store.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	name, err := nameOf(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := connect(name, Options{BusyTimeout: busyTimeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

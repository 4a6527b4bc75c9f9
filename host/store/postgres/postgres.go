// Package postgres keeps conversations in a PostgreSQL database, by github.com/jackc/pgx. It is a module of its own.
//
//	s, err := postgres.Open(ctx, os.Getenv("DATABASE_URL"), postgres.Options{})
//	if err != nil { … }
//	defer s.Close()
//	runner, err := turns.New(ctx, turns.Config{Store: s, …})
//
// The tables' names begin with turncore_. They are in the first schema of the connection's search_path.
package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// Store keeps conversations in a database. It is a store.Sessions, a store.Appender and a store.Journal. Its methods
// may be called from many goroutines and many processes: transactions of different sessions run side by side.
type Store struct{ *sqlstore.Store }

var (
	_ store.Sessions = (*Store)(nil)
	_ store.Appender = (*Store)(nil)
	_ store.Journal  = (*Store)(nil)
)

// Options of a store.
type Options struct {
	// MaxConnections is how many connections the store has at most, 10 if it is 0. What needs one more waits. It must not
	// be negative: that is an E_INVALID_VALUE.
	MaxConnections int
}

// maxConnections is how many connections a store has where nothing else is given.
const maxConnections = 10

// connectTimeout is how long connecting may take where the URL does not say so.
const connectTimeout = 10 * time.Second

// Open opens a database by a URL such as postgres://user:password@host:5432/database or by pgx's keywords and values,
// and brings its schema up to date. Connecting takes 10 seconds at most, or as many as connect_timeout in the URL says.
// It fails with E_STORE_VERSION if a later version of the library has made the tables or a migration was left halfway,
// and with E_STORE_FAILED if the database cannot be opened. Close the store after use.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	return open(ctx, url, o, sqlstore.Options{})
}

func open(ctx context.Context, url string, o Options, with sqlstore.Options) (*Store, error) {
	if o.MaxConnections < 0 {
		e := host.NewError(host.CodeInvalidValue, "maxConnections: must not be negative", nil)
		e.Details = map[string]any{"field": "maxConnections"}
		return nil, e
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		// Not the error itself: it may show the password.
		return nil, host.NewError(host.CodeStoreFailed, "its URL cannot be read", nil)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, config.ConnectTimeout)
		defer cancel()
		return prepare(ctx, c)
	}))
	n := o.MaxConnections
	if n == 0 {
		n = maxConnections
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	s, err := sqlstore.Open(ctx, db, db, &dialect, with)
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}

// prepare has a connection look rows up by indexes, as every statement of a store can: without statistics, as of tables
// that have just grown, the planner would read them whole. And the server ends a transaction of a client that has gone
// without a word, which would keep others from its session.
func prepare(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, "SET enable_seqscan = off; SET enable_bitmapscan = off;"+
		"SELECT set_config('idle_in_transaction_session_timeout', '1min', false)"+
		" WHERE current_setting('idle_in_transaction_session_timeout') = '0'")
	return err
}

var dialect = sqlstore.Dialect{
	Name:     "PostgreSQL",
	Numbered: true,
	Alone:    true,
	Snapshot: &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
	Writing:  &sql.TxOptions{Isolation: sql.LevelReadCommitted},
	Lock:     " FOR UPDATE",
	Guard:    "SELECT pg_advisory_xact_lock(8391739299115004517)", // "turncore"
	Tables: `SELECT COUNT(*) FROM information_schema.tables
WHERE table_schema = current_schema() AND table_name LIKE 'turncore\_%'`,
	MaxID:    maxID,
	Reason:   reason,
	Again:    again,
	Broken:   broken,
	Answered: answered,
}

// maxID is how many bytes an id may have: an entry of an index has at most 2704, and some have two ids.
const maxID = 1024

// Package sqlite keeps conversations in an SQLite database, by modernc.org/sqlite: without cgo. It is a module of its
// own.
//
//	s, err := sqlite.Open(ctx, "conversations.db", sqlite.Options{})
//	if err != nil { … }
//	defer s.Close()
//	runner, err := turns.New(ctx, turns.Config{Store: s, …})
//
// The npm package's turncore/stores/sqlite opens the same files.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/internal/sqlstore"
	driver "modernc.org/sqlite"
)

// Store keeps conversations in a file. It is a store.Sessions, a store.Appender and a store.Journal. Its methods may be
// called from many goroutines, and several processes of one machine may use a file.
//
// Commits and appends that wait while a transaction runs share the next one, in which each succeeds or fails by itself.
// What has returned is on the disk.
type Store struct{ *sqlstore.Store }

var (
	_ store.Sessions = (*Store)(nil)
	_ store.Appender = (*Store)(nil)
	_ store.Journal  = (*Store)(nil)
)

// Options of a store.
type Options struct {
	// BusyTimeout is how long a call waits for other processes that write, 5 seconds if it is 0. Then the call fails with
	// E_STORE_FAILED, and nothing of it is stored. It must not be negative.
	BusyTimeout time.Duration
	// ReadOnly opens a file that is there already, and every call that would change it fails with E_STORE_FAILED.
	ReadOnly bool
}

// busyTimeout is how long a call waits where nothing else is given.
const busyTimeout = 5 * time.Second

// Open opens a database file, makes it if need be, for its owner only, and brings its schema up to date. It fails with
// E_STORE_VERSION if a later version of the library has written the file or a migration was left halfway, and with
// E_STORE_FAILED if the database cannot be opened. Close the store after use.
//
// path is that of a file: a name such as ":memory:" or a URI such as "file::memory:" is an E_INVALID_VALUE, and so is a
// bad option. [store.NewInMemory] keeps conversations in memory.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	return open(ctx, path, o, sqlstore.Options{})
}

// open opens a file with further pragmas for the connection that writes.
func open(ctx context.Context, path string, o Options, with sqlstore.Options, pragmas ...string) (*Store, error) {
	if err := check(path, o); err != nil {
		return nil, err
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = busyTimeout
	}
	with.ReadOnly, with.Wait = o.ReadOnly, o.BusyTimeout
	name, err := nameOf(path, o)
	if err != nil {
		return nil, err
	}
	read, err := connect(name, o, "query_only(1)")
	if err != nil {
		return nil, err
	}
	read.SetMaxOpenConns(max(4, runtime.NumCPU()))
	read.SetMaxIdleConns(max(4, runtime.NumCPU()))
	if !o.ReadOnly {
		name.RawQuery = "_txlock=immediate&"
		pragmas = append([]string{"journal_mode(WAL)", "synchronous(FULL)"}, pragmas...)
	}
	write, err := connect(name, o, pragmas...)
	if err != nil {
		return nil, errors.Join(err, read.Close())
	}
	write.SetMaxOpenConns(1)
	s, err := sqlstore.Open(ctx, read, write, &dialect, with)
	if err != nil {
		return nil, err
	}
	// While a file is opened SQLite waits for other processes, and looks for their end every 100 ms. Then the store does.
	if _, err := write.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return nil, errors.Join(host.NewError(host.CodeStoreFailed, "it cannot be opened", err), s.Close())
	}
	return &Store{s}, nil
}

// check refuses paths that name no file, and bad options.
func check(path string, o Options) error {
	field, why := "path", ""
	switch {
	case path == "":
		why = "must not be empty"
	case path == ":memory:":
		why = "is a database in memory: use store.NewInMemory instead"
	case strings.HasPrefix(path, "file:"):
		why = "is a URI: give the file's path, or use store.NewInMemory for a store in memory"
	case o.BusyTimeout < 0:
		field, why = "busyTimeout", "must not be negative"
	default:
		return nil
	}
	e := host.NewError(host.CodeInvalidValue, field+": "+why, nil)
	e.Details = map[string]any{"field": field}
	return e
}

// nameOf is the URI of a file, which it makes if need be, up to the query.
func nameOf(path string, o Options) (*url.URL, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, host.NewError(host.CodeStoreFailed, "it cannot be opened", err)
	}
	flags := os.O_RDWR | os.O_CREATE
	if o.ReadOnly {
		flags = os.O_RDONLY
	}
	file, err := os.OpenFile(absolute, flags, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return nil, host.NewError(host.CodeStoreFailed, "it cannot be opened: "+err.Error(), err)
	}
	slashed := filepath.ToSlash(absolute)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // as that of a Windows drive
	}
	return &url.URL{Scheme: "file", Path: slashed, ForceQuery: true}, nil
}

// connect prepares connections to a file.
func connect(file *url.URL, o Options, pragmas ...string) (*sql.DB, error) {
	query := url.Values{
		"_busy_timeout": {strconv.FormatInt(o.BusyTimeout.Milliseconds(), 10)},
		"_pragma":       append([]string{"cell_size_check(1)"}, pragmas...),
	}
	if o.ReadOnly {
		query.Set("mode", "ro")
	}
	connector, err := driver.NewConnector(file.String() + query.Encode())
	if err != nil {
		return nil, host.NewError(host.CodeStoreFailed, "it cannot be opened", err)
	}
	return sql.OpenDB(connector), nil
}

package sqlite

import (
	"errors"

	"github.com/turncore/turncore/host/store/internal/sqlstore"
	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

var dialect = sqlstore.Dialect{
	Name:   "SQLite",
	Tables: `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name LIKE 'turncore\_%' ESCAPE '\'`,
	Reason: reason,
	Again:  func(error) bool { return false },
	Busy:   func(err error) bool { return result(err) == lib.SQLITE_BUSY },
}

// reasons by the primary codes of SQLite's results.
var reasons = map[int]string{
	lib.SQLITE_BUSY: "it is locked by another process", lib.SQLITE_LOCKED: "it is locked",
	lib.SQLITE_FULL: "it is full", lib.SQLITE_READONLY: "it is read-only", lib.SQLITE_PERM: "access is denied",
	lib.SQLITE_IOERR: "its file cannot be read or written", lib.SQLITE_CANTOPEN: "its file cannot be opened",
	lib.SQLITE_CORRUPT: "its file is damaged", lib.SQLITE_NOTADB: "its file is no SQLite database",
	lib.SQLITE_TOOBIG: "a record or a part is too large", lib.SQLITE_NOMEM: "there is too little memory",
	lib.SQLITE_PROTOCOL: "it is locked by other processes",
}

func reason(err error) string { return reasons[result(err)] }

// result is the primary code of SQLite's result, 0 for an error that is none.
func result(err error) int {
	var e *driver.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

package sqlstore

import (
	"context"
	"database/sql"
	"strings"
)

// Dialect is what a database needs to be told differently.
type Dialect struct {
	// Name is the database's name in errors, such as "SQLite".
	Name string
	// Numbered says that statements take $1, $2, … and that types have the names of standard SQL.
	Numbered bool
	// Alone says that transactions run side by side. Otherwise those that wait while one runs share the next.
	Alone bool
	// Snapshot are the options of a transaction that reads one state of the database; nil if every transaction does.
	Snapshot *sql.TxOptions
	// Writing are the options of a transaction that writes.
	Writing *sql.TxOptions
	// Lock is appended to a statement that reads a session to be written, so that no other transaction writes it.
	Lock string
	// Guard begins a transaction that makes or migrates the schema, so that no other does; "" if each keeps out others.
	Guard string
	// Tables is a statement that counts the tables whose names begin with turncore_.
	Tables string
	// MaxID is how many bytes an id of a record or of bytes may have; 0 for no bound.
	MaxID int
	// Reason says in a few words what is wrong, such as "it is locked"; "" if it does not know the error.
	Reason func(err error) string
	// Again says that a transaction that failed with the error may succeed if it is tried again.
	Again func(err error) bool
	// Answered says that the database has refused a commit, which then has stored nothing. It matters for those whose
	// transactions run side by side.
	Answered func(err error) bool
}

// types of PostgreSQL by those of the schema.
var types = strings.NewReplacer(
	"INTEGER PRIMARY KEY AUTOINCREMENT", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
	"INTEGER", "BIGINT", "BLOB", "BYTEA",
)

// say is a statement as the database takes it.
func (d *Dialect) say(text string) string {
	if !d.Numbered {
		return text
	}
	return types.Replace(numbered(text))
}

// prepare prepares all statements.
func (d *Dialect) prepare(ctx context.Context, db *sql.DB) (map[string]*sql.Stmt, error) {
	prepared := make(map[string]*sql.Stmt)
	list := append(Statements(), Statement{"lockSession", textOf("findSession") + d.Lock})
	for _, s := range list {
		statement, err := db.PrepareContext(ctx, d.say(s.Text))
		if err != nil {
			closeAll(prepared)
			return nil, err
		}
		prepared[s.Name] = statement
	}
	return prepared, nil
}

// textOf is the text of a statement.
func textOf(name string) string {
	for _, s := range Statements() {
		if s.Name == name {
			return s.Text
		}
	}
	panic("no statement " + name)
}

func closeAll(prepared map[string]*sql.Stmt) {
	for _, s := range prepared {
		_ = s.Close() // the database is closed with them
	}
}

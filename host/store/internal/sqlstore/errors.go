package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/turncore/turncore/host"
)

// invalidRecord is the E_STORED_RECORD_INVALID of a row of a record.
func invalidRecord(session string, r *recordRow, why string) error {
	return invalidNamed(session, kindName(r.kind), string(r.id), why)
}

// invalidNamed is the E_STORED_RECORD_INVALID of what a session has under a kind and an id.
func invalidNamed(session, kind, id, why string) error {
	e := host.NewError(host.CodeStoredRecordInvalid, fmt.Sprintf("session %q, %s %q: %s", session, kind, id, why), nil)
	e.Details = map[string]any{"session": session, "kind": kind, "id": id}
	return e
}

// unreadable is the E_STORED_RECORD_INVALID of a record whose body cannot be read.
func unreadable(session string, r *recordRow, cause error) error {
	var coded *host.Error
	why := cause.Error()
	if errors.As(cause, &coded) {
		_, why, _ = strings.Cut(coded.Message, ": ")
	}
	e, _ := invalidRecord(session, r, why).(*host.Error)
	e.Cause = cause
	return e
}

// invalidSession is the E_STORED_RECORD_INVALID of a session as a whole.
func invalidSession(session, why string) error {
	e := host.NewError(host.CodeStoredRecordInvalid, fmt.Sprintf("session %q: %s", session, why), nil)
	e.Details = map[string]any{"session": session}
	return e
}

// invalidBytes is the E_STORED_RECORD_INVALID of bytes.
func invalidBytes(session, id, why string) error {
	return invalidNamed(session, "bytes", id, why)
}

// invalidInScope is the E_STORED_RECORD_INVALID of a value, or of a version of an artifact, of a scope.
func invalidInScope(session, kind string, scope, name []byte, why string) error {
	if len(scope) == 0 {
		return invalidNamed(session, kind, string(name), why)
	}
	text := fmt.Sprintf("session %q, scope %q, %s %q: %s", session, scope, kind, name, why)
	e := host.NewError(host.CodeStoredRecordInvalid, text, nil)
	e.Details = map[string]any{"session": session, "scope": string(scope), "kind": kind, "id": string(name)}
	return e
}

// invalidJournal is the E_STORED_RECORD_INVALID of a journal.
func invalidJournal(turn, why string) error {
	e := host.NewError(host.CodeStoredRecordInvalid, fmt.Sprintf("turn %q: %s", turn, why), nil)
	e.Details = map[string]any{"turn": turn}
	return e
}

// invalidEntry is the E_STORED_RECORD_INVALID of an entry of a journal.
func invalidEntry(turn string, entry int64, why string) error {
	e := host.NewError(host.CodeStoredRecordInvalid, fmt.Sprintf("turn %q, entry %d: %s", turn, entry, why), nil)
	e.Details = map[string]any{"turn": turn, "entry": entry}
	return e
}

// checkTurn returns the E_RECORD_UNSTORABLE of a turn's name that the database does not take.
func (s *Store) checkTurn(turn string) error {
	if s.d.MaxID == 0 || len(turn) <= s.d.MaxID {
		return nil
	}
	why := fmt.Sprintf("its name has %d bytes, and %s takes %d", len(turn), s.d.Name, s.d.MaxID)
	e := host.NewError(host.CodeRecordUnstorable, fmt.Sprintf("turn %.64q: %s", turn, why), nil)
	e.Details = map[string]any{"turn": turn}
	return e
}

// tooLong is the E_RECORD_UNSTORABLE of an id that the database does not take.
func (s *Store) tooLong(session, kind, id string) error {
	why := fmt.Sprintf("it has %d bytes, and %s takes %d", len(id), s.d.Name, s.d.MaxID)
	e := host.NewError(host.CodeRecordUnstorable, fmt.Sprintf("session %q, %s %.64q, id: %s", session, kind, id, why), nil)
	e.Details = map[string]any{"session": session, "kind": kind, "id": id, "field": "id"}
	return e
}

// uncertainError is the failure of the end of a transaction: what it wrote may be stored.
type uncertainError struct{ error }

// Unwrap returns the database's error.
func (e *uncertainError) Unwrap() error { return e.error }

// failure is the error of a call about a session, "" for none. The database's own becomes an E_STORE_FAILED.
func (s *Store) failure(ctx context.Context, session string, err error) error {
	var coded *host.Error
	var uncertain *uncertainError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &coded):
		return err
	case ctx.Err() != nil && !errors.As(err, &uncertain):
		return ended(ctx, session)
	}
	return failed(session, s.reason(err), err)
}

// ended is the error of a call whose context ended while the database had not answered.
func ended(ctx context.Context, session string) error {
	err := context.Cause(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return failed(session, "it does not answer in time", err)
	}
	return err
}

// reason says what is wrong with the database.
func (s *Store) reason(err error) string {
	var uncertain *uncertainError
	if errors.As(err, &uncertain) && s.d.Alone {
		return "it did not say whether it has stored the commit; under the same key it can be tried again"
	}
	if errors.Is(err, errClosed) || errors.Is(err, sql.ErrConnDone) || err.Error() == "sql: database is closed" {
		return "it is closed"
	}
	if why := s.d.Reason(err); why != "" {
		return why
	}
	return err.Error()
}

// errClosed is the failure of a store that has been closed.
var errClosed = errors.New("the store is closed")

// failed is an E_STORE_FAILED.
func failed(session, why string, cause error) error {
	detail := why
	details := map[string]any{"reason": why}
	if session != "" {
		detail = fmt.Sprintf("session %q: %s", session, why)
		details["session"] = session
	}
	e := host.NewError(host.CodeStoreFailed, detail, cause)
	e.Details = details
	return e
}

// wrongVersion is an E_STORE_VERSION.
func wrongVersion(why string, cause error) error {
	return host.NewError(host.CodeStoreVersion, why, cause)
}

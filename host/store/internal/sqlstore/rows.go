package sqlstore

import (
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// scanner is a *sql.Row or *sql.Rows.
type scanner interface{ Scan(to ...any) error }

// sessionRow is a row of turncore_sessions.
type sessionRow struct {
	number            int64
	id                []byte
	revision, settled int64
	newest            sql.NullInt64
	created           int64
	title             []byte
	messages, records int64
	digest, keys      int64
	events, appended  int64
	base, cut         int64
	sum               int64
}

func (r *sessionRow) scan(from scanner) error {
	err := from.Scan(
		&r.number, &r.id, &r.revision, &r.settled, &r.newest, &r.created, &r.title, &r.messages, &r.records, &r.digest, &r.keys,
		&r.events, &r.appended, &r.base, &r.cut, &r.sum,
	)
	if r.title == nil {
		r.title = []byte{} // a driver's empty BLOB; as nil it would be written as NULL
	}
	return err
}

func (r *sessionRow) sumUp() int64 {
	var newest any
	if r.newest.Valid {
		newest = r.newest.Int64
	}
	return sum(
		r.id, r.revision, r.settled, newest, r.created, r.title, r.messages, r.records, r.digest, r.keys,
		r.events, r.appended, r.base, r.cut,
	)
}

func (r *sessionRow) check() error {
	if r.sum != r.sumUp() {
		return invalidSession(string(r.id), "its checksum is wrong")
	}
	return nil
}

// at is the revision as text.
func (r *sessionRow) at() string { return revisionText(r.number, r.revision) }

func (r *sessionRow) session() store.Session {
	return store.Session{
		ID: string(r.id), Title: string(r.title), Revision: r.at(), Messages: int(r.messages),
		CreatedAt: milliseconds(r.created), UpdatedAt: milliseconds(r.revision),
	}
}

// add counts the sum of a record in.
func (r *sessionRow) add(sum int64) { r.digest = (r.digest + sum) & 0xffffffff }

// remove counts the sum of a record out.
func (r *sessionRow) remove(sum int64) { r.digest = (r.digest - sum) & 0xffffffff }

// milliseconds is a time of the database, to the millisecond.
func milliseconds(micros int64) time.Time {
	return time.UnixMicro(micros).UTC().Truncate(time.Millisecond)
}

func revisionText(number, revision int64) string {
	return strconv.FormatInt(number, 10) + "." + strconv.FormatInt(revision, 10)
}

// readRevision reads what revisionText has written, or [store.NoRevision].
func readRevision(text string) (number, revision int64, ok bool) {
	if text == store.NoRevision {
		return 0, 0, true
	}
	a, b, found := strings.Cut(text, ".")
	number, err := strconv.ParseInt(a, 10, 64)
	if err != nil || !found {
		return 0, 0, false
	}
	revision, err = strconv.ParseInt(b, 10, 64)
	return number, revision, err == nil
}

// known reads a revision of the session. ok is false for one that it never had.
func (r *sessionRow) known(text string) (revision int64, ok bool) {
	number, revision, ok := readRevision(text)
	if !ok || number == 0 {
		return 0, text == store.NoRevision
	}
	return revision, number == r.number && revision >= r.created && revision <= r.revision
}

// recordRow is a row of turncore_records.
type recordRow struct {
	kind                  int64
	id                    []byte
	place, added, changed int64
	body                  []byte
	sum                   int64
	shared                bool // it is a row of the session's base
}

func (r *recordRow) scan(from scanner) error {
	return from.Scan(&r.kind, &r.id, &r.place, &r.added, &r.changed, &r.body, &r.sum)
}

func (r *recordRow) sumUp() int64 { return sum(r.kind, r.id, r.place, r.added, r.changed, r.body) }

func (r *recordRow) check(session string) error {
	if r.sum != r.sumUp() {
		return invalidRecord(session, r, "its checksum is wrong")
	}
	return nil
}

// keyRow is a row of turncore_keys.
type keyRow struct {
	key, turn     []byte
	revision, sum int64
}

func (r *keyRow) scan(from scanner) error { return from.Scan(&r.key, &r.turn, &r.revision, &r.sum) }

func (r *keyRow) sumUp() int64 { return sum(r.key, r.turn, r.revision) }

// bytesRow is a row of turncore_bytes.
type bytesRow struct {
	id                        []byte
	content, size, added, sum int64
}

func (r *bytesRow) scan(from scanner) error {
	return from.Scan(&r.id, &r.content, &r.size, &r.added, &r.sum)
}

func (r *bytesRow) sumUp() int64 { return sum(r.id, r.content, r.size, r.added) }

func (r *bytesRow) check(session string) error {
	if r.sum != r.sumUp() {
		return invalidBytes(session, string(r.id), "their checksum is wrong")
	}
	return nil
}

// list reads rows to the end and closes them.
func list[R any](rows *sql.Rows, err error, scan func(*R, scanner) error) (all []R, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r R
		if err := scan(&r, rows); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// kindName is the name of a kind's number, as errors have it.
func kindName(kind int64) string {
	if kind >= 0 && kind < record.Kinds {
		return record.Kind(kind).String()
	}
	return "kind " + strconv.FormatInt(kind, 10)
}

// blob is bytes that are not NULL: a driver may have none for an empty BLOB.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// owner is the number of the session whose scope it is: 0 of one that sessions share.
func (r *sessionRow) owner(scope string) int64 {
	if scope == "" {
		return r.number
	}
	return 0
}

// eventRow is a row of turncore_events.
type eventRow struct {
	revision int64
	id, body []byte
	sum      int64
}

func (r *eventRow) scan(from scanner) error {
	err := from.Scan(&r.revision, &r.id, &r.body, &r.sum)
	r.body = blob(r.body)
	return err
}

func (r *eventRow) sumUp() int64 { return sum(r.revision, r.id, r.body) }

func (r *eventRow) check(session string) error {
	if r.sum != r.sumUp() {
		return invalidNamed(session, "event", string(r.id), "its checksum is wrong")
	}
	return nil
}

// stateRow is a row of turncore_state.
type stateRow struct {
	scope, name, value []byte
	sum                int64
}

func (r *stateRow) scan(from scanner) error {
	err := from.Scan(&r.scope, &r.name, &r.value, &r.sum)
	r.value = blob(r.value)
	return err
}

func (r *stateRow) sumUp() int64 { return sum(r.scope, r.name, r.value) }

func (r *stateRow) check(session string) error {
	if r.sum != r.sumUp() {
		return invalidInScope(session, "state", r.scope, r.name, "its checksum is wrong")
	}
	return nil
}

// artifactRow is a row of turncore_artifacts.
type artifactRow struct {
	scope, name            []byte
	version, content, size int64
	body                   []byte
	sum                    int64
}

func (r *artifactRow) scan(from scanner) error {
	err := from.Scan(&r.scope, &r.name, &r.version, &r.content, &r.size, &r.body, &r.sum)
	r.body = blob(r.body)
	return err
}

func (r *artifactRow) sumUp() int64 {
	return sum(r.scope, r.name, r.version, r.content, r.size, r.body)
}

func (r *artifactRow) check(session string) error {
	if r.sum != r.sumUp() {
		return invalidInScope(session, "artifact", r.scope, r.name, "its checksum is wrong")
	}
	return nil
}

// journalRow is a row of turncore_journals.
type journalRow struct {
	turn               []byte
	epoch, first, next int64
	checkpoint         []byte // nil if first is 0
	sum                int64
}

func (r *journalRow) scan(from scanner) error {
	err := from.Scan(&r.turn, &r.epoch, &r.first, &r.next, &r.checkpoint, &r.sum)
	if r.first > 0 {
		r.checkpoint = blob(r.checkpoint)
	}
	return err
}

func (r *journalRow) sumUp() int64 { return sum(r.turn, r.epoch, r.first, r.next, r.checkpoint) }

func (r *journalRow) check() error {
	if r.sum != r.sumUp() {
		return invalidJournal(string(r.turn), "the checksum of its journal is wrong")
	}
	return nil
}

// entryRow is a row of turncore_entries.
type entryRow struct {
	turn   []byte
	number int64
	body   []byte
	sum    int64
}

func (r *entryRow) scan(from scanner) error {
	err := from.Scan(&r.turn, &r.number, &r.body, &r.sum)
	r.body = blob(r.body)
	return err
}

func (r *entryRow) sumUp() int64 { return sum(r.turn, r.number, r.body) }

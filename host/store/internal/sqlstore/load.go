package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, session, after string) (*store.Conversation, error) {
	if err := checkSession(session); err != nil {
		return nil, err
	}
	c := &store.Conversation{Revision: store.NoRevision}
	var rows []recordRow
	err := s.view(ctx, session, func(t *tx) error {
		r, err := t.session("findSession", session)
		if err != nil {
			return err
		}
		if r == nil {
			if after == store.NoRevision {
				c.After = after
			}
			return nil
		}
		c.Revision = r.at()
		known, ok := r.known(after)
		if ok = ok && known >= r.settled; ok {
			c.After = after
		}
		if ok && known > 0 {
			rows, err = t.added(r, known)
		} else {
			rows, err = t.all(r)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	open := store.Opened(s, session)
	for i := range rows {
		if err := add(c, session, &rows[i], open); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// all returns the records of a session.
func (t *tx) all(r *sessionRow) ([]recordRow, error) {
	all, err := t.records(r)
	if err != nil {
		return nil, err
	}
	found := sessionRow{}
	for i := range all {
		found.add(all[i].sum)
	}
	if int64(len(all)) != r.records {
		return nil, invalidSession(string(r.id), fmt.Sprintf("it has %d records, not %d", len(all), r.records))
	}
	// A record whose own checksum is wrong has a name to tell.
	for i := range all {
		if err := all[i].check(string(r.id)); err != nil {
			return nil, err
		}
	}
	if found.digest != r.digest {
		return nil, invalidSession(string(r.id), "the checksum of its records is wrong")
	}
	return all, nil
}

// added returns the instructions of a session, and the records that were added after a revision.
func (t *tx) added(r *sessionRow, after int64) ([]recordRow, error) {
	all, err := t.recordsOfKind(r, int64(record.KindInstruction))
	if err == nil && after < r.revision {
		// What a fork shares was added before any revision of its own.
		var later []recordRow
		rows, failed := t.rows("recordsAfter", r.number, after)
		later, err = list(rows, failed, (*recordRow).scan)
		all = append(all, later...)
	}
	for i := range all {
		if err == nil {
			err = all[i].check(string(r.id))
		}
	}
	return all, err
}

// add adds the record of a row to a conversation.
func add(c *store.Conversation, session string, row *recordRow, open record.Opener) error {
	if row.kind < 0 || row.kind >= record.Kinds {
		return invalidRecord(session, row, "it is no kind of record")
	}
	r, err := record.Unmarshal(record.Kind(row.kind), row.body, open)
	if err != nil {
		return unreadable(session, row, err)
	}
	if key := record.Key(r); row.kind != int64(record.KindInstruction) && key != string(row.id) {
		return invalidRecord(session, row, fmt.Sprintf("its body is that of %q", key))
	}
	c.Add(r)
	return nil
}

// Newest implements store.Newest. Deleting a record does not move the time back.
func (s *Store) Newest(ctx context.Context, session string) (at time.Time, err error) {
	if err := checkSession(session); err != nil {
		return at, err
	}
	err = s.view(ctx, session, func(t *tx) error {
		r, err := t.session("findSession", session)
		if err == nil && r != nil && r.newest.Valid {
			at = time.UnixMilli(r.newest.Int64).UTC()
		}
		return err
	})
	return at, err
}

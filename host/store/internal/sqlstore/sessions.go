package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/turncore/turncore/host/store"
)

// defaultPage is how many sessions a page has where no limit is given.
const defaultPage = 100

// List implements store.Sessions.
func (s *Store) List(ctx context.Context, cursor string, limit int) (page []store.Session, next string, err error) {
	return s.ListOf(ctx, "", cursor, limit)
}

// ListOf implements store.Sessions. A page costs what there are of sessions with the prefix.
func (s *Store) ListOf(ctx context.Context, prefix, cursor string, limit int) (page []store.Session, next string, err error) {
	if limit <= 0 {
		limit = defaultPage
	}
	number, revision := int64(math.MaxInt64), int64(math.MaxInt64)
	if cursor != "" {
		var ok bool
		if number, revision, ok = readRevision(cursor); !ok || number == 0 {
			return nil, "", store.InvalidCursor()
		}
	}
	statement, args := "listSessions", []any{revision, number, int64(limit) + 1}
	if prefix != "" {
		behind := []byte(prefix)
		if behind[len(behind)-1]++; behind[len(behind)-1] == 0 {
			return nil, "", nil // UTF-8 has no byte 255
		}
		statement, args = "listSessionsOf", append([]any{[]byte(prefix), behind}, args...)
	}
	err = s.view(ctx, "", func(t *tx) error {
		rows, err := t.rows(statement, args...)
		all, err := list(rows, err, (*sessionRow).scan)
		if err != nil {
			return err
		}
		page, next = nil, ""
		for i := range all {
			if err := all[i].check(); err != nil {
				return err
			}
			if i == limit {
				next = all[i-1].at()
				break
			}
			page = append(page, all[i].session())
		}
		return nil
	})
	return page, next, err
}

// Find implements store.Sessions.
func (s *Store) Find(ctx context.Context, session string) (found *store.Session, err error) {
	if err := checkSession(session); err != nil {
		return nil, err
	}
	err = s.view(ctx, session, func(t *tx) error {
		r, err := t.session("findSession", session)
		if found = nil; r != nil {
			found = new(r.session())
		}
		return err
	})
	return found, err
}

// CountEvents counts the events of a session without reading them; 0 if it is not there.
func (s *Store) CountEvents(ctx context.Context, session string) (n int, err error) {
	if err := checkSession(session); err != nil {
		return 0, err
	}
	err = s.view(ctx, session, func(t *tx) error {
		r, err := t.session("findSession", session)
		if n = 0; r != nil {
			n = int(r.events)
		}
		return err
	})
	return n, err
}

// Fork implements store.Sessions. The sessions share their records until one of them changes them, and the content of
// bytes and artifacts.
func (s *Store) Fork(ctx context.Context, from, to string) error {
	if err := errors.Join(checkSession(from), checkSession(to)); err != nil {
		return err
	}
	return s.update(ctx, from, func(t *tx) error {
		old, err := t.session("lockSession", from)
		switch {
		case err != nil:
			return err
		case old == nil:
			return store.NoSession(from)
		}
		at, err := t.next(old.revision)
		if err != nil {
			return err
		}
		// A session is shared by its forks, and shares nothing itself.
		if old.base != 0 {
			if err := t.separate(old); err != nil {
				return err
			}
			if err := t.set(old); err != nil {
				return err
			}
		}
		r := *old
		r.id, r.created, r.revision, r.keys = []byte(to), at, at, 0
		r.base, r.cut = old.number, old.revision
		if err := t.add(&r); errors.Is(err, sql.ErrNoRows) {
			return store.SessionExists(to)
		} else if err != nil {
			return err
		}
		for _, statement := range []string{"forkBytes", "forkEvents", "forkState", "forkArtifacts"} {
			if err := t.exec(statement, r.number, old.number); err != nil {
				return err
			}
		}
		return nil
	})
}

// ForkAt implements store.Appender. The sessions share the content of artifacts.
func (s *Store) ForkAt(ctx context.Context, from, to string, at store.ForkPoint) error {
	if err := errors.Join(checkSession(from), checkSession(to), at.Validate()); err != nil {
		return err
	}
	return s.update(ctx, from, func(t *tx) error {
		old, err := t.session("lockSession", from)
		if err != nil {
			return err
		}
		revision, there, err := t.eventAt(old, at.Revision)
		if err != nil {
			return err
		}
		if !there {
			return store.NoSession(from)
		}
		created, err := t.next(old.revision)
		if err != nil {
			return err
		}
		r := sessionRow{id: []byte(to), revision: created, created: created, title: []byte{}, appended: revision}
		if r.events, _, err = t.number("countEventsTo", old.number, revision); err != nil {
			return err
		}
		if err := t.add(&r); errors.Is(err, sql.ErrNoRows) {
			return store.SessionExists(to)
		} else if err != nil {
			return err
		}
		if err := t.exec("forkEventsTo", r.number, old.number, revision); err != nil {
			return err
		}
		f := &appending{tx: t, id: to, row: &r}
		for _, v := range at.State {
			v.Scope = ""
			if err := f.change(&v); err != nil {
				return err
			}
		}
		return t.forkVersions(old, &r, at.Artifacts)
	})
}

// eventAt finds the event of a revision. A session that is not there, nil, has none.
func (t *tx) eventAt(r *sessionRow, text string) (revision int64, there bool, err error) {
	number, revision, ok := readRevision(text)
	if r == nil || !ok || number != r.number {
		return 0, false, nil
	}
	rows, err := t.rows("eventsAfter", r.number, revision-1, int64(1))
	found, err := list(rows, err, (*eventRow).scan)
	return revision, len(found) > 0 && found[0].revision == revision, err
}

// forkVersions gives a fork the first versions of artifacts, as many as versions says.
func (t *tx) forkVersions(from, to *sessionRow, versions map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		n := int64(versions[name])
		if n == 0 {
			continue
		}
		last, err := t.artifact(string(from.id), "findArtifact", from.number, []byte{}, []byte(name), n-1)
		if err == nil && last == nil {
			err = store.NoSession(string(from.id))
		}
		if err == nil {
			err = t.exec("forkVersions", to.number, from.number, []byte{}, []byte(name), n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Delete implements store.Sessions.
func (s *Store) Delete(ctx context.Context, session string) error {
	if err := checkSession(session); err != nil {
		return err
	}
	return s.update(ctx, session, func(t *tx) error {
		// One that is damaged can be deleted too.
		var r sessionRow
		err := r.scan(t.row("lockSession", []byte(session)))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.separateForks(r.number, 0); err != nil {
			return err
		}
		rows, err := t.rows("allBytes", r.number)
		all, err := list(rows, err, (*bytesRow).scan)
		if err != nil {
			return err
		}
		contents, err := column[int64](t, "contentsOfArtifacts", r.number)
		if err != nil {
			return err
		}
		for i := range all {
			contents = append(contents, all[i].content)
		}
		for _, statement := range []string{
			"dropRecords", "dropKeys", "dropAllRefs", "dropAllBytes", "dropEvents", "dropAllState", "dropAllArtifacts", "dropSession",
		} {
			if err := t.exec(statement, r.number); err != nil {
				return err
			}
		}
		slices.Sort(contents)
		for _, number := range slices.Compact(contents) {
			if err := t.dropContent(number); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetTitle implements store.Sessions.
func (s *Store) SetTitle(ctx context.Context, session, title string) error {
	if err := checkSession(session); err != nil {
		return err
	}
	return s.update(ctx, session, func(t *tx) error {
		r, err := t.session("lockSession", session)
		switch {
		case err != nil:
			return err
		case r == nil:
			return store.NoSession(session)
		}
		r.title = []byte(title)
		return t.set(r)
	})
}

package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"

	"github.com/turncore/turncore/host/store"
)

// defaultPage is how many sessions a page has where no limit is given.
const defaultPage = 100

// List implements store.Sessions.
func (s *Store) List(ctx context.Context, cursor string, limit int) (page []store.Session, next string, err error) {
	if limit <= 0 {
		limit = defaultPage
	}
	number, revision, ok := readRevision(cursor)
	if !ok {
		number, revision = math.MaxInt64, math.MaxInt64
	}
	err = s.view(ctx, "", func(t *tx) error {
		rows, err := t.rows("listSessions", revision, number, int64(limit)+1)
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

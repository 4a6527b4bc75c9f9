package sqlstore

import (
	"context"
	"time"

	"github.com/turncore/turncore/host/internal/ledger"
	"github.com/turncore/turncore/host/record"
)

const (
	// unused is how long bytes stay to which no record refers: a turn stores them before the record that has them.
	unused = time.Hour
	// maxCollect is how long a commit's collecting may take: where the database does not answer, it holds a connection.
	maxCollect = time.Minute
	// sweep is how many sessions or contents are looked at together.
	sweep = 100
)

// Collect deletes the bytes that were put more than an hour ago and to which no record refers, and what programs left
// that ended while they put bytes, and returns how many those were. It forgets the keys of turns that have committed
// nothing for a week and have no journal, too: those of processes that ended without a word. Commits call it once an
// hour.
func (s *Store) Collect(ctx context.Context) (deleted int, err error) {
	now := s.now()
	before := now.Add(-unused).UnixMicro()
	for {
		var sessions [][]byte
		if err := s.view(ctx, "", func(t *tx) (err error) {
			sessions, err = column[[]byte](t, "sessionsWithUnusedBytes", before, int64(sweep))
			return err
		}); err != nil {
			return deleted, err
		}
		n := 0
		for _, session := range sessions {
			k, err := s.collectSession(ctx, string(session), before)
			deleted += k
			n += k
			if err != nil {
				return deleted, err
			}
		}
		if n == 0 {
			break
		}
	}
	for {
		n := 0
		if err := s.update(ctx, "", func(t *tx) error {
			n = 0
			contents, err := column[int64](t, "unusedContents", before, int64(sweep))
			for _, number := range contents {
				if err == nil {
					err = t.dropContent(number)
					n++
				}
			}
			return err
		}); err != nil {
			return deleted, err
		}
		deleted += n
		if n == 0 {
			break
		}
	}
	if err := s.forgetOldKeys(ctx, now.Add(-ledger.KeptKeys).UnixMicro()); err != nil {
		return deleted, err
	}
	at := now.UnixMicro()
	err = s.update(ctx, "", func(t *tx) error { return t.exec("writeMeta", "collected", at) })
	s.collected.Store(at)
	return deleted, err
}

// forgetOldKeys forgets the keys of turns that have committed last before a revision and cannot be gone on with.
func (s *Store) forgetOldKeys(ctx context.Context, before int64) error {
	for {
		var sessions [][]byte
		if err := s.view(ctx, "", func(t *tx) (err error) {
			sessions, err = column[[]byte](t, "sessionsWithOldKeys", before, before, int64(sweep))
			return err
		}); err != nil || len(sessions) == 0 {
			return err
		}
		for _, session := range sessions {
			if err := s.update(ctx, string(session), func(t *tx) error {
				r, err := t.session("lockSession", string(session))
				if err != nil || r == nil {
					return err
				}
				turns, err := column[string](t, "turnsWithOldKeys", r.number, before, before)
				if err != nil {
					return err
				}
				changed, err := t.forget(r, turns)
				if err == nil && changed {
					err = t.set(r)
				}
				return err
			}); err != nil {
				return err
			}
		}
	}
}

// column reads the only column of rows.
func column[V any](t *tx, statement string, args ...any) ([]V, error) {
	rows, err := t.rows(statement, args...)
	return list(rows, err, func(v *V, from scanner) error { return from.Scan(v) })
}

// collectSession deletes the bytes of a session from before a time to which no record refers. It asks the records
// themselves: what is damaged deletes nothing.
func (s *Store) collectSession(ctx context.Context, session string, before int64) (deleted int, err error) {
	err = s.update(ctx, session, func(t *tx) error {
		deleted = 0
		r, err := t.session("lockSession", session)
		if err != nil || r == nil {
			return err
		}
		rows, err := t.all(r)
		if err != nil {
			return err
		}
		used := make(map[string]bool)
		for i := range rows {
			v, err := record.Unmarshal(record.Kind(rows[i].kind), rows[i].body, nil)
			if err != nil {
				return unreadable(session, &rows[i], err)
			}
			for _, id := range record.BytesOf(v) {
				used[id] = true
			}
		}
		found, err := t.rows("allBytes", r.number)
		all, err := list(found, err, (*bytesRow).scan)
		if err != nil {
			return err
		}
		for i := range all {
			b := &all[i]
			if err := b.check(session); err != nil {
				return err
			}
			if b.added >= before || used[string(b.id)] {
				continue
			}
			if err := t.exec("dropBytes", r.number, b.id); err != nil {
				return err
			}
			if err := t.dropContent(b.content); err != nil {
				return err
			}
			deleted++
		}
		return nil
	})
	return deleted, err
}

// collectAtTimes collects in the background where nobody has done so for an hour.
func (s *Store) collectAtTimes() {
	at, now := s.collected.Load(), s.now().UnixMicro()
	if now-at < unused.Microseconds() || !s.collected.CompareAndSwap(at, now) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return
	}
	s.collecting.Go(func() {
		ctx, cancel := context.WithTimeout(s.open, maxCollect)
		defer cancel()
		_, _ = s.Collect(ctx) // the next time goes on, and tells again
	})
}

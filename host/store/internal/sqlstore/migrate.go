package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// migrate makes the database have the last of the versions of the schema, in one transaction. It refuses one that has a
// later version, or tables without one.
func (s *Store) migrate(ctx context.Context, versions [][]string, readOnly bool) error {
	last := int64(len(versions))
	at, err := s.current(ctx, last)
	switch {
	case err != nil || at == last:
		return err
	case readOnly:
		return wrongVersion(fmt.Sprintf("the schema has version %d, and to be read it must have version %d", at, last), nil)
	}
	b, err := s.write.BeginTx(ctx, s.d.Writing)
	if err != nil {
		return err
	}
	if err := s.upgrade(ctx, b, versions); err != nil {
		_ = b.Rollback() // the first error says more
		return err
	}
	return b.Commit()
}

// current is the version that the database has, at most the last.
func (s *Store) current(ctx context.Context, last int64) (at int64, err error) {
	b, err := s.read.BeginTx(ctx, s.d.Snapshot)
	if err != nil {
		return 0, err
	}
	defer b.Rollback() // it has written nothing
	return s.version(ctx, b, last)
}

// upgrade does what is left of the versions, all if other processes have done nothing meanwhile.
func (s *Store) upgrade(ctx context.Context, b *sql.Tx, versions [][]string) error {
	if s.d.Guard != "" {
		if _, err := b.ExecContext(ctx, s.d.Guard); err != nil {
			return err
		}
	}
	last := int64(len(versions))
	at, err := s.version(ctx, b, last)
	if err != nil || at == last {
		return err
	}
	for _, version := range versions[at:] {
		for _, statement := range version {
			if _, err := b.ExecContext(ctx, s.d.say(statement)); err != nil {
				return err
			}
		}
	}
	_, err = b.ExecContext(ctx, s.d.say(textOf("writeMeta")), "schema", last)
	return err
}

// version is the version of the database's schema, 0 if it has none. It refuses those after the last.
func (s *Store) version(ctx context.Context, b *sql.Tx, last int64) (version int64, err error) {
	var tables int64
	if err := b.QueryRowContext(ctx, s.d.Tables).Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	err = b.QueryRowContext(ctx, s.d.say(textOf("readMeta")), "schema").Scan(&version)
	switch {
	case errors.Is(err, sql.ErrNoRows), err != nil && ctx.Err() == nil && s.d.Reason(err) == "":
		return 0, wrongVersion("the database has tables of Turncore, but no version of them: it was migrated halfway", err)
	case err != nil:
		return 0, err
	case version < 1:
		return 0, wrongVersion(fmt.Sprintf("the schema has version %d, and there is none before 1", version), nil)
	case version > last:
		return 0, wrongVersion(fmt.Sprintf("the schema has version %d, and this library knows those up to %d", version, last), nil)
	}
	return version, nil
}

// unprepared is the error of statements that the database does not take: it lacks tables or columns.
func (s *Store) unprepared(ctx context.Context, err error) error {
	if ctx.Err() != nil || s.d.Reason(err) != "" {
		return err
	}
	return wrongVersion("the database lacks tables or columns of its schema: it was migrated halfway", err)
}

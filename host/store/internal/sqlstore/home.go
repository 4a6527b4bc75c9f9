package sqlstore

import "github.com/turncore/turncore/host/store"

var _ store.Homed = (*Store)(nil)

// Home implements store.Homed: a store of SQLite or PostgreSQL embeds this one.
func (s *Store) Home() any { return s }

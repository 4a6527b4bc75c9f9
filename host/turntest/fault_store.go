package turntest

import (
	"context"
	"io"
	"reflect"
	"time"

	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
)

// Store returns a store whose methods' calls fail. It can do what s can: it is a store.Newest, Sessions, Appender and
// Journal where s is. Bytes that were opened through one of them are known to the other.
func (f *Fault) Store(s store.Store) store.Store {
	base := &faultyStore{f, s}
	newest, _ := s.(store.Newest)
	listed, isSessions := s.(store.Sessions)
	appender, isAppender := s.(store.Appender)
	journal, isJournal := s.(store.Journal)
	n := &faultyNewest{base, newest}
	l := &faultySessions{n, listed}
	a, j := &faultyAppender{f, appender}, &faultyJournal{f, journal}
	switch {
	case isSessions && isAppender && isJournal:
		return struct {
			*faultySessions
			*faultyAppender
			*faultyJournal
		}{l, a, j}
	case isSessions && isAppender:
		return struct {
			*faultySessions
			*faultyAppender
		}{l, a}
	case isSessions && isJournal:
		return struct {
			*faultySessions
			*faultyJournal
		}{l, j}
	case isSessions:
		return l
	case newest != nil && isAppender && isJournal:
		return struct {
			*faultyNewest
			*faultyAppender
			*faultyJournal
		}{n, a, j}
	case newest != nil && isAppender:
		return struct {
			*faultyNewest
			*faultyAppender
		}{n, a}
	case newest != nil && isJournal:
		return struct {
			*faultyNewest
			*faultyJournal
		}{n, j}
	case newest != nil:
		return n
	case isAppender && isJournal:
		return struct {
			*faultyStore
			*faultyAppender
			*faultyJournal
		}{base, a, j}
	case isAppender:
		return struct {
			*faultyStore
			*faultyAppender
		}{base, a}
	case isJournal:
		return struct {
			*faultyStore
			*faultyJournal
		}{base, j}
	}
	return base
}

// SessionStore returns a store of sessions whose methods' calls fail: [Fault.Store] for package sessions.
func (f *Fault) SessionStore(s sessions.Store) sessions.Store { return f.Store(s).(sessions.Store) }

// faultyStore is a store.Store with a fault.
type faultyStore struct {
	fault *Fault
	store store.Store
}

var _ store.Homed = (*faultyStore)(nil)

// Home implements store.Homed.
func (s *faultyStore) Home() any {
	if h, ok := s.store.(store.Homed); ok {
		return h.Home()
	}
	if reflect.ValueOf(s.store).Comparable() {
		return s.store
	}
	return s
}

// Load implements store.Store.
func (s *faultyStore) Load(ctx context.Context, session, after string) (*store.Conversation, error) {
	if err := s.fault.meet(); err != nil {
		return nil, err
	}
	return s.store.Load(ctx, session, after)
}

// Commit implements store.Store.
func (s *faultyStore) Commit(ctx context.Context, session string, c store.Commit) (string, error) {
	if err := s.fault.meet(); err != nil {
		return "", err
	}
	return s.store.Commit(ctx, session, c)
}

// PutBytes implements store.Store.
func (s *faultyStore) PutBytes(ctx context.Context, session, id string, content io.Reader) error {
	if err := s.fault.meet(); err != nil {
		return err
	}
	return s.store.PutBytes(ctx, session, id, content)
}

// OpenBytes implements store.Store.
func (s *faultyStore) OpenBytes(ctx context.Context, session, id string) (io.ReaderAt, int64, error) {
	if err := s.fault.meet(); err != nil {
		return nil, 0, err
	}
	return s.store.OpenBytes(ctx, session, id)
}

// faultyNewest is a store.Newest with a fault.
type faultyNewest struct {
	*faultyStore
	newest store.Newest
}

// Newest implements store.Newest.
func (s *faultyNewest) Newest(ctx context.Context, session string) (time.Time, error) {
	if err := s.fault.meet(); err != nil {
		return time.Time{}, err
	}
	return s.newest.Newest(ctx, session)
}

// faultySessions is a store.Sessions with a fault.
type faultySessions struct {
	*faultyNewest
	sessions store.Sessions
}

var _ store.Sessions = (*faultySessions)(nil)

// List implements store.Sessions.
func (s *faultySessions) List(ctx context.Context, cursor string, limit int) ([]store.Session, string, error) {
	if err := s.fault.meet(); err != nil {
		return nil, "", err
	}
	return s.sessions.List(ctx, cursor, limit)
}

// ListOf implements store.Sessions.
func (s *faultySessions) ListOf(ctx context.Context, prefix, cursor string, limit int) ([]store.Session, string, error) {
	if err := s.fault.meet(); err != nil {
		return nil, "", err
	}
	return s.sessions.ListOf(ctx, prefix, cursor, limit)
}

// Find implements store.Sessions.
func (s *faultySessions) Find(ctx context.Context, session string) (*store.Session, error) {
	if err := s.fault.meet(); err != nil {
		return nil, err
	}
	return s.sessions.Find(ctx, session)
}

// Fork implements store.Sessions.
func (s *faultySessions) Fork(ctx context.Context, from, to string) error {
	if err := s.fault.meet(); err != nil {
		return err
	}
	return s.sessions.Fork(ctx, from, to)
}

// Delete implements store.Sessions.
func (s *faultySessions) Delete(ctx context.Context, session string) error {
	if err := s.fault.meet(); err != nil {
		return err
	}
	return s.sessions.Delete(ctx, session)
}

// SetTitle implements store.Sessions.
func (s *faultySessions) SetTitle(ctx context.Context, session, title string) error {
	if err := s.fault.meet(); err != nil {
		return err
	}
	return s.sessions.SetTitle(ctx, session, title)
}

// faultyAppender has what a store.Appender adds to a store, with a fault.
type faultyAppender struct {
	fault *Fault
	store store.Appender
}

// Append implements store.Appender.
func (s *faultyAppender) Append(ctx context.Context, session string, a store.Append) (string, error) {
	if err := s.fault.meet(); err != nil {
		return "", err
	}
	return s.store.Append(ctx, session, a)
}

// ForkAt implements store.Appender.
func (s *faultyAppender) ForkAt(ctx context.Context, from, to string, at store.ForkPoint) error {
	if err := s.fault.meet(); err != nil {
		return err
	}
	return s.store.ForkAt(ctx, from, to, at)
}

// Events implements store.Appender.
func (s *faultyAppender) Events(ctx context.Context, session string, q store.EventQuery) ([]store.SessionEvent, error) {
	if err := s.fault.meet(); err != nil {
		return nil, err
	}
	return s.store.Events(ctx, session, q)
}

// State implements store.Appender.
func (s *faultyAppender) State(ctx context.Context, session, scope string) ([]store.StateValue, error) {
	if err := s.fault.meet(); err != nil {
		return nil, err
	}
	return s.store.State(ctx, session, scope)
}

// Artifacts implements store.Appender.
func (s *faultyAppender) Artifacts(ctx context.Context, session, scope string) ([]store.Artifact, error) {
	if err := s.fault.meet(); err != nil {
		return nil, err
	}
	return s.store.Artifacts(ctx, session, scope)
}

// OpenArtifact implements store.Appender.
func (s *faultyAppender) OpenArtifact(ctx context.Context, session, scope, name string, version int) (io.ReaderAt, int64, error) {
	if err := s.fault.meet(); err != nil {
		return nil, 0, err
	}
	return s.store.OpenArtifact(ctx, session, scope, name, version)
}

// faultyJournal has what a store.Journal adds to a store, with a fault.
type faultyJournal struct {
	fault *Fault
	store store.Journal
}

// AppendJournal implements store.Journal.
func (s *faultyJournal) AppendJournal(ctx context.Context, turn string, a store.JournalAppend) error {
	if err := s.fault.meet(); err != nil {
		return err
	}
	return s.store.AppendJournal(ctx, turn, a)
}

// ReadJournal implements store.Journal.
func (s *faultyJournal) ReadJournal(ctx context.Context, turn string, from int64) (*store.JournalPart, error) {
	if err := s.fault.meet(); err != nil {
		return nil, err
	}
	return s.store.ReadJournal(ctx, turn, from)
}

// CompactJournal implements store.Journal.
func (s *faultyJournal) CompactJournal(ctx context.Context, turn string, epoch, before int64, checkpoint []byte) error {
	if err := s.fault.meet(); err != nil {
		return err
	}
	return s.store.CompactJournal(ctx, turn, epoch, before, checkpoint)
}

// DeleteJournal implements store.Journal.
func (s *faultyJournal) DeleteJournal(ctx context.Context, turn string, epoch int64) error {
	if err := s.fault.meet(); err != nil {
		return err
	}
	return s.store.DeleteJournal(ctx, turn, epoch)
}

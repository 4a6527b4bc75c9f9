package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/ledger"
	"github.com/turncore/turncore/host/store"
)

// Store keeps conversations in a folder. It is a store.Sessions, a store.Appender and a store.Journal. Its methods may
// be called from many goroutines.
type Store struct {
	folder string
	lock   *flock.Flock

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	recent   ledger.Listed
	revision uint64 // the last that was used
	meta     meta
	names    map[string]bool  // folders of sessions whose names the disk has
	loaded   []*session       // those whose state is in memory, used last behind
	unread   map[string]error // what is wrong with the sessions whose ids cannot be read, by their folders
	journals map[string]*journal

	scopes sharedScopes
}

// meta is the file that says what the folder is.
type meta struct {
	Format  string `json:"format"`
	Version int    `json:"v"`
	// Floor is a revision that is not earlier than any of the sessions that were deleted.
	Floor uint64 `json:"floor"`
}

// Names in the folder.
const (
	metaName     = "store.json"
	lockName     = "lock"
	sessionsName = "sessions"
	trashName    = "trash"
	sharedName   = "shared" // the log of shared scopes; their artifacts are in artifactsName
	journalsName = "journals"
	format       = "turncore.store"
)

// Open opens a folder, which it makes if need be, for its owner only. It fails with E_STORE_VERSION if a later version
// of the library has written it, and with E_STORE_FAILED if another store has it open or it cannot be written. Close
// the store after use.
func Open(folder string) (*Store, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, failure("", err)
	}
	s := &Store{folder: folder, lock: flock.New(filepath.Join(folder, lockName), flock.SetPermissions(0o600)), sessions: make(map[string]*session)}
	switch locked, err := s.lock.TryLock(); {
	case err != nil:
		return nil, failure("", err)
	case !locked:
		return nil, failed("", "another store has the folder open", nil)
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(failure("", err), s.lock.Unlock())
	}
	return s, nil
}

func (s *Store) open() error {
	if err := s.readMeta(); err != nil {
		return err
	}
	s.revision = s.meta.Floor
	if err := os.RemoveAll(filepath.Join(s.folder, trashName)); err != nil {
		return err
	}
	for _, name := range []string{artifactsName, journalsName} {
		if err := os.MkdirAll(filepath.Join(s.folder, name), 0o700); err != nil {
			return err
		}
	}
	if err := s.scan(); err != nil {
		return err
	}
	return s.openShared()
}

func (s *Store) readMeta() error {
	data, err := os.ReadFile(filepath.Join(s.folder, metaName))
	if errors.Is(err, fs.ErrNotExist) {
		s.meta = meta{Format: format, Version: formVersion}
		return s.writeMeta()
	}
	if err != nil {
		return err
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&s.meta); err != nil || s.meta.Format != format {
		return failed("", metaName+" is not that of a store", err)
	}
	if s.meta.Version > formVersion {
		return host.NewError(host.CodeStoreVersion, fmt.Sprintf("the folder has version %d, this is version %d", s.meta.Version, formVersion), nil)
	}
	return nil
}

// writeMeta writes what the folder is. The caller holds s.mu, or nobody else has s.
func (s *Store) writeMeta() error {
	data, err := json.Marshal(s.meta)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(s.folder, metaName), append(data, '\n'))
}

// scan finds the sessions of the folder.
func (s *Store) scan() error {
	names, err := filepath.Glob(filepath.Join(escaped(s.folder), sessionsName, "*", "*", logName))
	if err != nil {
		return err
	}
	found := make([]*session, len(names))
	errs := make([]error, len(names))
	var all sync.WaitGroup
	limit := make(chan struct{}, 16)
	for i, name := range names {
		limit <- struct{}{}
		all.Go(func() {
			defer func() { <-limit }()
			found[i], errs[i] = readSession(filepath.Dir(name))
		})
	}
	all.Wait()
	s.unread = make(map[string]error)
	for i, err := range errs {
		if errors.Is(err, host.CodeStoredRecordInvalid) {
			s.unread[filepath.Dir(names[i])] = err
			continue
		}
		if err != nil {
			return err
		}
		if f := found[i]; f != nil {
			s.sessions[f.head.ID] = f
			s.recent.Update(f.head.ID, f.summary.Revision)
			s.revision = max(s.revision, f.summary.Revision)
		}
	}
	return nil
}

// escaped is a path as a pattern that matches it only.
func escaped(path string) string {
	var b []byte
	for i := range len(path) {
		if bytes.IndexByte([]byte(`*?[\`), path[i]) >= 0 && os.PathSeparator != '\\' {
			b = append(b, '\\')
		}
		b = append(b, path[i])
	}
	return string(b)
}

// Close closes the store. Calls that are under way end first; later ones fail with E_STORE_FAILED.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	all := make([]*session, 0, len(s.sessions))
	for _, f := range s.sessions {
		all = append(all, f)
	}
	journals := make([]*journal, 0, len(s.journals))
	for _, j := range s.journals {
		journals = append(journals, j)
	}
	s.mu.Unlock()
	for _, f := range all {
		f.mu.Lock() // what is under way ends
		f.state, f.own = nil, scope{}
		f.mu.Unlock()
	}
	for _, j := range journals {
		j.mu.Lock()
		j.gone = true
		j.mu.Unlock()
	}
	return failure("", s.lock.Unlock())
}

// begin returns an error for a call that must not begin.
func (s *Store) begin(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return failure("", errClosed)
	}
	return nil
}

// enter returns a session, locked. One that is not there has no state; made tells to return it all the same. The caller
// calls leave.
func (s *Store) enter(id string, made bool) (f *session, err error) {
	if made {
		if err := store.CheckSessionID("session", id); err != nil {
			return nil, err
		}
	}
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return nil, failure(id, errClosed)
		}
		f = s.sessions[id]
		if err := s.unread[s.pathOf(id)]; f == nil && err != nil {
			s.mu.Unlock()
			return nil, damaged(id, "the head of its log cannot be read", err)
		}
		if f == nil {
			if !made {
				s.mu.Unlock()
				return nil, nil
			}
			f = &session{folder: s.pathOf(id), head: head{Version: formVersion, ID: id}}
			s.sessions[id] = f
		}
		s.mu.Unlock()
		f.mu.Lock()
		switch {
		case f.gone: // another one may have come in its place
			f.mu.Unlock()
		case !f.there && !made:
			s.leave(f)
			return nil, nil
		default:
			return f, nil
		}
	}
}

// leave unlocks a session, and forgets one that is not there.
func (s *Store) leave(f *session) {
	if !f.there && !f.gone {
		f.gone = true
		s.mu.Lock()
		delete(s.sessions, f.head.ID)
		s.mu.Unlock()
	}
	f.mu.Unlock()
}

// next returns the next revision: the time in microseconds, but later than all others.
func (s *Store) next() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision = max(s.revision+1, uint64(max(time.Now().UnixMicro(), 0)))
	return s.revision
}

// hasName tells whether the disk has the name of a folder of sessions.
func (s *Store) hasName(folder string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[folder]
}

// name notes that the disk has the name of a folder of sessions.
func (s *Store) name(folder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = make(map[string]bool)
	}
	s.names[folder] = true
}

// updated notes that a session was updated.
func (s *Store) updated(f *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.Update(f.head.ID, f.summary.Revision)
}

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, session, after string) (*store.Conversation, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	f, err := s.enter(session, false)
	if f == nil {
		return &store.Conversation{Revision: store.NoRevision}, err
	}
	c, rows, err := s.rowsOf(f, after)
	s.leave(f)
	if err != nil {
		return nil, err
	}
	return c, s.readRows(session, c, rows)
}

// Newest implements store.Newest. Deleting a record does not move the time back.
func (s *Store) Newest(ctx context.Context, session string) (time.Time, error) {
	if err := s.begin(ctx); err != nil {
		return time.Time{}, err
	}
	f, err := s.enter(session, false)
	if f == nil {
		return time.Time{}, err
	}
	defer s.leave(f)
	if f.summary.Newest == nil {
		return time.Time{}, nil
	}
	return time.UnixMilli(*f.summary.Newest).UTC(), nil
}

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, session string, c store.Commit) (string, error) {
	if err := s.begin(ctx); err != nil {
		return "", err
	}
	writes, newest, err := s.writesOf(ctx, session, c.Deltas)
	if err != nil {
		return "", failure(session, err)
	}
	done, err := s.checkEpoch(c.Turn, c.Epoch)
	if err != nil {
		return "", err
	}
	defer done()
	f, err := s.enter(session, true)
	if err != nil {
		return "", err
	}
	defer s.leave(f)
	revision, err := s.commit(f, &c, writes, newest)
	if err != nil {
		return "", failure(session, err)
	}
	return strconv.FormatUint(revision, 10), nil
}

package file

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/turncore/turncore/host/internal/ledger"
	"github.com/turncore/turncore/host/store"
)

// List implements store.Sessions.
func (s *Store) List(ctx context.Context, cursor string, limit int) (page []store.Session, next string, err error) {
	return s.ListOf(ctx, "", cursor, limit)
}

// ListOf implements store.Sessions.
func (s *Store) ListOf(ctx context.Context, prefix, cursor string, limit int) (page []store.Session, next string, err error) {
	if err := s.begin(ctx); err != nil {
		return nil, "", err
	}
	before, limit, ok := ledger.PageOf(cursor, limit)
	if !ok {
		return nil, "", store.InvalidCursor()
	}
	s.mu.Lock()
	ids, last, more := s.recent.Page(prefix, before, limit)
	s.mu.Unlock()
	for _, id := range ids {
		f, err := s.enter(id, false)
		if err != nil {
			return nil, "", err
		}
		if f == nil {
			continue // it was deleted meanwhile
		}
		page = append(page, *f.tell())
		s.leave(f)
	}
	if more {
		next = strconv.FormatUint(last, 10)
	}
	return page, next, nil
}

// Find implements store.Sessions.
func (s *Store) Find(ctx context.Context, session string) (*store.Session, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	f, err := s.enter(session, false)
	if f == nil {
		return nil, err
	}
	defer s.leave(f)
	return f.tell(), nil
}

// tell is what a list says of the session. The caller holds f.mu.
func (f *session) tell() *store.Session {
	return &store.Session{
		ID: f.head.ID, Title: f.summary.Title, Revision: strconv.FormatUint(f.summary.Revision, 10),
		CreatedAt: time.UnixMilli(f.head.Created).UTC(), UpdatedAt: time.UnixMilli(f.summary.Updated).UTC(),
		Messages: f.summary.Messages,
	}
}

// SetTitle implements store.Sessions.
func (s *Store) SetTitle(ctx context.Context, session, title string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	f, err := s.enter(session, false)
	if f == nil {
		if err == nil {
			err = store.NoSession(session)
		}
		return err
	}
	defer s.leave(f)
	if err := s.load(f); err != nil { // what was cut off at the end of the log must not stay behind
		return err
	}
	before := f.summary
	f.summary.Title = title
	if err := f.append(frameTitle, &f.summary); err != nil {
		f.summary = before
		return failure(session, err)
	}
	s.tidy(f)
	return nil
}

// Delete implements store.Sessions.
func (s *Store) Delete(ctx context.Context, session string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	f, err := s.enter(session, false)
	if f == nil {
		return err
	}
	defer s.leave(f)
	return failure(session, s.remove(f))
}

// remove deletes a session. The caller holds f.mu.
func (s *Store) remove(f *session) error {
	if err := s.confirm(f.head.ID); err != nil {
		return err
	}
	trash := filepath.Join(s.folder, trashName)
	if err := os.MkdirAll(trash, 0o700); err != nil {
		return err
	}
	s.mu.Lock()
	s.meta.Floor = s.revision
	err := s.writeMeta()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	away, err := os.MkdirTemp(trash, "*")
	if err == nil {
		err = os.Rename(f.folder, filepath.Join(away, "session"))
	}
	if err != nil {
		return err
	}
	f.there, f.gone, f.state = false, true, nil
	s.mu.Lock()
	delete(s.sessions, f.head.ID)
	s.recent.Delete(f.head.ID)
	s.mu.Unlock()
	return errors.Join(syncFolder(filepath.Dir(f.folder)), os.RemoveAll(away))
}

// Fork implements store.Sessions. It costs what the session has: its log is copied. The two share the files of bytes,
// where the file system has links.
func (s *Store) Fork(ctx context.Context, from, to string) error {
	return s.fork(ctx, from, to, func(old *session) (*snapshot, summary, error) {
		all := old.snapshot()
		all.Keys = nil
		return all, summary{Title: old.summary.Title, Newest: old.summary.Newest, Messages: old.summary.Messages}, nil
	}, bytesName, artifactsName)
}

// ForkAt implements store.Appender. It costs what the session's log has up to the event.
func (s *Store) ForkAt(ctx context.Context, from, to string, at store.ForkPoint) error {
	if err := at.Validate(); err != nil {
		return err
	}
	return s.fork(ctx, from, to, func(old *session) (*snapshot, summary, error) {
		events, ok := old.state.CloneAt(at.Revision)
		own, whole := old.own.CloneAt(at.Artifacts)
		if !ok || !whole {
			return nil, summary{}, store.NoSession(from)
		}
		for _, v := range at.State {
			own.Set(v.Name, bytes.Clone(v.Value))
		}
		return (&session{state: events, own: own}).snapshot(), summary{}, nil
	}, artifactsName)
}

// fork makes a session of what begin says of another one, with the files of some of its folders.
func (s *Store) fork(
	ctx context.Context, from, to string, begin func(old *session) (*snapshot, summary, error), folders ...string,
) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	old, err := s.enter(from, false)
	if old == nil {
		if err == nil {
			err = store.NoSession(from)
		}
		return err
	}
	if from == to {
		s.leave(old)
		return store.SessionExists(to)
	}
	var all *snapshot
	var begun summary
	if err = s.load(old); err == nil {
		all, begun, err = begin(old)
	}
	s.leave(old)
	if err != nil {
		return err
	}
	f, err := s.enter(to, true)
	if err != nil {
		return err
	}
	defer s.leave(f)
	if f.there {
		return store.SessionExists(to)
	}
	for _, name := range folders {
		if err := linkAll(filepath.Join(old.folder, name), filepath.Join(f.folder, name)); err != nil {
			return failure(to, errors.Join(err, os.RemoveAll(f.folder)))
		}
	}
	f.summary = begun
	if err = s.create(f, all); err == nil {
		err = f.settle()
	}
	return failure(to, err)
}

// linkAll gives a folder the files of another one.
func linkAll(from, to string) error {
	if err := os.RemoveAll(to); err != nil { // what is left of a fork that was broken off
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(e.Name()) != len(nameOf("")) {
			continue // it is being written
		}
		if err := link(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return syncFolder(to)
}

// link gives a file another name, under which it stays as it is, or copies it where the file system has no links.
func link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	return copyFile(from, to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	out, err := os.OpenFile(to+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = out.ReadFrom(in)
	return settle(out, err, to)
}

// collectAfter is how long bytes stay that no record refers to: a turn may be about to commit one.
const collectAfter = time.Hour

// Collect removes the bytes of all sessions that no record refers to and that were put more than an hour ago. It
// returns how many those were. Those of a single session go when it is read into memory too.
func (s *Store) Collect(ctx context.Context) (removed int, err error) {
	s.mu.Lock()
	ids := make([]string, 0, len(s.sessions))
	for id := range s.sessions {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	for _, id := range ids {
		if err := s.begin(ctx); err != nil {
			return removed, err
		}
		f, err := s.enter(id, false)
		if err != nil {
			return removed, err
		}
		if f == nil {
			continue
		}
		n, err := s.collect(f)
		s.leave(f)
		if removed += n; err != nil {
			return removed, failure(id, err)
		}
	}
	return removed, nil
}

// collect collects the bytes of a session. The caller holds f.mu.
func (s *Store) collect(f *session) (removed int, err error) {
	if err := s.load(f); err != nil {
		return 0, err
	}
	return f.collect()
}

// collect removes bytes that no record refers to. The state is in memory. The caller holds f.mu.
func (f *session) collect() (removed int, err error) {
	used := make(map[string]bool)
	for kind := range f.state.Tables {
		for _, r := range f.state.Tables[kind].Rows {
			for _, id := range r.Value.Bytes {
				used[nameOf(id)] = true
			}
		}
	}
	entries, err := os.ReadDir(filepath.Join(f.folder, bytesName))
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if used[e.Name()] {
			continue
		}
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < collectAfter {
			continue
		}
		if err := os.Remove(filepath.Join(f.folder, bytesName, e.Name())); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

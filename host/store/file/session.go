package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/turncore/turncore/host/internal/ledger"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// session is a session of the folder. mu guards all but the folder.
type session struct {
	folder string

	mu       sync.Mutex
	there    bool         // it has a log
	fresh    bool         // the disk may not have its name yet, as it may not have those in unsynced
	broken   bool         // its log cannot be read
	gone     bool         // it was deleted, or never came to be
	unsynced []string     // folders
	synced   func(string) // tells the store that the disk has the name of a folder of sessions
	head     head
	summary  summary
	state    *ledger.Session[stored] // nil while it is not in memory
	own      scope                   // likewise
	size     int64                   // of the log, in bytes
	compact  int64                   // the size at which the log is looked at again
}

// pathOf is the folder of a session: its id may be longer than a name, or not be one.
func (s *Store) pathOf(id string) string {
	name := nameOf(id)
	return filepath.Join(s.folder, sessionsName, name[:2], name[2:])
}

func nameOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// Bounds on the sessions whose states are in memory. The one that was used last always stays.
const (
	mostLoaded      = 256
	mostLoadedBytes = 64 << 20 // of their logs
)

// load reads the state of a session into memory, unless it is there. The caller holds f.mu.
func (s *Store) load(f *session) error {
	if f.state == nil {
		if err := f.read(); err != nil {
			return failure(f.head.ID, err)
		}
		_, _ = f.collect() // what is not removed does no harm
	}
	s.used(f)
	return nil
}

// used notes that a session was used, and drops the states of others. The caller holds f.mu.
func (s *Store) used(f *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = append(slices.DeleteFunc(s.loaded, func(other *session) bool { return other == f }), f)
	bytes := int64(0)
	for i := len(s.loaded) - 1; i >= 0; i-- {
		other := s.loaded[i]
		if other == f {
			bytes += f.size
			continue
		}
		if !other.mu.TryLock() {
			continue // it is in use
		}
		bytes += other.size
		if other.gone || len(s.loaded)-i > mostLoaded || bytes > mostLoadedBytes {
			other.state, other.own = nil, scope{}
			bytes -= other.size
			s.loaded = slices.Delete(s.loaded, i, i+1)
		}
		other.mu.Unlock()
	}
}

// loadedRow is a record that is to be read.
type loadedRow struct {
	kind record.Kind
	id   string
	stored
}

// rowsOf returns the rows of a session that were added after a revision, and what else Load returns. The caller holds
// f.mu.
func (s *Store) rowsOf(f *session, after string) (c *store.Conversation, rows []loadedRow, err error) {
	if err := s.load(f); err != nil {
		return nil, nil, err
	}
	c = &store.Conversation{Revision: strconv.FormatUint(f.state.Revision, 10)}
	since, partly := f.state.Since(after)
	if partly {
		c.After = after
	}
	for kind := range f.state.Tables {
		t := &f.state.Tables[kind]
		list := t.After(since)
		if record.Kind(kind) == record.KindInstruction {
			list = t.Rows
		}
		for _, r := range list {
			rows = append(rows, loadedRow{record.Kind(kind), r.ID, r.Value})
		}
	}
	return c, rows, nil
}

// readRows puts the records of rows into a conversation.
func (s *Store) readRows(session string, c *store.Conversation, rows []loadedRow) error {
	for _, r := range rows {
		read, err := store.Read(s, session, r.kind, r.id, r.Sum, r.Body)
		if err != nil {
			return err
		}
		c.Add(read)
	}
	return nil
}

// writesOf are deltas as writes of stored records, and the latest time of what they add to the conversation. The bytes
// that the records need are put into the session.
func (s *Store) writesOf(ctx context.Context, session string, deltas []store.Delta) (writes []ledger.Write[stored], newest time.Time, err error) {
	rows, err := store.Rows(ctx, s, session, deltas)
	if err != nil {
		return nil, newest, err
	}
	writes = make([]ledger.Write[stored], len(rows))
	for i := range rows {
		r := &rows[i]
		w := &writes[i]
		w.Kind, w.Fixed = uint8(r.Kind), r.Kind == record.KindInstruction
		add := func(r *store.Row) {
			w.New = append(w.New, ledger.Item[stored]{ID: r.ID, Value: stored{r.Sum, r.Bytes, r.Body}})
			if r.At.After(newest) {
				newest = r.At
			}
		}
		switch r.Op {
		case store.OpReplaceToolCallGroup:
			w.Old = r.IDs
			for j := range r.Group {
				add(&r.Group[j])
			}
		case store.OpDelete:
			w.Old = []string{r.ID}
		case store.OpMutate:
			if w.Old = r.IDs; len(w.Old) == 0 {
				w.Old = []string{r.ID}
			}
			add(r)
		default:
			add(r)
		}
	}
	return writes, newest, nil
}

// commit commits writes to a session. The caller holds f.mu.
func (s *Store) commit(f *session, c *store.Commit, writes []ledger.Write[stored], newest time.Time) (revision uint64, err error) {
	state := &ledger.Session[stored]{}
	if f.there {
		if err := s.load(f); err != nil {
			return 0, err
		}
		state = f.state
		state.Keys.Expire(time.Now().UnixMicro(), s.mayResume)
	}
	forgets := state.Keys.Has(c.Ended)
	revision, done := state.Keys.Find(c.Key, c.Ended...)
	switch {
	case done && !forgets:
		return revision, nil
	case done:
		return revision, s.write(f, &commit{Ended: c.Ended}, time.Time{})
	}
	if kind, id, conflicts := state.Conflict(c.Revision, c.Turn, writes); conflicts {
		return 0, store.Conflict(f.head.ID, record.Kind(kind).String(), id)
	}
	if len(writes) == 0 && !forgets && (c.Key == "" || !f.there) {
		return state.Revision, nil
	}
	if !f.there {
		if err := s.create(f, nil); err != nil {
			return 0, err
		}
	}
	err = s.write(f, &commit{Key: c.Key, Turn: c.Turn, Ended: c.Ended, Writes: framed(writes)}, newest)
	return f.summary.Revision, err
}

// write writes a commit to a session's state and to its log. The caller holds f.mu.
func (s *Store) write(f *session, c *commit, newest time.Time) error {
	before := f.summary
	if len(c.Writes) > 0 {
		f.summary.Revision, f.summary.Updated = s.next(), max(f.summary.Updated, time.Now().UnixMilli())
	}
	if !newest.IsZero() && (f.summary.Newest == nil || newest.UnixMilli() > *f.summary.Newest) {
		f.summary.Newest = new(newest.UnixMilli())
	}
	f.apply(c)
	f.summary.Messages = len(f.state.Tables[record.KindMessage].Rows)
	if err := f.append(frameCommit, &f.summary, c); err != nil {
		f.state, f.summary = nil, before // the log has what counts
		return err
	}
	s.updated(f)
	s.tidy(f)
	return nil
}

// apply does a commit of a log. The summary is that after it. The caller holds f.mu.
func (f *session) apply(c *commit) {
	f.state.Keys.Forget(c.Ended)
	if len(c.Writes) > 0 {
		writes := make([]ledger.Write[stored], len(c.Writes))
		for i, w := range c.Writes {
			writes[i] = ledger.Write[stored]{Kind: w.Kind, Old: w.Old, Fixed: record.Kind(w.Kind) == record.KindInstruction}
			for _, n := range w.New {
				writes[i].New = append(writes[i].New, ledger.Item[stored]{ID: n.ID, Value: n.Stored})
			}
		}
		f.state.Apply(f.summary.Revision, time.Time{}, writes)
	}
	f.remember(key{c.Key, c.Turn, f.state.Revision})
}

// remember keeps a commit's key. Its revision is a time, if not that of the commit itself.
func (f *session) remember(k key) {
	f.state.Keys.Remember(ledger.Key{Key: k.Key, Turn: k.Turn, Revision: k.Revision, At: int64(k.Revision)})
}

// framed are writes as a log has them.
func framed(writes []ledger.Write[stored]) []write {
	list := make([]write, len(writes))
	for i, w := range writes {
		list[i] = write{Kind: w.Kind, Old: w.Old}
		for _, item := range w.New {
			list[i].New = append(list[i].New, named{item.ID, item.Value})
		}
	}
	return list
}

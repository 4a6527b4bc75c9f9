package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turncore/turncore/host/store"
)

// Store keeps conversations in a database. Its methods may be called from many goroutines, and other processes may use
// the database too.
type Store struct {
	d             *Dialect
	read, write   *sql.DB // the same for a database whose transactions run side by side
	reads, writes map[string]*sql.Stmt
	now           func() time.Time
	tell          func(statement string)
	queue         queue
	wait          time.Duration // for other processes
	collected     atomic.Int64  // when bytes were last collected, in microseconds
	collecting    sync.WaitGroup
	mu            sync.Mutex
	closing       bool            // no collecting begins
	open          context.Context // of collecting
	giveUp        context.CancelFunc
	closed        atomic.Bool
	transactions  atomic.Int64
}

var _ store.Sessions = (*Store)(nil)

// Options of a store.
type Options struct {
	// Now is the clock, the system's if nil.
	Now func() time.Time
	// Wait is how long a caller waits for other processes that write, where callers share transactions.
	Wait time.Duration
	// ReadOnly says that the schema is not to be made or migrated.
	ReadOnly bool
	// Schema has the versions of the schema, those of [Schema] if nil.
	Schema [][]string
	// Tell is told of each statement that the store runs; nil for nobody.
	Tell func(statement string)
}

// Open makes a store of a database. write has the connections of transactions that write, read of those that do not;
// they may be the same. The store closes both, also if Open fails.
func Open(ctx context.Context, read, write *sql.DB, d *Dialect, o Options) (*Store, error) {
	s := &Store{d: d, read: read, write: write, now: o.Now, tell: o.Tell, wait: o.Wait}
	s.open, s.giveUp = context.WithCancel(context.Background())
	if s.now == nil {
		s.now = time.Now
	}
	versions := o.Schema
	if versions == nil {
		versions = Schema()
	}
	err := s.migrate(ctx, versions, o.ReadOnly)
	if err == nil {
		if s.writes, err = d.prepare(ctx, write); err != nil {
			err = s.unprepared(ctx, err)
		}
	}
	if err == nil {
		s.reads = s.writes
		if read != write {
			s.reads, err = d.prepare(ctx, read)
		}
	}
	if err == nil {
		var at int64
		if err = s.reads["readMeta"].QueryRowContext(ctx, "collected").Scan(&at); errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		s.collected.Store(at)
	}
	if err != nil {
		err = s.failure(ctx, "", err)
		_ = s.Close() // the first error says more
		return nil, err
	}
	return s, nil
}

// patience is how long Close waits for bytes to be collected.
const patience = 5 * time.Second

// Close waits for what is being written and closes the database. Later calls fail with E_STORE_FAILED.
func (s *Store) Close() error {
	s.mu.Lock()
	closing := s.closing
	s.closing = true
	s.mu.Unlock()
	if closing {
		return nil
	}
	// A database that does not answer holds nobody up for long.
	late := time.AfterFunc(patience, s.giveUp)
	s.collecting.Wait()
	late.Stop()
	s.giveUp()
	s.closed.Store(true)
	s.queue.close()
	closeAll(s.reads)
	closeAll(s.writes)
	err := s.write.Close()
	if s.read != s.write {
		err = errors.Join(err, s.read.Close())
	}
	return err
}

// Transactions is how many transactions have been written.
func (s *Store) Transactions() int64 { return s.transactions.Load() }

// tx is a transaction, or a part of one that is undone by itself.
type tx struct {
	s          *Store
	ctx        context.Context
	tx         *sql.Tx
	statements map[string]*sql.Stmt
}

func (t *tx) statement(name string) *sql.Stmt {
	s := t.statements[name]
	if s == nil {
		panic("no statement " + name)
	}
	if t.s.tell != nil {
		t.s.tell(name)
	}
	return t.tx.StmtContext(t.ctx, s)
}

func (t *tx) exec(name string, args ...any) error {
	_, err := t.statement(name).ExecContext(t.ctx, args...)
	return err
}

func (t *tx) row(name string, args ...any) *sql.Row {
	return t.statement(name).QueryRowContext(t.ctx, args...)
}

func (t *tx) rows(name string, args ...any) (*sql.Rows, error) {
	return t.statement(name).QueryContext(t.ctx, args...)
}

// number reads a number. found is false if there is no row.
func (t *tx) number(name string, args ...any) (n int64, found bool, err error) {
	err = t.row(name, args...).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return n, err == nil, err
}

// session reads a session; nil if there is none. statement is "findSession", or "lockSession" if it is to be written.
func (t *tx) session(statement, id string) (*sessionRow, error) {
	var r sessionRow
	err := r.scan(t.row(statement, []byte(id)))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// begin returns a session to be written, which it makes if need be.
func (t *tx) begin(id string) (*sessionRow, error) {
	for {
		r, err := t.session("lockSession", id)
		if r != nil || err != nil {
			return r, err
		}
		at, err := t.next(0)
		if err != nil {
			return nil, err
		}
		r = &sessionRow{id: []byte(id), revision: at, created: at, title: []byte{}}
		if err := t.add(r); err == nil || !errors.Is(err, sql.ErrNoRows) {
			return r, err
		}
		// Another process was faster.
	}
}

// add stores a session. It fails with sql.ErrNoRows if there is one with its id.
func (t *tx) add(r *sessionRow) error {
	r.sum = r.sumUp()
	return t.row(
		"addSession",
		r.id, r.revision, r.settled, r.newest, r.created, r.title, r.messages, r.records, r.digest, r.keys,
		r.events, r.appended, r.base, r.cut, r.sum,
	).Scan(&r.number)
}

// set stores what has changed of a session.
func (t *tx) set(r *sessionRow) error {
	r.sum = r.sumUp()
	return t.exec(
		"setSession",
		r.revision, r.settled, r.newest, r.title, r.messages, r.records, r.digest, r.keys,
		r.events, r.appended, r.base, r.cut, r.sum, r.number,
	)
}

// next is the revision of a commit, later than one and than all in the database.
func (t *tx) next(after int64) (int64, error) {
	last, _, err := t.number("lastRevision")
	return max(t.s.now().UnixMicro(), last+1, after+1), err
}

// view runs a function that reads one state of the database.
func (s *Store) view(ctx context.Context, session string, run func(*tx) error) error {
	if s.closed.Load() {
		return s.failure(ctx, session, errClosed)
	}
	for n := 0; ; n++ {
		b, err := s.read.BeginTx(ctx, s.d.Snapshot)
		if err == nil {
			err = run(&tx{s, ctx, b, s.reads})
			_ = b.Rollback() // it has written nothing
		}
		if !s.another(ctx, err, n) {
			return s.failure(ctx, session, err)
		}
	}
}

package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// maxShared is how many callers share a transaction at most.
const maxShared = 256

// queue has the callers that wait for a transaction that writes.
type queue struct {
	mu      sync.Mutex
	waiting []*job
	running bool      // a goroutine serves them
	free    time.Time // when the next transaction may begin; of that goroutine
	closed  bool
	idle    sync.Cond // not running
}

// job is what one caller writes.
type job struct {
	run  func(*tx) error
	came time.Time
	err  error
	done chan struct{}
}

// update runs a function in a transaction and commits it. With a database that lets one transaction write at a time,
// callers share one: each has a savepoint, so that the failure of one undoes nothing of another.
func (s *Store) update(ctx context.Context, session string, run func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if s.d.Alone {
		return s.failure(ctx, session, s.updateAlone(ctx, run))
	}
	j := &job{run: run, came: time.Now(), done: make(chan struct{})}
	if !s.queue.add(j, s.serve) {
		return s.failure(ctx, session, errClosed)
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if s.queue.remove(j) {
			return ended(ctx, session)
		}
		<-j.done // it is being written
	}
	return s.failure(context.WithoutCancel(ctx), session, j.err)
}

// updateSurely runs a function as update does. If the database does not say whether it has stored that, and running it
// twice stores it once, it is run again.
func (s *Store) updateSurely(ctx context.Context, session string, once bool, run func(*tx) error) error {
	err := s.update(ctx, session, run)
	var uncertain *uncertainError
	if once && errors.As(err, &uncertain) && s.update(ctx, session, run) == nil {
		return nil
	}
	return err
}

// add lets a job wait, and serve serve it. It is false if the queue is closed.
func (q *queue) add(j *job, serve func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.waiting = append(q.waiting, j)
	if !q.running {
		q.running = true
		go serve()
	}
	return true
}

// remove takes a job back that still waits.
func (q *queue) remove(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, j)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// take takes the jobs of the next transaction.
func (q *queue) take() []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxShared)
	jobs := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return jobs
}

// late takes the jobs that came at a time or before it.
func (q *queue) late(at time.Time) (jobs []*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(j *job) bool {
		is := !j.came.After(at)
		if is {
			jobs = append(jobs, j)
		}
		return is
	})
	return jobs
}

// empty tells whether nothing waits; then the goroutine that serves ends.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		return false
	}
	q.running = false
	if q.idle.L != nil {
		q.idle.Broadcast()
	}
	return true
}

// close lets nothing more wait and returns when nothing is written any more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.idle.L = &q.mu
	for q.running {
		q.idle.Wait()
	}
}

// A transaction that meets one of another process is tried again, at first about every poll, later about every
// longestPoll. One of a slow disk leaves a gap behind itself, a part of the time that it took, in which others that
// poll begin theirs. Gaps below shortestGap are left out: there transactions are so short that others soon find their
// end.
const (
	poll, longestPoll = time.Millisecond, 4 * time.Millisecond
	gap, shortestGap  = 32, 100 * time.Microsecond
)

// serve runs transactions until nothing waits.
func (s *Store) serve() {
	var pause time.Duration
	for !s.queue.empty() {
		time.Sleep(time.Until(s.queue.free))
		began := time.Now()
		if !s.shared() {
			pause = min(max(poll, pause+pause/16), longestPoll)
			s.queue.free = time.Now().Add(pause/2 + rand.N(pause))
			continue
		}
		pause = 0
		if left := time.Since(began) / gap; left >= shortestGap {
			s.queue.free = time.Now().Add(left)
		}
	}
}

// shared runs one transaction. It is false if another process writes; then those who have waited too long are told so.
// What waits takes part until the transaction has begun.
func (s *Store) shared() bool {
	ctx := context.Background()
	b, err := s.write.BeginTx(ctx, s.d.Writing)
	busy := err != nil && s.d.Busy(err)
	var jobs []*job
	if busy {
		jobs = s.queue.late(time.Now().Add(-s.wait))
	} else {
		jobs = s.queue.take()
	}
	defer func() {
		for _, j := range jobs {
			close(j.done)
		}
	}()
	if err == nil && len(jobs) == 0 {
		err = b.Rollback()
	} else if err == nil {
		err = s.together(ctx, b, jobs)
	}
	if err != nil {
		for _, j := range jobs {
			j.err = err
		}
	}
	return !busy
}

// together runs jobs in a transaction, each in its savepoint, and commits it. Its error is that of all.
func (s *Store) together(ctx context.Context, b *sql.Tx, jobs []*job) error {
	say := func(text string) error {
		_, err := b.ExecContext(ctx, text)
		return err
	}
	var err error
	for _, j := range jobs {
		if err = say("SAVEPOINT caller"); err != nil {
			break
		}
		if j.err = j.run(&tx{s, ctx, b, s.writes}); j.err != nil {
			if say("ROLLBACK TO caller") != nil {
				err = j.err // it has undone the whole transaction
				break
			}
		}
		if err = say("RELEASE caller"); err != nil {
			break
		}
	}
	if err != nil {
		_ = b.Rollback() // the first error says more
		return err
	}
	if err := b.Commit(); err != nil {
		_ = b.Rollback() // a commit that a full disk refused leaves the transaction open
		return err
	}
	s.transactions.Add(1)
	return nil
}

// tries is how often a transaction is tried that met another one. Each next try waits, so that the other transaction
// goes on: at first up to pause, then twice as long each time.
const (
	tries = 6
	pause = 10 * time.Millisecond
)

// updateAlone runs a function in a transaction of its own.
func (s *Store) updateAlone(ctx context.Context, run func(*tx) error) (err error) {
	if s.closed.Load() {
		return errClosed
	}
	for met, broken := 1, 0; ; {
		var b *sql.Tx
		if b, err = s.write.BeginTx(ctx, s.d.Writing); err == nil {
			if err = run(&tx{s, ctx, b, s.writes}); err != nil {
				_ = b.Rollback() // the first error says more
			} else if err = b.Commit(); err == nil {
				s.transactions.Add(1)
				return nil
			} else if !s.d.Answered(err) {
				return &uncertainError{err}
			}
		}
		switch {
		case s.d.Again(err) && met < tries:
			if !letGo(ctx, met) {
				return err
			}
			met++
		case s.another(ctx, err, broken):
			broken++
		default:
			return err
		}
	}
}

// letGo waits before the nth next try, for a random time, so that two that met do not meet again. It tells whether the
// caller still waits.
func letGo(ctx context.Context, n int) bool {
	longest := pause << (n - 1)
	timer := time.NewTimer(longest/2 + rand.N(longest/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// another tells whether something that has stored nothing is to be tried on another connection, after n that broke. All
// that the store holds may be broken, as after a restart of the database.
func (s *Store) another(ctx context.Context, err error, n int) bool {
	return s.d.Alone && err != nil && ctx.Err() == nil && s.d.Broken(err) && n < s.write.Stats().MaxOpenConnections
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// Two stores of a file that write without pause on a slow disk take turns: neither waits until the other one has
// nothing more to write.
func TestWritersTakeTurns(t *testing.T) {
	for _, writers := range []int{1, 2} {
		t.Run(fmt.Sprint(writers), func(t *testing.T) { takeTurns(t, writers) })
	}
}

func takeTurns(t *testing.T, writers int) {
	const transactions, least = 150, 15
	slow := sqlstore.Options{Tell: func(statement string) {
		if statement == "addRecord" {
			time.Sleep(5 * time.Millisecond)
		}
	}}
	path := filepath.Join(t.TempDir(), "turns.db")
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	stores := make([]*Store, 2)
	for i := range stores {
		s, err := open(ctx, path, Options{BusyTimeout: time.Minute}, slow)
		if err != nil {
			t.Fatal(err)
		}
		stores[i] = s
		t.Cleanup(func() { _ = s.Close() })
	}
	before := []int64{stores[0].Transactions(), stores[1].Transactions()}
	written := func(i int) int64 { return stores[i].Transactions() - before[i] }
	for i, s := range stores {
		for w := range writers {
			group.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					_, err := s.Commit(ctx, fmt.Sprint("session ", i, " ", w), said(fmt.Sprint(n), "text"))
					if err != nil && ctx.Err() == nil {
						t.Error(err)
						stop()
					}
					if written(0)+written(1) >= transactions {
						stop()
					}
				}
			})
		}
	}
	group.Wait()
	stop()
	for i := range stores {
		if n := written(i); n < least {
			t.Errorf("store %d has written %d transactions of %d", i, n, transactions)
		}
	}
	t.Logf("%d and %d transactions", written(0), written(1))
}

// Every caller waits its own full BusyTimeout for another process.
func TestEachWaitsForItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locked.db")
	s, err := Open(t.Context(), path, Options{BusyTimeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	release := lock(t, path)
	later := make(chan error)
	time.AfterFunc(300*time.Millisecond, func() {
		_, err := s.Commit(t.Context(), "s", said("later", "text"))
		later <- err
	})
	_, err = s.Commit(t.Context(), "s", said("first", "text"))
	release()
	fails(t, err, `session "s": it is locked by another process`)
	if err := <-later; err != nil {
		t.Error(err)
	}
}

// A caller that waits no more waits for nobody, and neither does a store that is closed then.
func TestLeavesTheWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locked.db")
	s, err := Open(t.Context(), path, Options{BusyTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	release := lock(t, path)
	defer release()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("it takes too long")
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if _, err := s.Commit(ctx, "s", said("m", "text")); !errors.Is(err, why) {
		t.Errorf("the error is %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// lock locks a file as another process that writes does, until the function is called.
func lock(t *testing.T, path string) (release func()) {
	t.Helper()
	c, err := raw(t, path).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := c.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		_ = c.Close()
	}
}

package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// noon is when records are made.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// wrote is a write of a message.
func wrote(op store.Op, id, text string) store.Delta {
	return store.Delta{Op: op, Kind: "message", ID: id, Record: record.NewMessage(id, record.User, text, noon)}
}

// said is a commit of a message.
func said(id, text string) store.Commit {
	return store.Commit{Deltas: []store.Delta{wrote(store.OpStore, id, text)}, Key: "key " + id, Turn: "t"}
}

// fails fails the test unless an error is E_STORE_FAILED and says why.
func fails(t *testing.T, err error, why string) {
	t.Helper()
	if !errors.Is(err, host.CodeStoreFailed) || !strings.Contains(err.Error(), why) {
		t.Errorf("the error is %v, not that %s", err, why)
	}
}

// has fails the test unless a session has just these messages: each its id or id=text.
func has(t *testing.T, s store.Store, session string, want ...string) {
	t.Helper()
	c, err := s.Load(context.WithoutCancel(t.Context()), session, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, m := range c.Messages {
		got = append(got, m.ID)
		if i < len(want) && strings.Contains(want[i], "=") {
			got[i] += "=" + fmt.Sprint(m.Content)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("session %q has %q, not %q", session, got, want)
	}
}

// at opens the database of a URL until the test ends.
func at(t *testing.T, url string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// raw connects to a database.
func raw(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// run runs statements.
func run(t *testing.T, on interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := on.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// once gives a verdict on the first statement that is meant, and lets all others pass.
func once(v verdict, meant func(statement string) bool) func(string) verdict {
	var done atomic.Bool
	return func(statement string) verdict {
		if meant(statement) && done.CompareAndSwap(false, true) {
			return v
		}
		return pass
	}
}

func isCommit(statement string) bool { return statement == "commit" }

// The answer to COMMIT gets lost, whether the commit was stored or not: its key answers it.
func TestCommitWithoutAnswer(t *testing.T) {
	url, p := created(t), proxied(t)
	s, direct := at(t, p.url(url), Options{}), at(t, url, Options{})
	var want []string
	for n, v := range []verdict{lose, hurry, unanswer, lose, unanswer} {
		id := fmt.Sprint(n)
		p.judges(once(v, isCommit))
		revision, err := s.Commit(t.Context(), "s", said(id, "text"))
		if err != nil {
			t.Fatalf("%d: %v", v, err)
		}
		want = append(want, id)
		has(t, direct, "s", want...)
		if again, err := direct.Commit(t.Context(), "s", said(id, "text")); err != nil || again != revision {
			t.Errorf("%d: the key answers %s, not %s (%v)", v, again, revision, err)
		}
	}
	// The error says so where nothing can be asked.
	const unknown = `session "s": it did not say whether it has stored the commit`
	for n, v := range []verdict{lose, unanswer} {
		id := fmt.Sprint("later ", n)
		var lost atomic.Bool
		p.judges(func(statement string) verdict {
			switch {
			case isCommit(statement):
				lost.Store(true)
				return v
			case lost.Load():
				return lose
			}
			return pass
		})
		_, err := s.Commit(t.Context(), "s", said(id, "text"))
		fails(t, err, unknown)
		p.judges(nil)
		if _, err := s.Commit(t.Context(), "s", said(id, "text")); err != nil {
			t.Error(err)
		}
		want = append(want, id)
		has(t, direct, "s", want...)
	}
	p.judges(once(unanswer, isCommit))
	c := said("without a key", "text")
	c.Key, c.Turn = "", ""
	_, err := s.Commit(t.Context(), "s", c)
	fails(t, err, unknown)
	has(t, direct, "s", append(want, "without a key")...)
}

// The server crashes before or after any statement of a conversation, and starts again: what was committed is there, once.
func TestServerCrashes(t *testing.T) {
	points := 6
	if os.Getenv("TURNCORE_LONG") != "" {
		points = 60
	}
	url, p := created(t), proxied(t)
	direct := at(t, url, Options{})
	random := rand.New(rand.NewPCG(1, 0))
	for n := range points {
		session, v := fmt.Sprint("session ", n), []verdict{lose, unanswer}[n%2]
		s, err := Open(t.Context(), p.url(url), Options{})
		if err != nil {
			t.Fatal(err)
		}
		crashed := make(chan error, 1)
		crash := func() { crashed <- running.Crash() }
		var count atomic.Int64
		point := 1 + random.Int64N(80)
		p.judges(func(string) verdict {
			if count.Add(1) != point {
				return pass
			}
			if v == lose {
				crash()
			}
			return v
		})
		p.after = crash
		failed := 0
		want := converse(t, s, session, func(call func() error) {
			t.Helper()
			err := call()
			for err != nil {
				failed++
				if !errors.Is(err, host.CodeStoreFailed) || !strings.Contains(err.Error(), session) {
					t.Fatal(err)
				}
				if err = <-crashed; err == nil {
					err = running.Resume(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				err = call()
			}
		})
		p.judges(nil)
		if failed != 1 {
			t.Errorf("%s: %d calls failed, and %d statements came of %d", session, failed, count.Load(), point)
		}
		has(t, direct, session, want...)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// converse writes to a session, each call by way of do, and returns the messages that it then has.
func converse(t *testing.T, s *Store, session string, do func(call func() error)) (want []string) {
	for n := range 5 {
		id := fmt.Sprint(n)
		do(func() error { return s.PutBytes(t.Context(), session, "bytes", strings.NewReader(id)) })
		c := said(id, "text "+id)
		if n > 0 {
			last := fmt.Sprint(n - 1)
			c.Deltas = append(c.Deltas, wrote(store.OpMutate, last, "changed by "+id))
			want[len(want)-1] = last + "=changed by " + id
		}
		if n > 1 {
			c.Deltas = append(c.Deltas, store.Delta{Op: store.OpDelete, Kind: "message", ID: fmt.Sprint(n - 2)})
			want = want[1:]
		}
		want = append(want, id+"=text "+id)
		do(func() error {
			_, err := s.Commit(t.Context(), session, c)
			return err
		})
		do(func() error {
			c, err := s.Load(t.Context(), session, "")
			if err == nil && len(c.Messages) != len(want) {
				t.Errorf("session %q has %d messages after commit %d", session, len(c.Messages), n)
			}
			return err
		})
	}
	return want
}

// A server that never answers: the call ends with its context, and holds nothing.
func TestServerThatNeverAnswers(t *testing.T) {
	url, p := created(t), proxied(t)
	const why = "it does not answer in time"
	s := at(t, p.url(url), Options{MaxConnections: 1})
	direct := raw(t, url)
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	var want []string
	for n, v := range []verdict{blackHole, swallow} {
		id := fmt.Sprint(n)
		for step := range 9 {
			var statement atomic.Int64
			p.judges(func(string) verdict {
				if statement.Add(1) == int64(step+1) {
					return v
				}
				return pass
			})
			ctx := soon()
			_, err := s.Commit(ctx, "s", said(id, "text"))
			if err == nil {
				t.Fatalf("the commit has no statement %d", step)
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("statement %d: the cause of %v is not that its time was up", step, err)
			}
			fails(t, err, why)
		}
		var statement atomic.Int64
		p.judges(func(string) verdict {
			if statement.Add(1) > 1 {
				return v
			}
			return pass
		})
		_, err := s.Load(soon(), "s", "")
		fails(t, err, `session "s": `+why)
		p.judges(nil)
		if _, err := s.Commit(t.Context(), "s", said(id, "text")); err != nil {
			t.Error(err)
		}
		want = append(want, id)
		has(t, s, "s", want...)
	}
	p.judges(func(string) verdict { return blackHole })
	_, err := Open(soon(), p.url(url), Options{})
	fails(t, err, why)
	// Who gives up, says so.
	p.judges(nil)
	ctx, cancel := context.WithCancel(t.Context())
	p.judges(func(string) verdict {
		cancel()
		return pass
	})
	if _, err := s.Commit(ctx, "s", said("m", "text")); !errors.Is(err, context.Canceled) || errors.Is(err, host.CodeStoreFailed) {
		t.Errorf("the error is %v", err)
	}
	p.judges(nil)
	var open int
	if err := direct.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
WHERE datname = current_database() AND state LIKE 'idle in transaction%'`).Scan(&open); err != nil || open > 0 {
		t.Errorf("%d transactions are open (%v)", open, err)
	}
}

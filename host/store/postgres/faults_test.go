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

// collected has a store collect bytes at once, so that its commits do not.
func collected(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
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
}, statements ...string,
) {
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

// The server crashes before or after any statement of a conversation, and starts again: what was committed is there,
// once.
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
		collected(t, s)
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
	s := at(t, p.url(url)+" connect_timeout=1", Options{MaxConnections: 1})
	collected(t, s)
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
	_, err = s.Commit(ctx, "s", said("m", "text"))
	if !errors.Is(err, context.Canceled) || errors.Is(err, host.CodeStoreFailed) {
		t.Errorf("the error is %v", err)
	}
	p.judges(nil)
	// The server ends a transaction when it finds that its connection is gone, well before the time for idle ones is up.
	const open = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'"
	for given := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		var n int
		err := direct.QueryRowContext(t.Context(), open).Scan(&n)
		if err == nil && n > 0 && time.Now().Before(given) {
			continue
		}
		if err != nil || n > 0 {
			t.Errorf("%d transactions are open (%v)", n, err)
		}
		return
	}
}

func TestFull(t *testing.T) {
	url := created(t)
	s, db := at(t, url, Options{}), raw(t, url)
	collected(t, s)
	if _, err := s.Commit(t.Context(), "s", said("first", "text")); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"AFTER INSERT", "CONSTRAINT"} {
		// The server says that the disk is full when it writes rows, or at COMMIT.
		fault(t, db, "turncore_records", when, "53100", "octet_length(NEW.body) > 1000")
		fault(t, db, "turncore_parts", when, "53100", "octet_length(NEW.data) > 1000")
		_, err := s.Commit(t.Context(), "s", said("large", strings.Repeat("x", 1<<20)))
		fails(t, err, `session "s": it is full`)
		fails(t, s.PutBytes(t.Context(), "s", "id", strings.NewReader(strings.Repeat("x", 5<<19))), `session "s": it is full`)
		if _, err := s.Commit(t.Context(), "s", said("after "+when, "text")); err != nil {
			t.Error(err)
		}
		run(t, db, "DROP FUNCTION fault_of_turncore_records CASCADE", "DROP FUNCTION fault_of_turncore_parts CASCADE")
	}
	has(t, s, "s", "first", "after AFTER INSERT", "after CONSTRAINT")
	for _, table := range []string{"turncore_contents", "turncore_parts"} {
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil || n > 0 {
			t.Errorf("%d rows of %s are left (%v)", n, table, err)
		}
	}
}

// fault has the server fail with a code when a row is added to a table, or when a transaction that did is committed.
func fault(t *testing.T, db *sql.DB, table, when, code, condition string) {
	t.Helper()
	name, kind, deferred := "fault_of_"+table, "", ""
	if when == "CONSTRAINT" {
		when, kind, deferred = "AFTER INSERT", "CONSTRAINT", "DEFERRABLE INITIALLY DEFERRED"
	}
	run(t, db, fmt.Sprintf(`CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN IF %s THEN RAISE EXCEPTION 'injected' USING ERRCODE = '%s'; END IF; RETURN NULL; END $$`, name, condition, code),
		fmt.Sprintf("CREATE %s TRIGGER %s %s ON %s %s FOR EACH ROW EXECUTE FUNCTION %s()",
			kind, name, when, table, deferred, name))
}

func TestReadOnly(t *testing.T) {
	url := created(t)
	readOnly := url + " default_transaction_read_only=on"
	_, err := Open(t.Context(), readOnly, Options{})
	fails(t, err, "it is read-only")
	if _, err := at(t, url, Options{}).Commit(t.Context(), "s", said("m", "text")); err != nil {
		t.Fatal(err)
	}
	s := at(t, readOnly, Options{})
	_, err = s.Commit(t.Context(), "s", said("n", "text"))
	fails(t, err, `session "s": it is read-only`)
	fails(t, s.Delete(t.Context(), "s"), `session "s": it is read-only`)
	has(t, s, "s", "m")
}

// A table goes while the store is open: calls that need it say so, and the others answer.
func TestTableIsDropped(t *testing.T) {
	url := created(t)
	s, db := at(t, url, Options{}), raw(t, url)
	if _, err := s.Commit(t.Context(), "s", said("m", "text")); err != nil {
		t.Fatal(err)
	}
	run(t, db, "ALTER TABLE turncore_keys RENAME TO kept")
	_, err := s.Commit(t.Context(), "s", said("n", "text"))
	fails(t, err, `session "s": ERROR: relation "turncore_keys" does not exist`)
	has(t, s, "s", "m")
	_, err = Open(t.Context(), url, Options{})
	if !errors.Is(err, host.CodeStoreVersion) || !strings.Contains(err.Error(), "halfway") {
		t.Errorf("the error is %v", err)
	}
	run(t, db, "ALTER TABLE kept RENAME TO turncore_keys")
	if _, err := s.Commit(t.Context(), "s", said("n", "text")); err != nil {
		t.Error(err)
	}
	has(t, s, "s", "m", "n")
}

func TestNoDatabase(t *testing.T) {
	url := created(t)
	for _, test := range []struct{ url, why string }{
		{strings.Replace(url, "dbname=", "dbname=no", 1), "there is no such database"},
		{strings.Replace(url, "user=turncore", "user=nobody_knows", 1), "access is denied"},
		{strings.Replace(url, "host="+running.Folder(), "host=/nowhere", 1), "it cannot be reached"},
		{"postgres://user:secret@[host", "its URL cannot be read"},
	} {
		_, err := Open(t.Context(), test.url, Options{})
		if fails(t, err, test.why); strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

// limited makes a user for whom the server sets a limit, and returns the URL of a database for it.
func limited(t *testing.T, url, limit string) string {
	t.Helper()
	db := raw(t, url)
	var name string // each test has a database of its own
	if err := db.QueryRowContext(t.Context(), "SELECT 'limited_' || current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	run(t, db, "CREATE ROLE "+name+" LOGIN "+limit, "GRANT ALL ON SCHEMA public TO "+name)
	return strings.Replace(url, "user=turncore", "user="+name, 1)
}

func TestTooManyConnections(t *testing.T) {
	url := limited(t, database(t), "CONNECTION LIMIT 2")
	s := at(t, url, Options{MaxConnections: 1})
	other, err := raw(t, url).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	run(t, other, "SELECT 1")
	if _, err := s.Commit(t.Context(), "s", said("m", "text")); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), url, Options{})
	fails(t, err, "it has too many connections")
	has(t, s, "s", "m")
}

func TestStatementTakesTooLong(t *testing.T) {
	url := created(t)
	patient, db := at(t, url, Options{}), raw(t, url)
	if _, err := patient.Commit(t.Context(), "s", said("m", "text")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ setting, why string }{
		{"statement_timeout=50", "it took too long"}, {"lock_timeout=50", "it is locked"},
	} {
		s := at(t, url+" "+test.setting, Options{})
		other, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		run(t, other, "SELECT 1 FROM turncore_sessions FOR UPDATE")
		_, err = s.Commit(t.Context(), "s", said(test.why, "text"))
		fails(t, err, `session "s": `+test.why)
		if err := other.Rollback(); err != nil {
			t.Error(err)
		}
		if _, err := s.Commit(t.Context(), "s", said(test.why, "text")); err != nil {
			t.Error(err)
		}
	}
	has(t, patient, "s", "m", "it took too long", "it is locked")
}

// Transactions that meet are tried again: a deadlock, and one that the server cannot put in an order.
func TestTransactionsMeet(t *testing.T) {
	url := created(t)
	s, db := at(t, url+" deadlock_timeout=5000", Options{}), raw(t, url+" deadlock_timeout=30000")
	if _, err := s.Commit(t.Context(), "s", said("m", "text")); err != nil {
		t.Fatal(err)
	}
	other, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	run(t, other, "SELECT 1 FROM turncore_records FOR UPDATE")
	done := make(chan error, 1)
	go func() {
		c := said("n", "text")
		c.Deltas = append(c.Deltas, wrote(store.OpMutate, "m", "changed"))
		_, err := s.Commit(t.Context(), "s", c)
		done <- err
	}()
	waits := "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	for n := 0; n == 0; time.Sleep(5 * time.Millisecond) {
		if err := db.QueryRowContext(t.Context(), waits).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	run(t, other, "SELECT 1 FROM turncore_sessions FOR UPDATE")
	if err := errors.Join(other.Commit(), <-done); err != nil {
		t.Error(err)
	}
	has(t, s, "s", "m=changed", "n=text")

	// The server refuses the first commits, as the last they may be, and then all.
	run(t, db, "CREATE SEQUENCE refusals")
	for _, when := range []string{"AFTER INSERT", "CONSTRAINT"} {
		run(t, db, "ALTER SEQUENCE refusals RESTART")
		fault(t, db, "turncore_records", when, "40001", "nextval('refusals') < 6")
		if _, err := s.Commit(t.Context(), "s", said(when, "text")); err != nil {
			t.Error(err)
		}
		run(t, db, "ALTER SEQUENCE refusals RESTART", "DROP FUNCTION fault_of_turncore_records CASCADE")
		fault(t, db, "turncore_records", when, "40001", "true")
		_, err := s.Commit(t.Context(), "s", said("never", "text"))
		fails(t, err, `session "s": transactions met each other`)
		run(t, db, "DROP FUNCTION fault_of_turncore_records CASCADE")
	}
	has(t, s, "s", "m=changed", "n=text", "AFTER INSERT", "CONSTRAINT")
}

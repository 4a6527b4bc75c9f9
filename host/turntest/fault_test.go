package turntest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/tools"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
)

var errDisk = errors.New("the disk is full")

// Each part of an agent fails at its n-th call, and at no other.
func TestFailAt(t *testing.T) {
	for _, c := range []struct {
		what  string
		calls int // in a turn
		wrap  func(f *turntest.Fault, config *turns.Config)
		want  error // of the turn
	}{
		{"model", 3, func(f *turntest.Fault, c *turns.Config) { c.Model = f.Model(c.Model) }, host.CodeModelFailed},
		{"executor", 3, func(f *turntest.Fault, c *turns.Config) {
			c.Executor, c.Model = f.Executor(c.Executor), turns.Model{}
		}, host.CodeLLMExecutionExecutorError},
		{"tool", 2, func(f *turntest.Fault, c *turns.Config) { c.Tools = []*turns.Tool{f.Tool(weather)} }, nil},
	} {
		for n := range c.calls + 1 {
			t.Run(fmt.Sprint(c.what, " ", n), func(t *testing.T) {
				answers := []turntest.Answer{
					turntest.Call("weather", map[string]any{"city": "Oslo"}), turntest.Call("weather", map[string]any{"city": "Bergen"}),
					turntest.Text("Cold."),
				}
				if n > 0 && c.want != nil {
					answers = answers[:n-1]
				}
				err := errDisk
				if n == 0 {
					err = nil
				}
				fault := turntest.FailAt(t, n, err)
				script := turntest.NewScript(t, answers...)
				config := turns.Config{Model: script.Model()}
				if c.what == "executor" {
					config = turns.Config{Executor: script.Executor()}
				}
				c.wrap(fault, &config)
				events, result := play(t, config, "Hi!")
				switch {
				case n == 0 && (result.Err != nil || fault.Calls() != c.calls):
					t.Errorf("%v after %d calls", result.Err, fault.Calls())
				case n > 0 && c.want != nil && (!errors.Is(result.Err, c.want) || !errors.Is(result.Err, errDisk) || fault.Calls() != n):
					t.Errorf("%v after %d calls", result.Err, fault.Calls())
				case n > 0 && c.want == nil:
					failed := 0
					for _, e := range events {
						if e, ok := e.(*event.ToolExecutionEnd); ok && e.IsError {
							failed++
						}
					}
					if result.Err != nil || failed != 1 || !result.ToolCalls[n-1].IsError {
						t.Errorf("%v, %d calls failed: %+v", result.Err, failed, result.ToolCalls)
					}
				}
			})
		}
	}
}

// Whatever call of the store fails, the turn says so, and the next turn goes on.
func TestFailAtOfStore(t *testing.T) {
	turn := func(fault *turntest.Fault) (first, second *turns.Result) {
		kept := fault.Store(store.NewInMemory())
		h := turntest.Host(t, turns.HostOptions{})
		runner, err := turns.New(t.Context(), turns.Config{Host: h, Store: kept, Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			if err := h.ReportMessage("m", "Done.", true); err != nil {
				return err
			}
			return errors.Join(ctx.StoreStandingInstruction("Be brief."), ctx.Ack())
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer runner.Close()
		for _, result := range []**turns.Result{&first, &second} {
			var err error
			if *result, err = runner.Run(t.Context(), turns.Input{Message: "Hi!"}); *result == nil {
				*result = &turns.Result{Status: event.Failed, Err: err}
			}
		}
		return first, second
	}
	count := turntest.FailAt(t, 0, nil)
	turn(count)
	calls := count.Calls()
	if calls < 6 {
		t.Fatalf("%d calls", calls)
	}
	failed := 0
	for n := 1; n <= calls; n++ {
		first, second := turn(turntest.FailAt(t, n, errDisk))
		for _, r := range []*turns.Result{first, second} {
			if r.Status != event.Ack {
				failed++
				if !errors.Is(r.Err, errDisk) {
					t.Errorf("call %d: %v", n, r.Err)
				}
			}
		}
		if first.Status != event.Ack && second.Status != event.Ack {
			t.Errorf("call %d: the second turn ended with %v", n, second.Err)
		}
	}
	if failed != calls {
		t.Errorf("%d turns failed of %d calls", failed, calls)
	}
}

// only are stores that can do less.
type (
	onlyStore  struct{ store.Store }
	onlyNewest struct{ store.Newest }
	withParts  struct {
		store.Store
		parts
	}
	parts interface {
		Append(ctx context.Context, session string, a store.Append) (string, error)
		Events(ctx context.Context, session string, q store.EventQuery) ([]store.SessionEvent, error)
		State(ctx context.Context, session, scope string) ([]store.StateValue, error)
		Artifacts(ctx context.Context, session, scope string) ([]store.Artifact, error)
		OpenArtifact(ctx context.Context, session, scope, name string, version int) (io.ReaderAt, int64, error)
	}
	journal interface {
		AppendJournal(ctx context.Context, turn string, a store.JournalAppend) error
		ReadJournal(ctx context.Context, turn string, from int64) (*store.JournalPart, error)
		CompactJournal(ctx context.Context, turn string, epoch, before int64, checkpoint []byte) error
		DeleteJournal(ctx context.Context, turn string, epoch int64) error
	}
)

// A store with a fault can do what the store can, and no more. Each of its methods meets the fault, and does its work
// otherwise.
func TestStoresWithFaults(t *testing.T) {
	m := store.NewInMemory()
	for name, s := range map[string]store.Store{
		"all":                          m,
		"sessions, appender":           struct{ sessionsAppender }{m},
		"sessions, journal":            struct{ sessionsJournal }{m},
		"sessions":                     struct{ store.Sessions }{m},
		"newest, appender and journal": struct{ newestBoth }{m},
		"newest, appender":             struct{ newestAppender }{m},
		"newest, journal":              struct{ newestJournal }{m},
		"newest":                       onlyNewest{m},
		"appender and journal": struct {
			withParts
			journal
		}{withParts{m, m}, m},
		"appender": withParts{m, m},
		"journal": struct {
			onlyStore
			journal
		}{onlyStore{m}, m},
		"store": onlyStore{m},
	} {
		failing := turntest.FailAt(&fakeT{}, 0, nil).Store(s)
		if got, want := abilities(failing), abilities(s); got != want {
			t.Errorf("%s: can %s, want %s", name, got, want)
		}
		if _, ok := failing.(store.Homed); !ok {
			t.Errorf("%s: it has no home", name)
		}
	}

	ctx := t.Context()
	all := func(s store.Store) []func() error {
		full := s.(interface {
			store.Sessions
			store.Appender
			store.Journal
		})
		return []func() error{
			func() error { _, err := full.Commit(ctx, "s", store.Commit{}); return err },
			func() error { _, err := full.Load(ctx, "s", ""); return err },
			func() error { return full.PutBytes(ctx, "s", "b", strings.NewReader("bytes")) },
			func() error { _, _, err := full.OpenBytes(ctx, "s", "b"); return err },
			func() error { _, err := full.Newest(ctx, "s"); return err },
			func() error { _, _, err := full.List(ctx, "", 0); return err },
			func() error { _, err := full.Find(ctx, "s"); return err },
			func() error { return full.SetTitle(ctx, "s", "title") },
			func() error { return full.Fork(ctx, "s", "f") },
			func() error { return full.Delete(ctx, "f") },
			func() error {
				_, err := full.Append(ctx, "s", store.Append{Artifacts: []store.Artifact{{Name: "a", Bytes: "b"}}})
				return err
			},
			func() error { _, err := full.Events(ctx, "s", store.EventQuery{}); return err },
			func() error { _, err := full.State(ctx, "s", ""); return err },
			func() error { _, err := full.Artifacts(ctx, "s", ""); return err },
			func() error { _, _, err := full.OpenArtifact(ctx, "s", "", "a", 0); return err },
			func() error {
				return full.AppendJournal(ctx, "t", store.JournalAppend{Epoch: 1, Entries: [][]byte{{1}, {2}}})
			},
			func() error { _, err := full.ReadJournal(ctx, "t", 0); return err },
			func() error { return full.CompactJournal(ctx, "t", 1, 1, []byte("c")) },
			func() error { return full.DeleteJournal(ctx, "t", 1) },
		}
	}
	for n := range len(all(m)) + 1 {
		err := errDisk
		if n == 0 {
			err = nil
		}
		fault := turntest.FailAt(t, n, err)
		for i, call := range all(fault.Store(store.NewInMemory())) {
			err := call()
			if n == i+1 && err != errDisk { //nolint:errorlint // the very error
				t.Errorf("call %d: %v", n, err)
			}
			if n == 0 && err != nil || n == i+1 && fault.Calls() != n {
				t.Errorf("call %d of %d: %v", i+1, fault.Calls(), err)
			}
		}
	}
}

type (
	sessionsAppender interface {
		store.Sessions
		parts
	}
	sessionsJournal interface {
		store.Sessions
		journal
	}
	newestAppender interface {
		store.Newest
		parts
	}
	newestJournal interface {
		store.Newest
		journal
	}
	newestBoth interface {
		newestAppender
		journal
	}
)

// abilities are the optional parts of a store.
func abilities(s store.Store) string {
	_, newest := s.(store.Newest)
	_, sessions := s.(store.Sessions)
	_, appender := s.(store.Appender)
	_, journal := s.(store.Journal)
	return fmt.Sprintf("newest %v, sessions %v, appender %v, journal %v", newest, sessions, appender, journal)
}

// Bytes that were put through the fault are the store's own: they are not copied.
func TestStoreWithFaultHasTheBytesOfTheStore(t *testing.T) {
	m := store.NewInMemory()
	fault := turntest.FailAt(t, 0, nil)
	a, b := fault.Store(m), turntest.FailAt(t, 0, nil).Store(fault.Store(m))
	if a.(store.Homed).Home() != any(m) || b.(store.Homed).Home() != any(m) {
		t.Error("the stores are not at home in the store that they wrap")
	}
	list := fault.Store(listed{m}).(store.Homed)
	if list.Home() != list.Home() {
		t.Error("a store that cannot be compared has no home")
	}
}

// listed is a store that cannot be compared.
type listed []store.Store

func (l listed) Load(ctx context.Context, session, after string) (*store.Conversation, error) {
	return l[0].Load(ctx, session, after)
}

func (l listed) Commit(ctx context.Context, session string, c store.Commit) (string, error) {
	return l[0].Commit(ctx, session, c)
}

func (l listed) PutBytes(ctx context.Context, session, id string, content io.Reader) error {
	return l[0].PutBytes(ctx, session, id, content)
}

func (l listed) OpenBytes(ctx context.Context, session, id string) (io.ReaderAt, int64, error) {
	return l[0].OpenBytes(ctx, session, id)
}

func TestFailAtOfHTTP(t *testing.T) {
	fault := turntest.FailAt(t, 2, errDisk)
	transport := fault.HTTP(answering("text/plain", "Said."))
	for n := 1; n <= 3; n++ {
		got, err := send(t, transport, http.MethodPost, "https://api.example/v1", "{}")
		if n == 2 && !errors.Is(err, errDisk) || n != 2 && (err != nil || got != "200 text/plain Said.") {
			t.Errorf("request %d: %q, %v", n, got, err)
		}
	}
	// The default transport is behind one that has none: what goes nowhere is its error.
	if _, err := send(t, turntest.FailAt(t, 0, nil).HTTP(nil), http.MethodGet, "nowhere://x", ""); err == nil || !strings.Contains(err.Error(), "unsupported protocol scheme") {
		t.Error(err)
	}
}

func TestFailAtReports(t *testing.T) {
	says(t, reported(func(f *fakeT) {
		fault := turntest.FailAt(f, 3, errDisk)
		script := turntest.NewScript(f, turntest.Text("Done."))
		play(f, turns.Config{Model: fault.Model(script.Model())}, "Hi!")
	}), `call 3 was to fail with "the disk is full", there were 1`)
	says(t, reported(func(f *fakeT) { turntest.FailAt(f, -1, errDisk) }), "fatal:", "calls count from 1, not from -1")
	says(t, reported(func(f *fakeT) { turntest.FailAt(f, 1, nil) }), "fatal:", "call 1 fails with no error")

	fault := turntest.FailAt(t, 0, nil)
	for want, wrap := range map[string]func(){
		"the model has no engine":                      func() { fault.Model(turns.Model{Name: "m"}) },
		"the handler of calculator is inside the core": func() { fault.Tool(tools.Calculator()) },
		"the handler of fetch is inside the core":      func() { fault.Tool(tools.Fetch(tools.FetchOptions{Allow: []string{"https://a.example"}})) },
	} {
		func() {
			defer func() {
				if v := recover(); !strings.Contains(fmt.Sprint(v), want) {
					t.Errorf("panicked with %v, want %q", v, want)
				}
			}()
			wrap()
		}()
	}
}

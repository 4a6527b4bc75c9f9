package turns_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// The id of a session is refused by name, before any event, if it is too long or no text.
func TestSessionIDs(t *testing.T) {
	r := newFront(t, turns.Config{Executor: say("Hi.")})
	for id, want := range map[string]string{
		strings.Repeat("x", 512): "", strings.Repeat("x", 513): "session: has 513 bytes, more than 512", strings.Repeat("é", 257): "session: has 514 bytes",
		"a\xff": "session: must be valid UTF-8", "\xed\xa0\x80": "session: must be valid UTF-8", "": "", "\x00": "",
	} {
		result, err := r.Run(t.Context(), turns.Input{Message: "hello", Session: id})
		if want == "" {
			if err != nil {
				t.Errorf("%.20q: %v", id, err)
			}
			continue
		}
		if result != nil || !errors.Is(err, host.Code("E_INVALID_SESSION_ID")) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %+v, %v, want %s", id, result, err, want)
		}
		if _, err := r.Stream(t.Context(), turns.Input{Message: "hello", Session: id}).Result(); !errors.Is(err, host.Code("E_INVALID_SESSION_ID")) {
			t.Errorf("%.20q, streamed: %v", id, err)
		}
	}
	if _, err := turns.New(t.Context(), turns.Config{Executor: ack, WhenBusy: "wait"}); !errors.Is(err, host.Code("E_INVALID_TURN_RUNNER_CONFIG")) ||
		!strings.Contains(err.Error(), "`whenBusy`") {
		t.Errorf("another WhenBusy: %v", err)
	}
}

// busy is a runner whose turns wait in their executor until they are let go, one by one.
type busy struct {
	mu     sync.Mutex
	begun  []string
	letGo  chan struct{}
	during func(ctx *turns.DispatchContext) error
}

func (b *busy) execute(ctx *turns.DispatchContext, _ *turns.Helpers) error {
	b.mu.Lock()
	b.begun = append(b.begun, ctx.TurnID())
	b.mu.Unlock()
	if b.letGo != nil {
		<-b.letGo
	}
	if b.during != nil {
		if err := b.during(ctx); err != nil {
			return err
		}
	}
	return errors.Join(ctx.StoreMessage(message(ctx.TurnID()+".answer", "x")), ctx.Ack())
}

func (b *busy) seen() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.begun, " ")
}

// Turns that wait for another one of their session fail when the runner shuts down, as those do that come later.
func TestTurnsThatQueueFailAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{letGo: make(chan struct{})}
		r, err := turns.New(context.Background(), turns.Config{Store: store.NewInMemory(), Engine: native.New(), Executor: b.execute})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		run := func(id string, want error) {
			all.Go(func() {
				if _, err := r.Run(context.Background(), turns.Input{Message: "hi", TurnID: id}); !errors.Is(err, want) {
					t.Errorf("turn %s: %v, want %v", id, err, want)
				}
			})
			synctest.Wait()
		}
		run("first", nil)
		run("waits", turns.ErrClosed)
		all.Go(func() {
			if err := r.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		run("late", turns.ErrClosed)
		if got := b.seen(); got != "first" {
			t.Errorf("%s have begun", got)
		}
		b.letGo <- struct{}{}
		all.Wait()
	})
}

// Turns of a session run one after the other, in their order, whichever runner with the store starts them. Other
// sessions do not wait.
func TestTurnsOfASessionQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{letGo: make(chan struct{})}
		sessions := store.NewInMemory()
		runners := make([]*turns.Runner, 2)
		for i := range runners {
			r, err := turns.New(context.Background(), turns.Config{Store: sessions, Engine: native.New(), Executor: b.execute})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			runners[i] = r
		}
		var all sync.WaitGroup
		start := func(i int, session string) {
			all.Go(func() {
				if _, err := runners[i%2].Run(context.Background(), turns.Input{Message: "hi", Session: session, TurnID: fmt.Sprint(session, i)}); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		for i := range 4 {
			start(i, "a")
		}
		start(0, "b")
		if got := b.seen(); got != "a0 b0" {
			t.Errorf("%s have begun", got)
		}
		for range 5 {
			b.letGo <- struct{}{}
			synctest.Wait()
		}
		all.Wait()
		if got := b.seen(); got != "a0 b0 a1 a2 a3" {
			t.Errorf("in the order %s", got)
		}
		c, err := sessions.Load(context.Background(), "a", "")
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range c.Messages {
			ids = append(ids, m.ID)
		}
		if got := strings.Join(ids, " "); got != "a0.user a0.answer a1.user a1.answer a2.user a2.answer a3.user a3.answer" {
			t.Errorf("stored in the order %s", got)
		}
	})
}

// A turn that waits can be given up. Those behind it move up.
func TestAWaitingTurnIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{letGo: make(chan struct{})}
		r, err := turns.New(context.Background(), turns.Config{Engine: native.New(), Executor: b.execute})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		why := errors.New("no patience")
		contexts, give := make([]context.Context, 4), make([]context.CancelCauseFunc, 4)
		ended := make([]chan error, 4)
		for i := range contexts {
			contexts[i], give[i] = context.WithCancelCause(context.Background())
			ended[i] = make(chan error, 1)
			go func() {
				result, err := r.Run(contexts[i], turns.Input{Message: "hi", Session: "s", TurnID: strconv.Itoa(i)})
				if i == 1 && result != nil {
					t.Errorf("a turn that never began has the result %+v", result)
				}
				ended[i] <- err
			}()
			synctest.Wait()
		}
		give[1](why)
		synctest.Wait()
		if err := <-ended[1]; !errors.Is(err, why) {
			t.Errorf("given up: %v", err)
		}
		for i := range 3 {
			b.letGo <- struct{}{}
			synctest.Wait()
			if i == 0 {
				give[2](why) // it runs
			}
		}
		for _, i := range []int{0, 2, 3} {
			if err := <-ended[i]; (i == 2) != errors.Is(err, why) {
				t.Errorf("turn %d: %v", i, err)
			}
		}
		if got := b.seen(); got != "0 2 3" {
			t.Errorf("%s have begun", got)
		}
	})
}

// A turn that waits for another one of its session ends when its runner is closed, and does not begin.
func TestAWaitingTurnEndsWithItsRunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions, b := store.NewInMemory(), &busy{letGo: make(chan struct{})}
		var ended [2]chan error
		var runners [2]*turns.Runner
		for i := range runners {
			r, err := turns.New(context.Background(), turns.Config{Engine: native.New(), Executor: b.execute, Store: sessions})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			runners[i], ended[i] = r, make(chan error, 1)
			go func() {
				_, err := r.Run(context.Background(), turns.Input{Message: "hi", Session: "s", TurnID: strconv.Itoa(i)})
				ended[i] <- err
			}()
			synctest.Wait()
		}
		if err := runners[1].Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended[1]; !errors.Is(err, turns.ErrClosed) {
			t.Errorf("the turn that waits: %v", err)
		}
		b.letGo <- struct{}{}
		if err := <-ended[0]; err != nil {
			t.Error(err)
		}
		if got := b.seen(); got != "0" {
			t.Errorf("%s have begun", got)
		}
	})
}

// A turn is refused while another one of its session runs, if the runner is to refuse it.
func TestTurnsOfASessionAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{letGo: make(chan struct{})}
		r, err := turns.New(context.Background(), turns.Config{Engine: native.New(), Executor: b.execute, WhenBusy: turns.Refuse})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		ended := make(chan error)
		for range 2 { // afterwards the session is free
			go func() {
				_, err := r.Run(context.Background(), turns.Input{Message: "hi", Session: "s", TurnID: "t"})
				ended <- err
			}()
			synctest.Wait()
			result, err := r.Run(context.Background(), turns.Input{Message: "hi", Session: "s"})
			if result != nil || !errors.Is(err, host.Code("E_SESSION_BUSY")) || !strings.Contains(err.Error(), `"s"`) {
				t.Errorf("%+v, %v, want E_SESSION_BUSY", result, err)
			}
			go func() { // the same turn is no other one
				_, err := r.Run(context.Background(), turns.Input{Message: "hi", Session: "s", TurnID: "t"})
				ended <- err
			}()
			synctest.Wait()
			b.letGo <- struct{}{}
			for range 2 {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// A turn that is started inside another one of its session would wait for itself: it is refused. One of another session
// runs.
func TestATurnInsideATurn(t *testing.T) {
	var r *turns.Runner
	inner := map[string]error{}
	b := &busy{}
	b.during = func(ctx *turns.DispatchContext) error {
		if ctx.TurnID() != "outer" {
			return nil
		}
		for _, session := range []string{"s", "another"} {
			_, inner[session] = r.Run(ctx, turns.Input{Message: "hi", Session: session, TurnID: "in " + session})
		}
		return nil
	}
	r = newFront(t, turns.Config{Executor: b.execute})
	if _, err := r.Run(t.Context(), turns.Input{Message: "hi", Session: "s", TurnID: "outer"}); err != nil {
		t.Fatal(err)
	}
	if err := inner["s"]; !errors.Is(err, host.Code("E_SESSION_BUSY")) {
		t.Errorf("in the same session: %v", err)
	}
	if err := inner["another"]; err != nil {
		t.Errorf("in another session: %v", err)
	}
}

// Turns that wait when the runner is closed do not begin.
func TestWaitingTurnsOfAClosedRunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{letGo: make(chan struct{})}
		r, err := turns.New(context.Background(), turns.Config{Engine: native.New(), Executor: b.execute})
		if err != nil {
			t.Fatal(err)
		}
		ended := make([]chan error, 3)
		for i := range ended {
			ended[i] = make(chan error, 1)
			go func() {
				_, err := r.Run(context.Background(), turns.Input{Message: "hi", TurnID: strconv.Itoa(i)})
				ended[i] <- err
			}()
			synctest.Wait()
		}
		done := make(chan error)
		go func() { done <- r.Shutdown(context.Background()) }()
		synctest.Wait()
		b.letGo <- struct{}{}
		if err := errors.Join(<-done, <-ended[0]); err != nil {
			t.Error(err)
		}
		for _, e := range ended[1:] {
			if err := <-e; !errors.Is(err, turns.ErrClosed) {
				t.Errorf("a waiting turn: %v", err)
			}
		}
		if got := b.seen(); got != "0" {
			t.Errorf("%s have begun", got)
		}
	})
}

// keptCommits is a store that keeps what is committed.
type keptCommits struct {
	*store.InMemory
	mu      sync.Mutex
	commits []store.Commit
}

func (s *keptCommits) Commit(ctx context.Context, session string, c store.Commit) (string, error) {
	s.mu.Lock()
	s.commits = append(s.commits, c)
	s.mu.Unlock()
	return s.InMemory.Commit(ctx, session, c)
}

// Each transaction of a turn has a key of its own, which is the same when the turn runs again at the same time. A
// commit names the turns that have ended before it.
func TestKeysOfCommits(t *testing.T) {
	play := func() (keys []string, turnsOf []string, ended []string) {
		s := &keptCommits{InMemory: store.NewInMemory()}
		h := turns.NewHost(turns.HostOptions{Engine: native.New(), Clock: host.FixedClock(host.FixedTime)})
		defer h.Close(t.Context())
		r := newFront(t, turns.Config{
			Store: s, Host: h,
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				next()
				return ctx.StoreMessage(message(ctx.TurnID()+".m", "x"))
			}},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				return errors.Join(ctx.StoreMessage(message(ctx.TurnID()+".e", "x")), ctx.Commit(), ctx.StoreMessage(message(ctx.TurnID()+".f", "x")), ctx.Ack())
			},
		})
		for _, id := range []string{"one", "two"} {
			if _, err := r.Run(t.Context(), turns.Input{Message: "hi", Session: "s", TurnID: id}); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range s.commits {
			keys, turnsOf, ended = append(keys, c.Key), append(turnsOf, c.Turn), append(ended, strings.Join(c.Ended, "+"))
		}
		return keys, turnsOf, ended
	}
	keys, of, ended := play()
	again, _, _ := play()
	if len(keys) != 8 || !slices.Equal(keys, again) {
		t.Errorf("keys %q, and again %q", keys, again)
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(keys))); len(distinct) != len(keys) {
		t.Errorf("keys %q are not different", keys)
	}
	for i, key := range keys {
		if !strings.HasPrefix(key, of[i]+".e") || !strings.HasPrefix(of[i], []string{"one@", "two@"}[i/4]) {
			t.Errorf("key %q of turn %q", key, of[i])
		}
	}
	if want := []string{"", "", "", "", of[0], "", "", ""}; !slices.Equal(ended, want) {
		t.Errorf("ended %q, want %q", ended, want)
	}
}

// A storage function gets the key of its effect, and each of several calls for one effect a key of its own. What the
// store's functions write inside another function is never taken for what another call has written.
func TestKeysOfStorageFunctions(t *testing.T) {
	s := &keptCommits{InMemory: store.NewInMemory()}
	var keys []string
	callbacks := turns.StoreCallbacks(s)
	inner := callbacks.StoreMessage
	callbacks.StoreMessage = func(ctx turns.Context, m *record.Message) error {
		keys = append(keys, ctx.IdempotencyKey())
		copied := *m
		copied.ID += ".copy"
		return errors.Join(inner(ctx, m), inner(ctx, &copied))
	}
	r := newRunner(t, turns.TurnRunnerConfig{Callbacks: callbacks, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		if key := ctx.IdempotencyKey(); key != "" {
			t.Errorf("an executor has key %q", key)
		}
		return errors.Join(ctx.StoreThought(record.NewThought("t", "x", instant)), ctx.StoreMessage(message("a", "x")), ctx.StoreMessage(message("b", "x")), ctx.StoreThought(record.NewThought("u", "x", instant)), ctx.Ack())
	}})
	if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Text: "hi", TurnID: "turn"}); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 3 || len(slices.Compact(slices.Sorted(slices.Values(keys)))) != 3 || !strings.HasPrefix(keys[0], "turn@") || !strings.HasSuffix(keys[1], ".1") || !strings.HasSuffix(keys[2], ".2") {
		t.Errorf("keys %q", keys)
	}
	c, err := s.Load(t.Context(), turns.DefaultSession, "")
	if err != nil || len(c.Messages) != 6 || len(c.Thoughts) != 2 {
		t.Errorf("%d messages and %d thoughts, %v", len(c.Messages), len(c.Thoughts), err)
	}
	var committed []string
	for _, c := range s.commits {
		committed = append(committed, c.Key)
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(committed))); len(distinct) != 8 {
		t.Errorf("%d commits under keys %q", len(committed), committed)
	}
}

// A turn does not overwrite what somebody else has changed since it loaded the session, also if it has written since.
func TestATurnThatLosesARace(t *testing.T) {
	for _, before := range []bool{false, true} {
		s := store.NewInMemory()
		write := func(d store.Delta) {
			if _, err := s.Commit(t.Context(), "s", store.Commit{Deltas: []store.Delta{d}}); err != nil {
				t.Fatal(err)
			}
		}
		put := func(text string) store.Delta {
			return store.Delta{Op: store.OpStore, Kind: "message", ID: "m", Record: message("m", text)}
		}
		write(put("1"))
		r := newFront(t, turns.Config{Store: s, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if before {
				if err := errors.Join(ctx.StoreMessage(message("early", "x")), ctx.Commit()); err != nil {
					return err
				}
			}
			write(put("2"))
			return errors.Join(ctx.StoreMessage(message("late", "x")), ctx.MutateMessage(message("m", "3")), ctx.Ack())
		}})
		_, err := r.Run(t.Context(), turns.Input{Message: "hi", Session: "s"})
		if !errors.Is(err, host.CodeStorageCommitError) || !errors.Is(err, host.Code("E_SESSION_CONFLICT")) || !strings.Contains(err.Error(), `message "m"`) {
			t.Errorf("%v, want a conflict of message m", err)
		}
		c, err := s.Load(t.Context(), "s", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Messages {
			if m.ID == "late" || m.ID == "m" && m.Content != "2" {
				t.Errorf("message %s is %q", m.ID, m.Content)
			}
		}
	}
}

// What one runner has loaded of a session, another one with the same store does not load again.
func TestRunnersShareWhatTheyLoaded(t *testing.T) {
	s := &rebuilding{InMemory: store.NewInMemory()}
	fill(t, s, turns.DefaultSession, 100, new(atomic.Int64))
	first := newFront(t, turns.Config{Store: s, Executor: say("Hi.")})
	if _, err := first.Run(t.Context(), turns.Input{Message: "hi"}); err != nil {
		t.Fatal(err)
	}
	before := s.loaded.Load()
	second := newFront(t, turns.Config{Store: s, Executor: say("Hi.")})
	if _, err := second.Run(t.Context(), turns.Input{Message: "hi"}); err != nil {
		t.Fatal(err)
	}
	if n := s.loaded.Load() - before; n > 5 {
		t.Errorf("%d records were loaded again", n)
	}
	if _, err := first.Run(t.Context(), turns.Input{Message: "hi"}); err != nil {
		t.Fatal(err)
	}
}

// A text for a document whose iteration is discarded leaves the stored document as it is, of the same length or not.
func TestADiscardedTextLeavesTheDocument(t *testing.T) {
	for _, other := range []string{"another text", "two lines\nof it"} {
		s := store.NewInMemory()
		document := func(text string) *record.Retrievable {
			return record.NewRetrievable("doc", text, record.FirstParty, instant)
		}
		run := func(executor func(ctx *turns.DispatchContext) error) {
			r := newFront(t, turns.Config{Store: s, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return executor(ctx) }})
			_, _ = r.Run(t.Context(), turns.Input{Message: "hi", Session: "s"}) // the second turn nacks
		}
		run(func(ctx *turns.DispatchContext) error {
			_, err := ctx.StoreRetrievable(document("the old text"))
			return errors.Join(err, ctx.Ack())
		})
		run(func(ctx *turns.DispatchContext) error {
			if _, err := ctx.MutateRetrievable(document(other)); err != nil {
				return err
			}
			return ctx.Nack(errors.New("no"))
		})
		c, err := s.Load(t.Context(), "s", "")
		if err != nil || len(c.Retrievables) != 1 {
			t.Fatalf("%+v, %v", c, err)
		}
		if text, err := c.Retrievables[0].ContentString(t.Context()); err != nil || text != "the old text" {
			t.Errorf("after %q was discarded the document reads %q, %v", other, text, err)
		}
	}
}

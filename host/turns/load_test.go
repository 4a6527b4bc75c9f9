package turns_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// rebuilding is a store whose Load makes every record anew, as one over a database does. It has revisions unless it is
// told to hide them.
type rebuilding struct {
	*store.InMemory
	hide   bool
	loaded atomic.Int64 // records
	broken func(*store.Conversation)
}

func (s *rebuilding) Load(ctx context.Context, session, after string) (*store.Conversation, error) {
	if s.hide {
		after = ""
	}
	c, err := s.InMemory.Load(ctx, session, after)
	if err != nil {
		return nil, err
	}
	for i, m := range c.Messages {
		copied := *m
		c.Messages[i] = &copied
	}
	for i, t := range c.Thoughts {
		copied := *t
		c.Thoughts[i] = &copied
	}
	if s.hide {
		c.Revision = ""
	}
	if s.broken != nil {
		s.broken(c)
	}
	s.loaded.Add(int64(len(c.Messages) + len(c.Thoughts)))
	return c, nil
}

// counted is a payload that counts how often it is encoded.
type counted struct{ encoded *atomic.Int64 }

func (c counted) MarshalJSON() ([]byte, error) {
	c.encoded.Add(1)
	return json.RawMessage(`"thinking"`), nil
}

// crossing is an engine that counts the bytes that go into its instances.
type crossing struct {
	host.Engine
	bytes atomic.Int64
}

func (e *crossing) Open(ctx context.Context) (host.Instance, error) {
	inst, err := e.Engine.Open(ctx)
	return &crossingInstance{inst, e}, err
}

type crossingInstance struct {
	host.Instance
	engine *crossing
}

func (i *crossingInstance) Step(dst, in []byte) ([]byte, error) {
	i.engine.bytes.Add(int64(len(in)))
	return i.Instance.Step(dst, in)
}

// fill puts n messages and thoughts into a session.
func fill(t *testing.T, sessions store.Store, session string, n int, encoded *atomic.Int64) {
	t.Helper()
	at := instant.Add(-time.Hour)
	var writes []store.Delta
	for i := range n {
		m := record.NewMessage("m"+strconv.Itoa(i), record.User, "What a message says, in some words.", at)
		thought := record.NewThought("t"+strconv.Itoa(i), "x", at)
		thought.Payload, thought.ReplayCompatibility = counted{encoded}, "none"
		writes = append(
			writes,
			store.Delta{Op: store.OpStore, Kind: "message", ID: m.ID, Record: m},
			store.Delta{Op: store.OpStore, Kind: "thought", ID: thought.ID, Record: thought},
		)
	}
	if _, err := sessions.Commit(t.Context(), session, store.Commit{Deltas: writes}); err != nil {
		t.Fatal(err)
	}
}

// However long the conversation, a turn costs the same, also with a store that makes its lists anew: records that the
// middleware has are not loaded, not encoded and do not cross again.
func TestLongConversationCostsTheSame(t *testing.T) {
	const long = 2000
	type cost struct{ loaded, encoded, crossed int64 }
	measure := func(t *testing.T, n int, hide bool) cost {
		engine := &crossing{Engine: hosttest.Engines(t)[0]}
		store := &rebuilding{InMemory: store.NewInMemory(), hide: hide}
		var encoded atomic.Int64
		fill(t, store, "s", n, &encoded)
		runner, err := turns.New(t.Context(), turns.Config{
			Store: store, Host: turns.NewHost(turns.HostOptions{Engine: engine, Clock: host.FixedClock(host.FixedTime)}),
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				if got := ctx.TurnThoughts().Len(); got != n {
					t.Errorf("the turn has %d thoughts, not %d", got, n)
				}
				return errors.Join(ctx.StoreMessage(message("a"+ctx.TurnID(), "an answer")), ctx.Ack())
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer runner.Close()
		run := func() {
			if result, err := runner.Run(t.Context(), turns.Input{Message: "Hi!", Session: "s"}); err != nil || result.Status != event.Ack {
				t.Fatalf("%+v, %v", result, err)
			}
		}
		run()
		run()
		before := cost{store.loaded.Load(), encoded.Load(), engine.bytes.Load()}
		run()
		return cost{store.loaded.Load() - before.loaded, encoded.Load() - before.encoded, engine.bytes.Load() - before.crossed}
	}
	none, many := measure(t, 0, false), measure(t, long, false)
	if many.loaded > none.loaded || many.encoded != 0 || float64(many.crossed) > 1.1*float64(none.crossed) {
		t.Errorf("a turn on %d records costs %+v, on none %+v", 2*long, many, none)
	}
	without := measure(t, long, true)
	if float64(without.crossed) > 1.1*float64(none.crossed) {
		t.Errorf("without revisions %d bytes cross, %d with none", without.crossed, none.crossed)
	}
}

// A turn sees what the store holds, also after changes by others.
func TestLoadConversationFollowsTheStore(t *testing.T) {
	put := func(id, text string) store.Delta {
		return store.Delta{Op: store.OpStore, Kind: "message", ID: id, Record: message(id, text)}
	}
	change := func(id, text string) store.Delta {
		return store.Delta{Op: store.OpMutate, Kind: "message", ID: id, Record: message(id, text)}
	}
	remove := func(id string) store.Delta { return store.Delta{Op: store.OpDelete, Kind: "message", ID: id} }
	for _, c := range []struct {
		name   string
		writes []store.Delta // by another process
		want   string
	}{
		{"nothing", nil, "a=1 b=2 c=3"},
		{"a record is added", []store.Delta{put("d", "4")}, "a=1 b=2 c=3 d=4"},
		{"an old record is changed", []store.Delta{change("a", "5")}, "a=5 b=2 c=3"},
		{"the last record is changed", []store.Delta{change("c", "5"), put("d", "4")}, "a=1 b=2 c=5 d=4"},
		{"an old record is deleted", []store.Delta{remove("a")}, "b=2 c=3"},
		{"the last record is deleted", []store.Delta{remove("c")}, "a=1 b=2"},
		{"the last record is replaced", []store.Delta{remove("c"), put("d", "4")}, "a=1 b=2 d=4"},
		{"all are deleted", []store.Delta{remove("a"), remove("b"), remove("c")}, ""},
	} {
		for _, hide := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/hide=%v", c.name, hide), func(t *testing.T) {
				store := &rebuilding{InMemory: store.NewInMemory(), hide: hide}
				saw := watch(t, store)
				commit(t, store, put("a", "1"), put("b", "2"))
				if got := saw(""); got != "a=1 b=2" {
					t.Errorf("the first turn saw %s", got)
				}
				commit(t, store, put("c", "3"))
				if got := saw(""); got != "a=1 b=2 c=3" {
					t.Errorf("the second turn saw %s", got)
				}
				commit(t, store, c.writes...)
				if got := saw(""); got != c.want {
					t.Errorf("the third turn saw %s, want %s", got, c.want)
				}
				commit(t, store, put("e", "6"))
				if got := saw(""); got != strings.TrimSpace(c.want+" e=6") {
					t.Errorf("the fourth turn saw %s, want %s e=6", got, c.want)
				}
				if err := store.Delete(t.Context(), turns.DefaultSession); err != nil {
					t.Fatal(err)
				}
				commit(t, store, put("f", "7"))
				if got := saw(""); got != "f=7" {
					t.Errorf("the session that was begun again is %s", got)
				}
				if got := saw("fork"); got != "" {
					t.Errorf("another session is %s", got)
				}
			})
		}
	}
}

func commit(t *testing.T, s store.Store, writes ...store.Delta) {
	t.Helper()
	if _, err := s.Commit(t.Context(), turns.DefaultSession, store.Commit{Deltas: writes}); err != nil {
		t.Fatal(err)
	}
}

// watch returns a function that runs a turn of a session and says which messages it has.
func watch(t *testing.T, store store.Store) func(session string) string {
	t.Helper()
	var saw []string
	r := newRunner(t, turns.TurnRunnerConfig{
		Host:              turns.NewHost(turns.HostOptions{Engine: hosttest.Engines(t)[0], Verify: true}),
		Callbacks:         turns.StoreCallbacks(store),
		TurnInputPipeline: []turns.TurnMiddleware{turns.LoadConversation(store)},
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			saw = nil
			for m := range ctx.TurnMessages().All() {
				saw = append(saw, m.ID+"="+m.Content)
			}
			return ctx.Ack()
		},
	})
	return func(session string) string {
		result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Stash: map[string]any{turns.SessionKey: session}})
		if err != nil || result.Status != event.Ack {
			t.Fatalf("%+v, %v", result, err)
		}
		return strings.Join(saw, " ")
	}
}

// The message that a turn begins with is in its collection once, and is the turn's own, although the store has a copy.
func TestOwnMessageIsNotDoubled(t *testing.T) {
	for _, hide := range []bool{false, true} {
		store := &rebuilding{InMemory: store.NewInMemory(), hide: hide}
		var saw []string
		runner, err := turns.New(t.Context(), turns.Config{
			Store: store, Host: turns.NewHost(turns.HostOptions{Engine: hosttest.Engines(t)[0], Verify: true}),
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				saw = nil
				for m := range ctx.TurnMessages().All() {
					saw = append(saw, m.Content)
				}
				return errors.Join(ctx.StoreMessage(message("a"+ctx.TurnID(), "answer")), ctx.Ack())
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"0", "0 answer 1", "0 answer 1 answer 2"} {
			if result, err := runner.Run(t.Context(), turns.Input{Message: strconv.Itoa(i)}); err != nil || result.Status != event.Ack {
				t.Fatalf("%+v, %v", result, err)
			}
			if got := strings.Join(saw, " "); got != want {
				t.Errorf("hide=%v: turn %d saw %s, want %s", hide, i, got, want)
			}
		}
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Turns of one session that load it at the same time all see all of it.
func TestLoadConversationAtOnce(t *testing.T) {
	for _, hide := range []bool{false, true} {
		sessions := &rebuilding{InMemory: store.NewInMemory(), hide: hide}
		var wrong atomic.Int64
		r := newRunner(t, turns.TurnRunnerConfig{
			Host:              turns.NewHost(turns.HostOptions{Engine: hosttest.Engines(t)[0], Verify: true}),
			Callbacks:         turns.StoreCallbacks(sessions),
			TurnInputPipeline: []turns.TurnMiddleware{turns.LoadConversation(sessions)},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				list := ctx.TurnMessages().Slice()
				for i, m := range list {
					if m.ID != strconv.Itoa(i) {
						wrong.Add(1)
					}
				}
				return ctx.Ack()
			},
		})
		var all sync.WaitGroup
		for i := range 40 {
			id := strconv.Itoa(i)
			commit(t, sessions, store.Delta{Op: store.OpStore, Kind: "message", ID: id, Record: message(id, "x")})
			for range 4 {
				all.Go(func() {
					if result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil || result.Status != event.Ack {
						t.Errorf("%+v, %v", result, err)
					}
				})
			}
		}
		all.Wait()
		if wrong.Load() > 0 {
			t.Errorf("hide=%v: %d messages out of place", hide, wrong.Load())
		}
	}
}

// A store that answers for another revision than it was asked for is told so.
func TestLoadConversationRefusesAnotherRevision(t *testing.T) {
	for want, broken := range map[string]func(c *store.Conversation){
		`after: is "other", but revision "" was asked for`: func(c *store.Conversation) { c.After = "other" },
		"revision: must not be empty where after is set": func(c *store.Conversation) {
			if c.After != "" {
				c.Revision = ""
			}
		},
	} {
		sessions := &rebuilding{InMemory: store.NewInMemory(), broken: broken}
		commit(t, sessions, store.Delta{Op: store.OpStore, Kind: "message", ID: "a", Record: message("a", "x")})
		r := newRunner(t, turns.TurnRunnerConfig{
			Callbacks: turns.StoreCallbacks(sessions), TurnInputPipeline: []turns.TurnMiddleware{turns.LoadConversation(sessions)}, Executor: ack,
		})
		var result *turns.Result
		for range 2 {
			result, _ = r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
		}
		if result == nil || result.Status != event.Failed || !errors.Is(result.Err, host.CodeInvalidValue) || !strings.Contains(result.Err.Error(), want) {
			t.Errorf("%+v, want %s", result, want)
		}
	}
}

// Records that are read elsewhere, or rendered when they are read, are never taken for those that were loaded before.
func TestLoadConversationKeepsNoReaders(t *testing.T) {
	sessions := &rebuilding{InMemory: store.NewInMemory(), hide: true}
	attach := func(c *store.Conversation) {
		m := message("a", "")
		photo := record.UserAttachment(record.Image, "image/png", "p.png", record.NewBlob([]byte("png")))
		photo.ID = "p"
		m.Attachments = []*record.Media{photo}
		c.Messages = []*record.Message{m}
	}
	var last *record.Message
	sessions.broken = func(c *store.Conversation) { attach(c); last = c.Messages[0] }
	r := newRunner(t, turns.TurnRunnerConfig{
		Callbacks: turns.StoreCallbacks(sessions), TurnInputPipeline: []turns.TurnMiddleware{turns.LoadConversation(sessions)},
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if got := ctx.TurnMessages().Slice(); !slices.Equal(got, []*record.Message{last}) {
				t.Errorf("%v is not what was loaded last", got)
			}
			return ctx.Ack()
		},
	})
	for range 2 {
		if result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil || result.Status != event.Ack {
			t.Fatalf("%+v, %v", result, err)
		}
	}
}

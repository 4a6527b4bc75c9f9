package turns_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// What no constructor made and no context gave says where to get one, or just works.
func TestZeroValues(t *testing.T) {
	var (
		stash      turns.Stash
		tools      turns.ToolRegistry
		messages   turns.Collection[*record.Message]
		history    turns.History[*record.Message]
		runner     turns.TurnRunner
		front      turns.Runner
		place      turns.Host
		message    = record.NewMessage("m", record.User, "x", instant)
		noMessages *turns.Collection[*record.Message]
	)
	for name, c := range map[string]struct {
		use  func()
		says string
	}{
		"Stash.Get":         {func() { stash.Get("a") }, "Stash method"},
		"Stash.Set":         {func() { _ = stash.Set("a", 1) }, "Stash method"},
		"Stash.Delete":      {func() { stash.Delete("a") }, "Stash method"},
		"Stash.All":         {func() { stash.All() }, "Stash method"},
		"ToolRegistry.All":  {func() { tools.All() }, "Tools method"},
		"ToolRegistry.Hide": {func() { tools.Hide("a") }, "Tools method"},
		"Collection.Add":    {func() { _ = messages.Add(message) }, "TurnMessages"},
		"Collection.Len":    {func() { messages.Len() }, "TurnMessages"},
		"nil Collection":    {func() { noMessages.Slice() }, "TurnMessages"},
		"History.Append":    {func() { _ = history.Append(message) }, "NewHistory"},
		"TurnRunner.Run":    {func() { _, _ = runner.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}) }, "NewTurnRunner"},
		"TurnRunner.Stream": {func() { runner.Stream(t.Context(), turns.TurnInput{SystemPrompt: "test"}) }, "NewTurnRunner"},
		"TurnRunner.Close":  {func() { _ = runner.Close() }, "NewTurnRunner"},
		"Runner.Run":        {func() { _, _ = front.Run(t.Context(), turns.Input{}) }, "New or NewTurnRunner"},
		"Runner.Stream":     {func() { front.Stream(t.Context(), turns.Input{}) }, "New or NewTurnRunner"},
		"Host.Load":         {func() { _ = place.Load(t.Context()) }, "NewHost"},
		"History.Len":       {func() { history.Len() }, ""},
		"History.Slice":     {func() { history.Slice() }, ""},
		"TurnRunner.On":     {func() { runner.On(event.KindMessage, func(event.Event) {})() }, ""},
		"TurnRunner.Gates":  {func() { runner.Gates() }, ""},
		"InMemory.Delete":   {func() { _ = (&store.InMemory{}).Delete(t.Context(), "a") }, ""},
	} {
		func() {
			defer func() {
				got := ""
				if v := recover(); v != nil {
					got = fmt.Sprint(v)
				}
				if (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
					t.Errorf("%s says %q, want %q in it", name, got, c.says)
				}
			}()
			c.use()
		}()
	}
}

func TestZeroMemoryStore(t *testing.T) {
	var store store.InMemory
	if err := store.PutBytes(t.Context(), "s", "b", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	r := newFront(t, turns.Config{Store: &store, Executor: say("Hi.")})
	if _, err := r.Run(t.Context(), turns.Input{Message: "hello", Session: "s"}); err != nil {
		t.Fatal(err)
	}
	if records, err := store.Load(t.Context(), "s", ""); err != nil || len(records.Messages) != 1 {
		t.Errorf("%+v, %v", records, err)
	}
}

func newFront(t *testing.T, config turns.Config) *turns.Runner {
	t.Helper()
	if config.Host == nil && config.Engine == nil {
		config.Engine = native.New()
	}
	r, err := turns.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// bareStore is a store as a program might write it first: it knows no session, and says so with nothing.
type bareStore struct {
	newest func(ctx context.Context, session string) (time.Time, error)
	loaded *store.Conversation
}

func (bareStore) Commit(context.Context, string, store.Commit) (string, error) { return "", nil }
func (bareStore) PutBytes(context.Context, string, string, io.Reader) error    { return nil }
func (bareStore) OpenBytes(_ context.Context, session, id string) (io.ReaderAt, int64, error) {
	return nil, 0, store.NoBytes(session, id)
}

func (s bareStore) Load(context.Context, string, string) (*store.Conversation, error) {
	return s.loaded, nil
}

func (s bareStore) Newest(ctx context.Context, session string) (time.Time, error) {
	return s.newest(ctx, session)
}

// Nothing loaded is an empty conversation.
func TestLoadOfNothing(t *testing.T) {
	for name, loaded := range map[string]*store.Conversation{"nil": nil, "no lists": {}} {
		store := bareStore{loaded: loaded, newest: func(context.Context, string) (time.Time, error) { return time.Time{}, nil }}
		fetched := -1
		r := newFront(t, turns.Config{Store: store, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			list, err := ctx.FetchMessages()
			if err != nil {
				return err
			}
			fetched = len(list)
			_, err = ctx.RefreshStandingInstructions()
			return errors.Join(err, ctx.Ack())
		}})
		if result, err := r.Run(t.Context(), turns.Input{Message: "hello"}); err != nil || fetched != 0 {
			t.Errorf("%s: %+v, %v, %d messages", name, result, err, fetched)
		}
	}
}

// A store that cannot tell its newest time keeps the turn from starting, and hears of the caller's context.
func TestNewestFails(t *testing.T) {
	type key struct{}
	for name, newest := range map[string]func(context.Context, string) (time.Time, error){
		"error": func(ctx context.Context, session string) (time.Time, error) {
			if ctx.Value(key{}) != "mine" || session != "s" {
				t.Errorf("context %v, session %q", ctx, session)
			}
			return time.Time{}, errRefused
		},
		"panic": func(context.Context, string) (time.Time, error) { panic(errRefused) },
	} {
		ctx := context.WithValue(t.Context(), key{}, "mine")
		r := newFront(t, turns.Config{Store: bareStore{newest: newest}, Executor: say("Hi.")})
		r.OnAny(func(ev event.Event) { t.Errorf("%s: an event %s", name, ev.Kind()) })
		if result, err := r.Run(ctx, turns.Input{Message: "hello", Session: "s"}); result != nil || !errors.Is(err, errRefused) {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		stream := r.Stream(ctx, turns.Input{Message: "hello", Session: "s"})
		if result, err := stream.Result(); result != nil || !errors.Is(err, errRefused) {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
}

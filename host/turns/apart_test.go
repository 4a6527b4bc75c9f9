package turns_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// toldStore is a store that tells of its writes.
type toldStore struct {
	*store.InMemory
	told *[]string
	fail string // the write that fails
}

func (s toldStore) Commit(ctx context.Context, session string, c store.Commit) (string, error) {
	words := make([]string, len(c.Deltas))
	for i, d := range c.Deltas {
		words[i] = strings.TrimSpace(fmt.Sprint(d.Op, " ", d.Kind, " ", d.ID, strings.Join(d.IDs, "+")))
	}
	*s.told = append(*s.told, "["+strings.Join(words, ", ")+"]")
	if slices.Contains(words, s.fail) {
		return "", errRefused
	}
	return s.InMemory.Commit(ctx, session, c)
}

func call(id string) *record.ToolCall {
	return &record.ToolCall{
		ID: id, Tool: "t", Args: json.RawMessage(`{}`), Checksum: "s", Results: "r", IsComplete: true,
		CreatedAt: instant, UpdatedAt: instant, CompletedAt: instant,
	}
}

// writer are the methods of contexts that writes are made with here.
type writer interface {
	turns.Context
	StoreMessage(*record.Message) error
	MutateMessage(*record.Message) error
	DeleteMessage(string) error
	StoreMemory(*record.Memory) error
	StoreToolCall(*record.ToolCall) error
	ReplaceToolCallGroup([]string, []*record.ToolCall) error
	StoreStandingInstruction(string) error
}

func writeAll(ctx writer) error {
	message := func() *record.Message { return record.NewMessage("m", record.User, "secret", instant) }
	return errors.Join(
		ctx.StoreMemory(&record.Memory{ID: "k", Content: "k", CreatedAt: instant, UpdatedAt: instant}),
		ctx.StoreMessage(message()), ctx.MutateMessage(message()), ctx.StoreStandingInstruction("i"),
		ctx.StoreToolCall(call("a")), ctx.ReplaceToolCallGroup([]string{"a"}, []*record.ToolCall{call("b")}),
		ctx.DeleteMessage("m"),
	)
}

// A function in the place of one of a store's is called for every write of its kind, in middleware and in dispatches,
// and the order of the writes stays (decision 42).
func TestAFunctionInTheStoresPlace(t *testing.T) {
	type own func(c *turns.Callbacks, told func(words string) error)
	storeMessage := own(func(c *turns.Callbacks, told func(string) error) {
		c.StoreMessage = func(_ turns.Context, m *record.Message) error { return told("store message " + m.ID) }
	})
	for name, c := range map[string]struct {
		own              own
		inTurn, inCommit string
	}{
		"none": {
			func(*turns.Callbacks, func(string) error) {},
			"[store memory k] [store message m] [mutate message m] [store standingInstruction i] [store toolCall a] [replaceToolCallGroup toolCall a] [delete message m]",
			"[store memory k, store message m, mutate message m, store standingInstruction i, store toolCall a, replaceToolCallGroup toolCall a, delete message m]",
		},
		"store message": {
			storeMessage,
			"[store memory k] own: store message m [mutate message m] [store standingInstruction i] [store toolCall a] [replaceToolCallGroup toolCall a] [delete message m]",
			"[store memory k] own: store message m [mutate message m, store standingInstruction i, store toolCall a, replaceToolCallGroup toolCall a, delete message m]",
		},
		"another store's": {
			func(c *turns.Callbacks, told func(string) error) {
				other := turns.StoreCallbacks(toldStore{store.NewInMemory(), new([]string), ""})
				c.MutateMessage = other.MutateMessage
			},
			"[store memory k] [store message m] [store standingInstruction i] [store toolCall a] [replaceToolCallGroup toolCall a] [delete message m]",
			"[store memory k, store message m] [store standingInstruction i, store toolCall a, replaceToolCallGroup toolCall a, delete message m]",
		},
		"around the store's": {
			func(c *turns.Callbacks, told func(string) error) {
				inner := c.DeleteMessage
				c.DeleteMessage = func(ctx turns.Context, id string) error { return errors.Join(told("before"), inner(ctx, id)) }
			},
			"[store memory k] [store message m] [mutate message m] [store standingInstruction i] [store toolCall a] [replaceToolCallGroup toolCall a] own: before [delete message m]",
			"[store memory k, store message m, mutate message m, store standingInstruction i, store toolCall a, replaceToolCallGroup toolCall a] own: before [delete message m]",
		},
		"store tool call": {
			func(c *turns.Callbacks, told func(string) error) {
				c.StoreToolCall = func(_ turns.Context, r *record.ToolCall) error { return told("store toolCall " + r.ID) }
			},
			"[store memory k] [store message m] [mutate message m] [store standingInstruction i] own: store toolCall a [delete toolCall a] own: store toolCall b [delete message m]",
			"[store memory k, store message m, mutate message m, store standingInstruction i] own: store toolCall a [delete toolCall a] own: store toolCall b [delete message m]",
		},
		"group": {
			func(c *turns.Callbacks, told func(string) error) {
				c.ReplaceToolCallGroup = func(_ turns.Context, ids []string, _ []*record.ToolCall) error { return told("group " + ids[0]) }
			},
			"[store memory k] [store message m] [mutate message m] [store standingInstruction i] [store toolCall a] own: group a [delete message m]",
			"[store memory k, store message m, mutate message m, store standingInstruction i, store toolCall a] own: group a [delete message m]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, h *turns.Host) {
				var told []string
				config := turns.TurnRunnerConfig{Host: h, Callbacks: turns.StoreCallbacks(toldStore{store.NewInMemory(), &told, ""})}
				c.own(&config.Callbacks, func(words string) error {
					told = append(told, "own: "+words)
					return nil
				})
				config.TurnInputPipeline = []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
					if err := writeAll(ctx); err != nil {
						return err
					}
					if got := strings.Join(told, " "); got != c.inTurn {
						t.Errorf("in the turn\n got %s\nwant %s", got, c.inTurn)
					}
					told = nil
					next()
					return nil
				}}
				config.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
					return errors.Join(writeAll(ctx), ctx.Ack())
				}
				if _, err := newRunner(t, config).Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(told, " "); got != c.inCommit {
					t.Errorf("in the dispatch\n got %s\nwant %s", got, c.inCommit)
				}
				told = nil
				raw := &turns.RawContext{Callbacks: config.Callbacks, SystemPrompt: "test"}
				if _, err := turns.Dispatch(t.Context(), turns.DispatchInput{Host: h, Raw: raw, Executor: config.Executor}); err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(told, " "); got != c.inCommit {
					t.Errorf("in a dispatch without a turn\n got %s\nwant %s", got, c.inCommit)
				}
			})
		})
	}
}

// A commit that takes several calls tells how far it came.
func TestACommitInPartsThatFails(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for fail, want := range map[string]int64{"mutate message m": 2, "": 1} {
			var told []string
			config := turns.TurnRunnerConfig{Host: h, Callbacks: turns.StoreCallbacks(toldStore{store.NewInMemory(), &told, fail})}
			config.StoreMessage = func(turns.Context, *record.Message) error {
				if fail == "" {
					return errRefused
				}
				return nil
			}
			config.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				return errors.Join(writeAll(ctx), ctx.Ack())
			}
			_, err := newRunner(t, config).Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
			var e *host.Error
			if !errors.Is(err, host.CodeStorageCommitError) || !errors.Is(err, errRefused) || !errors.As(err, &e) {
				t.Fatal(err)
			}
			if details, _ := e.Details.([]any); !slices.Equal(details, []any{want, int64(7)}) {
				t.Errorf("details %v, want %d of 7", e.Details, want)
			}
		}
	})
}

// A Commit of the program's own would leave another function without its writes, so both together are refused by name.
func TestACommitBesideSingleFunctions(t *testing.T) {
	commit := func(turns.Context, []store.Delta) error { return nil }
	storeMessage := func(turns.Context, *record.Message) error { return nil }
	for name, c := range map[string]struct {
		change func(c *turns.Callbacks)
		want   []string
	}{
		"both": {func(c *turns.Callbacks) {
			c.Commit, c.StoreMessage, c.DeleteStandingInstruction = commit, storeMessage, noDelete
		}, []string{"`storeMessageCallback` and `commitCallback`", "`deleteStandingInstructionCallback` and `commitCallback`"}},
		"commit and group": {func(c *turns.Callbacks) {
			c.Commit = commit
			c.ReplaceToolCallGroup = func(turns.Context, []string, []*record.ToolCall) error { return nil }
		}, []string{"`replaceToolCallGroupCallback` and `commitCallback`"}},
		"commit alone":      {func(c *turns.Callbacks) { c.Commit = commit }, nil},
		"single alone":      {func(c *turns.Callbacks) { c.StoreMessage = storeMessage }, nil},
		"single, no commit": {func(c *turns.Callbacks) { c.StoreMessage, c.Commit = storeMessage, nil }, nil},
		"no store's": {func(c *turns.Callbacks) {
			*c = noStorage()
			c.Commit = commit
		}, nil},
	} {
		callbacks := turns.StoreCallbacks(store.NewInMemory())
		c.change(&callbacks)
		_, err := turns.NewTurnRunner(turns.TurnRunnerConfig{Executor: say("Hi."), Callbacks: callbacks})
		_, dispatched := turns.Dispatch(t.Context(), turns.DispatchInput{
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() },
			Raw:      &turns.RawContext{Callbacks: callbacks, SystemPrompt: "test"},
		})
		if c.want == nil && (err != nil || dispatched != nil) {
			t.Errorf("%s: %v, %v", name, err, dispatched)
		}
		for _, want := range c.want {
			if !errors.Is(err, host.CodeInvalidTurnRunnerConfig) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
			if !errors.Is(dispatched, host.CodeInvalidLLMExecutionContext) || !strings.Contains(dispatched.Error(), want) {
				t.Errorf("%s: %v, want %s", name, dispatched, want)
			}
		}
	}
}

package turns_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// tracing are callbacks that note the writes to messages and tool calls.
func tracing(trace *[]string) turns.Callbacks {
	c := noStorage()
	note := func(format string, args ...any) error {
		*trace = append(*trace, fmt.Sprintf(format, args...))
		return nil
	}
	c.StoreMessage = func(_ turns.Context, m *record.Message) error { return note("store %s", m.ID) }
	c.MutateMessage = func(_ turns.Context, m *record.Message) error { return note("mutate %s", m.ID) }
	c.DeleteMessage = func(_ turns.Context, id string) error { return note("delete %s", id) }
	c.StoreToolCall = func(_ turns.Context, c *record.ToolCall) error { return note("call %s", c.ID) }
	c.DeleteToolCall = func(_ turns.Context, id string) error { return note("uncall %s", id) }
	c.StoreStandingInstruction = func(_ turns.Context, text string) error { return note("instruct %s", text) }
	c.MutateStandingInstruction = func(_ turns.Context, old, text string) error { return note("reinstruct %s %s", old, text) }
	c.DeleteStandingInstruction = func(_ turns.Context, text string) error { return note("uninstruct %s", text) }
	return c
}

func toolCall(id, checksum string) *record.ToolCall {
	return &record.ToolCall{
		ID: id, Tool: "calc", Args: []byte(`{"a":1}`), Checksum: checksum, Results: "2", IsComplete: true,
		CreatedAt: instant, UpdatedAt: instant, CompletedAt: instant,
	}
}

func ids[R record.Type](c *turns.Collection[R]) string {
	var list []string
	for r := range c.All() {
		switch r := any(r).(type) {
		case *record.Message:
			list = append(list, r.ID)
		case *record.ToolCall:
			list = append(list, r.ID)
		case *record.Instruction:
			list = append(list, r.Text)
		}
	}
	return strings.Join(list, " ")
}

// Writes of an iteration change the dispatch's collections at once; storage and the turn see them when it succeeds.
func TestWritesAreCommitted(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for _, c := range []struct {
			name    string
			end     func(*turns.DispatchContext) error
			trace   string
			turn    string
			discard int
		}{
			{"ack", (*turns.DispatchContext).Ack, "store a|mutate a|store b|delete b|call c|instruct x|reinstruct x y", "a", 0},
			{"nack", func(ctx *turns.DispatchContext) error { return ctx.Nack(errX) }, "", "", 7},
			{"abort", func(ctx *turns.DispatchContext) error { ctx.Abort(nil); return nil }, "", "", 7},
			{"failure", func(*turns.DispatchContext) error { return errX }, "", "", 7},
			{
				"commit, then nack",
				func(ctx *turns.DispatchContext) error { return errors.Join(ctx.Commit(), ctx.Nack(errX)) },
				"store a|mutate a|store b|delete b|call c|instruct x|reinstruct x y", "a", 0,
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				var trace []string
				callbacks := tracing(&trace)
				discarded := 0
				callbacks.Discard = func(_ turns.Context, deltas []store.Delta, _ event.Status) error {
					discarded += len(deltas)
					return nil
				}
				var turn *turns.TurnContext
				log, _ := play(t, h, turns.TurnRunnerConfig{
					Callbacks: callbacks,
					TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
						turn = ctx
						next()
						return nil
					}},
					Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
						changed := message("a", "new")
						if err := errors.Join(
							ctx.StoreMessage(message("a", "old")), ctx.MutateMessage(changed), ctx.StoreMessage(message("b", "b")),
							ctx.DeleteMessage("b"), ctx.StoreToolCall(toolCall("c", "sum")),
							ctx.StoreStandingInstruction("x"), ctx.MutateStandingInstruction("x", "y"),
						); err != nil {
							return err
						}
						if got := ctx.TurnMessages().Slice(); len(got) != 1 || got[0] != changed {
							t.Errorf("messages inside the iteration: %v", got)
						}
						if len(trace) != 0 || turn.TurnMessages().Len() != 0 {
							t.Error("storage or the turn saw writes before the commit")
						}
						if n, err := ctx.ToolCallCount("sum"); n != 1 || err != nil {
							t.Errorf("count %d, %v", n, err)
						}
						return c.end(ctx)
					},
				}, turns.TurnInput{})
				if got := strings.Join(trace, "|"); got != c.trace {
					t.Errorf("storage saw %s, want %s", got, c.trace)
				}
				if got := ids(turn.TurnMessages()); got != c.turn {
					t.Errorf("the turn's messages: %s", got)
				}
				if c.turn != "" && ids(turn.StandingInstructions()) != "y" {
					t.Errorf("the turn's instructions: %s", ids(turn.StandingInstructions()))
				}
				end := find[*event.IterationEnd](log)[0]
				if discarded != c.discard || len(end.Discarded) != c.discard {
					t.Errorf("%d discarded, %d in the event, want %d", discarded, len(end.Discarded), c.discard)
				}
				if c.discard > 0 && (end.Discarded[0].Op != store.OpStore || end.Discarded[0].ID != "a" || end.Discarded[0].Kind != "message") {
					t.Errorf("first discarded: %+v", end.Discarded[0])
				}
			})
		}
	})
}

func TestCommitFailure(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var trace []string
		callbacks := tracing(&trace)
		store := callbacks.StoreMessage
		callbacks.StoreMessage = func(ctx turns.Context, m *record.Message) error {
			if m.ID == "b" {
				return errX
			}
			return store(ctx, m)
		}
		log, result := play(t, h, turns.TurnRunnerConfig{Callbacks: callbacks, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			return errors.Join(ctx.StoreMessage(message("a", "x")), ctx.StoreMessage(message("b", "x")), ctx.StoreMessage(message("c", "x")), ctx.Ack())
		}}, turns.TurnInput{})
		if !errors.Is(result.Err, host.CodeStorageCommitError) || !errors.Is(result.Err, errX) {
			t.Errorf("error %v", result.Err)
		}
		if !slices.Equal(trace, []string{"store a"}) {
			t.Errorf("storage saw %v", trace)
		}
		if end := find[*event.IterationEnd](log)[0]; len(end.Discarded) != 2 {
			t.Errorf("discarded %v", end.Discarded)
		}
	})
}

// One Commit callback gets the whole batch.
func TestCommitCallback(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		callbacks := noStorage()
		var batches [][]store.Delta
		callbacks.Commit = func(_ turns.Context, deltas []store.Delta) error { batches = append(batches, deltas); return nil }
		a, b := toolCall("a", "s"), toolCall("b", "s")
		_, result := play(t, h, turns.TurnRunnerConfig{Callbacks: callbacks, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			return errors.Join(ctx.StoreToolCall(a), ctx.ReplaceToolCallGroup([]string{"a"}, []*record.ToolCall{b}), ctx.Ack())
		}}, turns.TurnInput{})
		if result.Status != event.Ack || len(batches) != 1 || len(batches[0]) != 2 {
			t.Fatalf("%v, %v", result, batches)
		}
		if d := batches[0][0]; d.Op != store.OpStore || d.Record != any(a) || d.ID != "a" {
			t.Errorf("first write %+v", d)
		}
		if d := batches[0][1]; d.Op != store.OpReplaceToolCallGroup || !slices.Equal(d.IDs, []string{"a"}) || len(d.Records) != 1 || d.Records[0] != b {
			t.Errorf("second write %+v", d)
		}
	})
}

// Writes from turn middleware go to storage at once.
func TestTurnWritesAreImmediate(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var trace []string
		_, result := play(t, h, turns.TurnRunnerConfig{
			Callbacks: tracing(&trace), Executor: ack,
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				if err := ctx.StoreMessage(message("a", "x")); err != nil {
					return err
				}
				if !slices.Equal(trace, []string{"store t.user", "store a"}) {
					t.Errorf("storage saw %v", trace)
				}
				if err := errors.Join(
					ctx.StoreToolCall(toolCall("c", "s")), ctx.ReplaceToolCallGroup([]string{"c"}, []*record.ToolCall{toolCall("d", "s")}),
				); err != nil {
					return err
				}
				doc := record.NewRetrievable("d", "text", record.FirstParty, instant)
				if _, err := ctx.StoreRetrievable(doc); !errors.Is(err, host.CodeArtifactIDCollision) {
					t.Errorf("an id that a tool call has: %v", err)
				}
				if got := ids(ctx.TurnMessages()) + "," + ids(ctx.TurnToolCalls()); got != "t.user a,d" {
					t.Errorf("collections %s", got)
				}
				next()
				return nil
			}},
		}, turns.TurnInput{TurnID: "t", Text: "hello"})
		if result.Status != event.Ack {
			t.Fatal(result.Err)
		}
		if want := "store t.user|store a|call c|uncall c|call d"; strings.Join(trace, "|") != want {
			t.Errorf("storage saw %v", trace)
		}
	})
}

func TestInvalidRecords(t *testing.T) {
	for _, c := range []struct {
		record interface{ Validate() error }
		code   host.Code
		parts  []string
	}{
		{&record.Message{Role: "system"}, host.CodeInvalidInitialMessageValue, []string{"id", "role", "content", "createdAt"}},
		{&record.Message{ID: "a", Role: record.User, Content: "x", CreatedAt: instant, UpdatedAt: instant, Identity: &record.Identity{Identifier: "i"}}, host.CodeInvalidInitialMessageValue, []string{"identity.representation"}},
		{&record.Memory{ID: "a", Content: "x", Confidence: 1.2, CreatedAt: instant, UpdatedAt: instant}, host.CodeInvalidInitialMemoryValue, []string{"confidence"}},
		{record.NewThought("a", "", instant), host.CodeInvalidInitialThoughtValue, []string{"content"}},
		{&record.Thought{ID: "a", Payload: 1, CreatedAt: instant, UpdatedAt: instant}, host.CodeInvalidInitialThoughtValue, []string{"replayCompatibility"}},
		{&record.ToolCall{ID: "a", Args: []byte(`[]`)}, host.CodeInvalidInitialToolCallValue, []string{"tool", "args", "completedAt"}},
		{record.NewRetrievable("a", "x", "user-supplied", instant), host.CodeInvalidInitialRetrievableValue, []string{"trustTier"}},
		{(*record.Message)(nil), host.CodeInvalidInitialMessageValue, nil},
		{&turns.Tool{Name: "t", InputSchema: `{"type":"array"}`}, host.CodeInvalidInitialToolValue, []string{"description", "handler", "inputSchema"}},
	} {
		err := c.record.Validate()
		if !errors.Is(err, c.code) {
			t.Errorf("%T: %v, want %s", c.record, err, c.code)
			continue
		}
		for _, part := range c.parts {
			if !strings.Contains(err.Error(), "`"+part+"`") {
				t.Errorf("%T: %v does not name %s", c.record, err, part)
			}
		}
	}
	if err := message("a", "x").Validate(); err != nil {
		t.Error(err)
	}
	if err := toolCall("a", "s").Validate(); err != nil {
		t.Error(err)
	}
}

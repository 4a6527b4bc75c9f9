package turns_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

func TestMemoryStore(t *testing.T) {
	sessions := store.NewInMemory()
	apply := func(session string, writes ...store.Delta) {
		t.Helper()
		if _, err := sessions.Commit(t.Context(), session, store.Commit{Deltas: writes}); err != nil {
			t.Fatal(err)
		}
	}
	load := func(session string) string {
		t.Helper()
		r, err := sessions.Load(t.Context(), session, "")
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, m := range r.Messages {
			list = append(list, m.ID+"="+m.Content)
		}
		for _, c := range r.ToolCalls {
			list = append(list, c.ID)
		}
		return strings.Join(append(list, r.Instructions...), " ")
	}
	put := func(id, text string) store.Delta {
		return store.Delta{Op: store.OpStore, Kind: "message", Record: message(id, text), ID: id}
	}
	apply("s", put("a", "1"), put("b", "2"))
	before, err := sessions.Load(t.Context(), "s", "")
	if err != nil {
		t.Fatal(err)
	}
	apply("s", put("c", "3"))
	grown, err := sessions.Load(t.Context(), "s", before.Revision)
	if err != nil || grown.After != before.Revision || grown.Revision == before.Revision || len(grown.Messages) != 1 || grown.Messages[0].ID != "c" {
		t.Errorf("after %s: %+v, %v", before.Revision, grown, err)
	}
	apply("s", put("a", "4"), store.Delta{Op: store.OpDelete, Kind: "message", ID: "b"}, store.Delta{Op: store.OpDelete, Kind: "message", ID: "x"})
	if got := load("s"); got != "a=4 c=3" {
		t.Errorf("messages: %s", got)
	}
	if changed, err := sessions.Load(t.Context(), "s", grown.Revision); err != nil || changed.After != "" || len(changed.Messages) != 2 {
		t.Errorf("after a change: %+v, %v", changed, err)
	}
	if len(before.Messages) != 2 {
		t.Errorf("what was loaded before has %d messages", len(before.Messages))
	}
	for _, c := range []string{"x", "y", "z"} {
		apply("s", store.Delta{Op: store.OpStore, Kind: "toolCall", Record: toolCall(c, "s"), ID: c})
	}
	apply("s", store.Delta{Op: store.OpReplaceToolCallGroup, Kind: "toolCall", IDs: []string{"y", "x"}, Records: []*record.ToolCall{toolCall("n", "s")}})
	one, two := record.NewInstruction("one"), record.NewInstruction("two")
	apply("s",
		store.Delta{Op: store.OpStore, Kind: "standingInstruction", Record: one, ID: "one"},
		store.Delta{Op: store.OpMutate, Kind: "standingInstruction", Record: two, ID: "one"},
	)
	if got := load("s"); got != "a=4 c=3 n z two" {
		t.Errorf("session: %s", got)
	}
	if list, next, err := sessions.List(t.Context(), "", 0); load("other") != "" || len(list) != 1 || list[0].ID != "s" || next != "" || err != nil {
		t.Error("sessions are not apart")
	}
	forgotten, err := sessions.Load(t.Context(), "s", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := sessions.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	apply("s", put("d", "5"))
	if again, err := sessions.Load(t.Context(), "s", forgotten.Revision); err != nil || again.After != "" || load("s") != "d=5" {
		t.Errorf("a session that was forgotten: %+v, %v", again, err)
	}
}

// A conversation goes on from turn to turn, and its records cross once.
func TestLoadConversation(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		store := store.NewInMemory()
		var seen string
		r := newRunner(t, turns.TurnRunnerConfig{
			Host: h, Callbacks: turns.StoreCallbacks(store), TurnInputPipeline: []turns.TurnMiddleware{turns.LoadConversation(store)},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				seen = ids(ctx.TurnMessages())
				return errors.Join(ctx.StoreMessage(message(ctx.TurnID()+"!", "x")), ctx.Ack())
			},
		})
		for i, want := range []string{"0.user", "0.user 0! 1.user", "0.user 0! 1.user 1! 2.user"} {
			result, err := r.Run(t.Context(), turns.TurnInput{TurnID: fmt.Sprint(i), SystemPrompt: "test", Text: "x"})
			if err != nil || result.Status != event.Ack {
				t.Fatal(result, err)
			}
			if seen != want {
				t.Errorf("turn %d saw %s, want %s", i, seen, want)
			}
		}
	})
}

// A session's id that is not a string is nobody's session, and not the one without an id.
func TestSessionOfAnotherType(t *testing.T) {
	for _, text := range []string{"", "hello"} {
		store := store.NewInMemory()
		r := newRunner(t, turns.TurnRunnerConfig{
			Callbacks: turns.StoreCallbacks(store), TurnInputPipeline: []turns.TurnMiddleware{turns.LoadConversation(store)},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				return errors.Join(ctx.StoreMessage(message("m", "x")), ctx.Ack())
			},
		})
		result, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Text: text, Stash: map[string]any{turns.SessionKey: 7}}))
		if err != nil {
			t.Fatal(err)
		}
		if result.Status != event.Failed || !errors.Is(result.Err, host.CodeInvalidSessionID) || !strings.Contains(result.Err.Error(), "stash.sessionId: must be a string") {
			t.Errorf("with message %q: %s, %v", text, result.Status, result.Err)
		}
		if list, _, err := store.List(t.Context(), "", 0); len(list) > 0 || err != nil {
			t.Errorf("with message %q: wrote to sessions %+v, %v", text, list, err)
		}
	}
}

func TestByteConduits(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		_, result := play(t, h, turns.TurnRunnerConfig{Callbacks: turns.StoreCallbacks(store.NewInMemory()), Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			media, err := ctx.StoreMediaBytes("m", bytes.NewReader([]byte{1, 2, 3}))
			if err != nil {
				return err
			}
			r, err := media.Open()
			if err != nil {
				return err
			}
			data, err := io.ReadAll(r)
			if n, known := media.ByteLength(); n != 3 || !known || err != nil || !bytes.Equal(data, []byte{1, 2, 3}) {
				t.Errorf("media: %v, %v", data, err)
			}
			spool, err := ctx.StoreRetrievableBytes("r", strings.NewReader("one\r\ntwo"))
			if err != nil {
				return err
			}
			line, err := spool.Line(ctx, 0)
			if n, _ := spool.LineCount(ctx); n != 2 || line != "one\r" || err != nil {
				t.Errorf("spool: %q, %v", line, err)
			}
			if _, err := spool.Line(ctx, 2); err != io.EOF {
				t.Error("a line behind the end")
			}
			return ctx.Ack()
		}}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Errorf("%+v", result)
		}
	})
}

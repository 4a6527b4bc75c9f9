package turns_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// Ids that are no UTF-8, such as those with half of a surrogate pair, would be others in events and in stores: they are
// refused by name.
func TestIDsAreUTF8(t *testing.T) {
	const bad = "a\xed\xa0\x80"
	refused := func(what string, err error, code host.Code, field string) {
		t.Helper()
		if !errors.Is(err, code) || !strings.Contains(err.Error(), "`"+field+"` must be valid UTF-8") {
			t.Errorf("%s: %v", what, err)
		}
	}
	r, err := turns.New(t.Context(), turns.Config{Engine: native.New(), Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
		for what, err := range map[string]error{
			"ReportMessage": h.ReportMessage(bad, "x", true), "InterruptMessage": h.InterruptMessage(bad, "x"),
			"ReportThought": h.ReportThought(bad, "x", true), "InterruptThought": h.InterruptThought(bad, "x"),
			"ReportToolCall": h.ReportToolCall(bad, event.ToolCallReport{Tool: "t", Args: map[string]any{}}),
		} {
			refused(what, err, host.CodeInvalidValue, "id")
		}
		refused("StoreMessage", ctx.StoreMessage(record.NewMessage(bad, record.Assistant, "x", instant)), host.CodeInvalidInitialMessageValue, "id")
		refused("StoreThought", ctx.StoreThought(record.NewThought(bad, "x", instant)), host.CodeInvalidInitialThoughtValue, "id")
		refused("StoreMemory", ctx.StoreMemory(&record.Memory{ID: bad, Content: "x", CreatedAt: instant}), host.CodeInvalidInitialMemoryValue, "id")
		return ctx.Ack()
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	seen := 0
	if _, err := r.Run(t.Context(), turns.Input{Message: "Hi!", OnEvent: func(ev event.Event) {
		switch ev.(type) {
		case *event.Message, *event.Thought, *event.ToolCall:
			seen++
		}
	}}); err != nil || seen > 0 {
		t.Errorf("%d reports were told, %v", seen, err)
	}
	_, err = r.Run(t.Context(), turns.Input{Message: "Hi!", TurnID: bad})
	refused("a turn", err, host.CodeInvalidTurnContext, "turnId")
	if _, err = r.Run(t.Context(), turns.Input{Message: "Hi!", Session: bad}); !errors.Is(err, host.CodeInvalidSessionID) {
		t.Error(err)
	}
}

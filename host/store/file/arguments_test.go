package file

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// What no store takes is refused by the name of its field, and nothing is stored.
func TestArguments(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, s := range []store.Sessions{s, store.NewInMemory()} {
		for field, d := range map[string]store.Delta{
			"deltas[0].op":         {Op: "merge", Kind: "message", ID: "m"},
			"deltas[0].kind":       {Op: store.OpReplaceToolCallGroup, Kind: "message"},
			"deltas[0].records[0]": {Op: store.OpReplaceToolCallGroup, Kind: "toolCall", Records: []*record.ToolCall{nil}},
		} {
			_, err := s.Commit(t.Context(), "s", store.Commit{Deltas: []store.Delta{d}})
			refused(t, s, err, field)
		}
		nothing := store.Delta{Op: store.OpStore, Kind: "message", ID: "m", Record: (*record.Message)(nil)}
		if _, err := s.Commit(t.Context(), "s", store.Commit{Deltas: []store.Delta{nothing}}); !errors.Is(err, host.CodeRecordUnstorable) {
			t.Errorf("%T: of a nil record: %v", s, err)
		}
		for _, cursor := range []string{"nonsense", "-1", "0", "1.2"} {
			_, _, err := s.List(t.Context(), cursor, 1)
			refused(t, s, err, "cursor")
		}
		const bad = "a\xed\xa0\x80"
		_, committed := s.Commit(t.Context(), bad, store.Commit{})
		_, appended := s.(store.Appender).Append(t.Context(), bad, store.Append{})
		if _, err := s.Commit(t.Context(), "from", store.Commit{Deltas: []store.Delta{
			{Op: store.OpStore, Kind: "standingInstruction", ID: "i", Record: record.NewInstruction("i")},
		}}); err != nil {
			t.Fatal(err)
		}
		forked := s.Fork(t.Context(), "from", bad)
		for _, err := range []error{committed, appended, forked, s.PutBytes(t.Context(), bad, "b", strings.NewReader("b"))} {
			if !errors.Is(err, host.CodeInvalidSessionID) || !strings.HasSuffix(err.Error(), "session: must be valid UTF-8") {
				t.Errorf("%T: %v", s, err)
			}
		}
		_, err := s.(store.Appender).Events(t.Context(), "s", store.EventQuery{Limit: -1})
		refused(t, s, err, "limit")
		if found, err := s.Find(t.Context(), "s"); found != nil || err != nil {
			t.Errorf("%T: %v, %v", s, found, err)
		}
	}
}

func refused(t *testing.T, s store.Store, err error, field string) {
	t.Helper()
	var e *host.Error
	if !errors.As(err, &e) || e.Code != host.CodeInvalidValue || e.Details.(map[string]any)["field"] != field {
		t.Errorf("%T: %v, want E_INVALID_VALUE of %s", s, err, field)
	}
}

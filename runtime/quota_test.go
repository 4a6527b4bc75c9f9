package runtime

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Bytes count for each turn and in total: a shared history counts once, and a released turn no longer.
func TestQuotaIsCounted(t *testing.T) {
	q := &Quota{Turn: 1000, Instance: 1500}
	body := record.AppendMessage(nil, record.MessageFields{ID: "m", Role: "user", Content: []byte(strings.Repeat("x", 100))})
	h := NewHistory(record.Messages)
	h.Append(2, append(append([]byte(nil), body...), body...))
	size := 2 * len(body)
	q.AddHistory(size)
	turns := [2]*Turn{{Input: Input{Quota: q}, world: &play{}}, {Input: Input{Quota: q}, world: &play{}}}
	for _, turn := range turns {
		if !turn.AcceptHistory(1, 2, h) || turn.Exceeded() != nil {
			t.Fatal("the history is refused")
		}
		turn.Hold(50)
	}
	if want := uint64(size + 100); q.Held() != want {
		t.Errorf("all hold %d, not %d", q.Held(), want)
	}
	q.DropHistory(h)
	turns[0].Hold(-20)
	turns[0].Release()
	turns[0].Release()
	if want := uint64(size + 50); q.Held() != want {
		t.Errorf("with one turn all hold %d, not %d", q.Held(), want)
	}
	turns[1].Release()
	if q.Held() != 0 {
		t.Errorf("without turns all hold %d", q.Held())
	}
}

// A turn at its bound goes on; one more byte ends it, and the error names the bound.
func TestQuotaIsExceeded(t *testing.T) {
	for _, test := range []struct {
		name       string
		quota      Quota
		n          int
		over       string
		withOthers int
	}{
		{"at the turn's bound", Quota{Turn: 100, Instance: 200}, 100, "", 0},
		{"over the turn's bound", Quota{Turn: 100, Instance: 200}, 101, "100 bytes of a turn", 0},
		{"at the instance's bound", Quota{Turn: 100, Instance: 200}, 100, "", 100},
		{"over the instance's bound", Quota{Turn: 100, Instance: 200}, 100, "200 bytes of all turns", 101},
	} {
		q := test.quota
		q.AddHistory(test.withOthers)
		turn := &Turn{Input: Input{Quota: &q}, world: &play{}}
		d := &Dispatch{turn: turn}
		d.number = 1
		turn.dispatches = []*Dispatch{d}
		if err := d.HoldStream(10); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if err := turn.HoldRequest(1, 30); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		err := turn.HoldRequest(1, test.n-10) // replaces the earlier one
		if d.streamed != 10 || d.rendered != test.n-10 || turn.held != uint64(test.n) {
			t.Errorf("%s: %d of streams, %d of requests, %d in all", test.name, d.streamed, d.rendered, turn.held)
		}
		switch {
		case test.over == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.over != "" && (!fault.Is(err, fault.TurnQuotaExceeded) || !strings.Contains(fault.MessageOf(err), test.over)):
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A history counts for a turn as far as the turn uses it.
func TestQuotaOfHistories(t *testing.T) {
	body := record.AppendMessage(nil, record.MessageFields{ID: "m", Role: "user", Content: []byte(strings.Repeat("x", 100))})
	for bound, fits := range map[int]bool{len(body): true, len(body) - 1: false} {
		h := NewHistory(record.Messages)
		h.Append(1, body)
		h.Append(1, body)
		q := &Quota{Turn: uint64(bound), Instance: 1000}
		turn := &Turn{Input: Input{Quota: q}, world: &play{}}
		if !turn.AcceptHistory(1, 1, h) {
			t.Fatal("the history is refused")
		}
		if (turn.Exceeded() == nil) != fits {
			t.Errorf("a bound of %d: %v", bound, turn.Exceeded())
		}
	}
}

package runtime

import (
	"testing"

	"github.com/turncore/turncore/runtime/record"
)

// Stamps increase, follow the clock and earlier records, and stay within the times that records allow.
func TestStamp(t *testing.T) {
	turn, err := NewTurn(&Config{}, Input{ID: "t", Now: 1000}, &play{t: t})
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	stamp := func() { got = append(got, turn.Stamp()) }
	stamp()
	stamp()
	turn.SetElapsed(500)
	stamp()
	turn.Floor(2000)
	stamp()
	turn.Floor(3)
	stamp()
	turn.Floor(maxStamp - 1)
	stamp()
	stamp()
	turn.Floor(1<<63 - 1)
	stamp()
	want := []int64{1000, 1001, 1500, 2001, 2002, maxStamp, maxStamp, maxStamp}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("stamps %v, want %v", got, want)
		}
	}
	body := record.AppendMessage(nil, record.MessageFields{ID: "m", Role: "user", Content: []byte("x"), CreatedAt: maxStamp, UpdatedAt: maxStamp})
	if err := record.Check(record.Messages, body); err != nil {
		t.Errorf("the last stamp: %v", err)
	}
}

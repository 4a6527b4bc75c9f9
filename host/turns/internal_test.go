package turns

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// Whatever a core answers, it is taken in or refused with an error.
func FuzzAnswer(f *testing.F) {
	h := NewHost(HostOptions{Engine: native.New()})
	c, err := h.acquire(context.Background())
	if err != nil {
		f.Fatal(err)
	}
	// The answers to a whole conversation, one after the other, and each by itself.
	inst, err := native.New().Open(context.Background())
	if err != nil {
		f.Fatal(err)
	}
	in := abi.Append(nil, &abi.Hello{Major: abi.Major, Features: features, Seed: make([]byte, abi.SeedSize)})
	if _, err := inst.Step(nil, in); err != nil {
		f.Fatal(err)
	}
	var all []byte
	for _, in := range hosttest.Conversation() {
		out, err := inst.Step(nil, in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(out)
		all = append(all, out...)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, answer []byte) {
		turn := newTurn(c, &definition{executor: func(*DispatchContext, *Helpers) error { return nil }}, context.Background())
		turn.number, turn.id = 1, "t"
		turn.mu.Lock()
		defer turn.mu.Unlock()
		_, err := turn.read(&actor{}, answer)
		for _, d := range turn.queue {
			if d.event != nil {
				if _, err := d.event.MarshalJSON(); err != nil {
					t.Errorf("%T: %v", d.event, err)
				}
			}
		}
		if err != nil {
			turn.die(err)
		}
	})
}

// What is remembered of sessions is bounded, by their number and by their size; the one used last always stays.
func TestRememberedSessionsAreBounded(t *testing.T) {
	sessions := store.NewInMemory()
	put := func(session, text string) {
		m := record.NewMessage("m", record.User, text, time.UnixMilli(1))
		if err := sessions.Commit(t.Context(), session, []store.Delta{{Op: store.OpStore, Kind: "message", ID: m.ID, Record: m}}); err != nil {
			t.Fatal(err)
		}
	}
	load := func(l *loader, session string) {
		if c, err := l.load(t.Context(), session); err != nil || c.messages.count != 1 {
			t.Fatalf("%+v, %v", c, err)
		}
	}
	small := newLoader(sessions)
	for i := range mostSessions + 10 {
		session := strconv.Itoa(i)
		put(session, "x")
		load(small, session)
		load(small, "0")
	}
	if len(small.sessions) != mostSessions || small.recent.Len() != mostSessions || small.sessions["0"] == nil || small.sessions["1"] != nil {
		t.Errorf("%d sessions, %d in the list", len(small.sessions), small.recent.Len())
	}
	large := newLoader(sessions)
	for i := range 5 {
		session := "large " + strconv.Itoa(i)
		put(session, strings.Repeat("x", mostSessionBytes/3))
		load(large, session)
	}
	if len(large.sessions) != 2 || large.bytes > mostSessionBytes {
		t.Errorf("%d sessions of %d bytes", len(large.sessions), large.bytes)
	}
	put("huge", strings.Repeat("x", mostSessionBytes))
	load(large, "huge")
	if len(large.sessions) != 1 || large.sessions["huge"] == nil {
		t.Errorf("%d sessions beside the one that was used last", len(large.sessions))
	}
	sessions.Forget("huge")
	if _, err := large.load(t.Context(), "huge"); err != nil || len(large.sessions) != 0 || large.bytes != 0 || large.recent.Len() != 0 {
		t.Errorf("%d sessions of %d bytes, %v", len(large.sessions), large.bytes, err)
	}
}

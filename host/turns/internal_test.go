package turns

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/builtin"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// Whatever a core asks of the program, it is prepared or refused with an error.
func FuzzEffect(f *testing.F) {
	h := NewHost(HostOptions{Engine: native.New()})
	f.Cleanup(func() { _ = h.Close(context.Background()) })
	config := &definition{
		executor: func(*DispatchContext, *Helpers) error { return nil }, tools: []*Tool{insideCore(&Tool{Name: "time", Description: "d", InputSchema: map[string]any{"type": "object"}})},
		dispatchOutput: []DispatchMiddleware{builtinMiddleware(&builtin.Middleware{Name: "ackOnNoToolCalls", Arg: value.AppendNil(nil), Output: true})},
		tokenizers:     map[string]record.Tokenizer{"o200k_base": func(texts []string) ([]int, error) { return make([]int, len(texts)), nil }},
	}
	turns := map[bool]*program{}
	for _, dispatch := range []bool{false, true} {
		p, err := h.begin(context.Background(), config, turn.Spec{})
		if err != nil {
			f.Fatal(err)
		}
		if dispatch {
			p.Open(p.turn.Root(), p.turn.Root(), nil)
		}
		turns[dispatch] = p
	}
	kinds := []uint8{
		abi.EffectExecutor, abi.EffectMiddleware, abi.EffectTool, abi.EffectValidate, abi.EffectStore, abi.EffectCommit, abi.EffectDiscard,
		abi.EffectSpool, abi.EffectForge, abi.EffectEstimate, abi.EffectHTTP, abi.EffectModel, 255,
	}
	for _, kind := range kinds {
		f.Add(kind, []byte{}, true)
		f.Add(kind, (&abi.ToolArgs{Tool: 1, Args: abi.Raw{0x80}}).Append(nil), true)
		f.Add(kind, (&abi.MiddlewareArgs{Index: 1}).Append(nil), false)
		f.Add(kind, (&abi.HTTPArgs{Method: "GET", URL: "https://example.com/", Body: abi.Bytes([]byte("x"))}).Append(nil), true)
	}
	f.Fuzz(func(t *testing.T, kind uint8, args []byte, dispatch bool) {
		p := turns[dispatch]
		p.turn.Lock()
		defer p.turn.Unlock()
		e := &turn.Effect{Context: p.turn.Root(), Kind: kind}
		if err := p.Prepare(e, &abi.Effect{Args: args}); (err == nil) != (e.Perform != nil) {
			t.Errorf("kind %d, %x: %v, and it can be performed: %t", kind, args, err, e.Perform != nil)
		}
		if e.Cancel != nil {
			e.Cancel()
		}
		if e.GiveUp != nil {
			e.GiveUp(nil)
		}
	})
}

// What is remembered of sessions is bounded, by their number and by their size; the one used last always stays.
func TestRememberedSessionsAreBounded(t *testing.T) {
	sessions := store.NewInMemory()
	put := func(session, text string) {
		m := record.NewMessage("m", record.User, text, time.UnixMilli(1))
		writes := store.Commit{Deltas: []store.Delta{{Op: store.OpStore, Kind: "message", ID: m.ID, Record: m}}}
		if _, err := sessions.Commit(t.Context(), session, writes); err != nil {
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
	if err := sessions.Delete(t.Context(), "huge"); err != nil {
		t.Fatal(err)
	}
	if _, err := large.load(t.Context(), "huge"); err != nil || len(large.sessions) != 0 || large.bytes != 0 || large.recent.Len() != 0 {
		t.Errorf("%d sessions of %d bytes, %v", len(large.sessions), large.bytes, err)
	}
}

// What is remembered of ended turns is bounded, and the oldest go first.
func TestEndedTurnsAreBounded(t *testing.T) {
	k := newKeeper(store.NewInMemory())
	for i := range 3 * mostEnded {
		session := strconv.Itoa(i)
		k.end(session, "t")
		if i%3 == 0 {
			k.told(session, []string{"t"})
		}
	}
	for i := range 2 * mostEndedSession {
		k.end("one", strconv.Itoa(i))
	}
	for range 2 * mostEnded {
		k.end("again and again", "t")
		k.told("again and again", []string{"t"})
	}
	k.end("again and again", "t")
	if n := len(k.ended.of); n > mostEnded || k.ended.order.Len() != n || k.toEnd("1") != nil || k.toEnd(strconv.Itoa(3*mostEnded-1)) == nil {
		t.Errorf("%d sessions, %d in their order", n, k.ended.order.Len())
	}
	if list := k.toEnd("one"); len(list) != mostEndedSession || list[0] != strconv.Itoa(mostEndedSession) {
		t.Errorf("%d turns of one session, from %s on", len(list), list[0])
	}
}

// A store's keeper goes when nothing uses it any more.
func TestKeepersGo(t *testing.T) {
	s := store.NewInMemory()
	k := keeperOf(s)
	if keeperOf(s) != k {
		t.Error("a store has two keepers")
	}
	runtime.KeepAlive(k)
	k = nil
	for range 100 {
		runtime.GC()
		time.Sleep(time.Millisecond)
		there := keepers.Has(s)
		if !there {
			return
		}
	}
	t.Error("the keeper of a store that nothing uses stays")
}

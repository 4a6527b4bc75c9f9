package turns_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// keyed collects the keys that functions get.
type keyed struct {
	mu    sync.Mutex
	calls []string
	notes []string
}

func (k *keyed) tool() *turns.Tool {
	return turns.NewTool("pay", "Pays", func(ctx *turns.DispatchContext, _ struct{}) (string, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.calls = append(k.calls, ctx.IdempotencyKey())
		return "paid", nil
	})
}

func (k *keyed) storage() turns.Callbacks {
	c := noStorage()
	c.StoreMessage = func(ctx turns.Context, m *record.Message) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.notes = append(k.notes, m.ID+" "+ctx.IdempotencyKey())
		return nil
	}
	return c
}

// Equal calls that run at once on goroutines of the program have different keys, numbered without gaps.
func TestKeysOfEqualCallsAtOnce(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		const many = 20
		var k keyed
		tool := k.tool()
		var outside string
		play(t, h, turns.TurnRunnerConfig{Callbacks: k.storage(), Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			outside = ctx.IdempotencyKey()
			var all sync.WaitGroup
			for range many {
				all.Go(func() {
					if _, err := tool.Executor(ctx)(struct{}{}); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			return ctx.Ack()
		}}, turns.TurnInput{TurnID: "t"})
		sum, err := record.ToolCallChecksum("pay", map[string]any{})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for i := range many {
			want = append(want, fmt.Sprintf("t.d1.0.x.%s.%d", sum, i+1))
		}
		slices.Sort(want)
		slices.Sort(k.calls)
		if !slices.Equal(k.calls, want) || outside != "" {
			t.Errorf("%q, and %q outside", k.calls, outside)
		}
	})
}

// A second run of a turn's id has the keys of the first for its calls of tools, but none of the first for its writes:
// it may write something else.
func TestKeysOfAnotherRun(t *testing.T) {
	now := host.FixedTime
	h := turns.NewHost(turns.HostOptions{Engine: native.New(), Clock: func() int64 { return now }})
	defer h.Close(t.Context())
	var runs [2]keyed
	for i := range runs {
		tool := runs[i].tool()
		play(t, h, turns.TurnRunnerConfig{Callbacks: runs[i].storage(), Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			_, err := tool.Executor(ctx)(struct{}{})
			return errors.Join(err, ctx.StoreMessage(message("a", "x")), ctx.StoreMessage(message("b", "x")), ctx.Ack())
		}}, turns.TurnInput{TurnID: "t"})
		now++
	}
	if len(runs[0].calls) != 1 || !slices.Equal(runs[0].calls, runs[1].calls) {
		t.Errorf("calls: %q, %q", runs[0].calls, runs[1].calls)
	}
	for i, want := range [][]string{{"a t@mjuohs00.e3.0", "b t@mjuohs00.e3.1"}, {"a t@mjuohs01.e3.0", "b t@mjuohs01.e3.1"}} {
		if !slices.Equal(runs[i].notes, want) {
			t.Errorf("run %d writes %q", i, runs[i].notes)
		}
	}
}

// JavaScript gives the same keys to commits: see keys.test.ts there.
func TestKeysOfPartsOfCommits(t *testing.T) {
	h := turns.NewHost(turns.HostOptions{Engine: native.New(), Clock: func() int64 { return host.FixedTime }})
	defer h.Close(t.Context())
	s := &keyStore{Store: store.NewInMemory()}
	c := turns.StoreCallbacks(s)
	// Two commits under one key, in parts of an effect.
	put := c.StoreMessage
	c.StoreMessage = func(ctx turns.Context, m *record.Message) error { return errors.Join(put(ctx, m), put(ctx, m)) }
	play(t, h, turns.TurnRunnerConfig{Callbacks: c, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		at := message("a", "x").CreatedAt
		return errors.Join(
			ctx.StoreMessage(message("a", "x")), ctx.StoreThought(record.NewThought("b", "x", at)), ctx.StoreThought(record.NewThought("c", "x", at)),
			ctx.StoreMessage(message("d", "x")), ctx.Ack(),
		)
	}}, turns.TurnInput{TurnID: "t"})
	want := []string{".0", ".0+1", ".1", ".3", ".3+1"}
	for i := range want {
		want[i] = "t@mjuohs00.e2" + want[i]
	}
	if !slices.Equal(s.keys, want) {
		t.Errorf("%q, want %q", s.keys, want)
	}
}

// keyStore collects the keys of commits.
type keyStore struct {
	store.Store
	keys []string
}

func (s *keyStore) Commit(ctx context.Context, session string, c store.Commit) (string, error) {
	s.keys = append(s.keys, c.Key)
	return s.Store.Commit(ctx, session, c)
}

// The frames of a journal give the keys that functions got, and a replay gives the same frames.
func TestKeysOfAJournal(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var k keyed
		var log bytes.Buffer
		tool := k.tool()
		inner := func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			_, err := tool.Executor(ctx)(struct{}{})
			return errors.Join(err, ctx.StoreMessage(message("inner", "x")), ctx.Ack())
		}
		play(t, h, turns.TurnRunnerConfig{Callbacks: k.storage(), Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			for range 2 {
				if _, err := turns.Dispatch(ctx, turns.DispatchInput{Source: ctx, Executor: inner}); err != nil {
					return err
				}
			}
			if _, err := tool.Executor(ctx)(struct{}{}); err != nil || ctx.Iteration() == 0 {
				return err
			}
			return ctx.Ack()
		}}, turns.TurnInput{TurnID: "t", Journal: &log})
		if len(k.calls) != 6 {
			t.Fatalf("%d calls", len(k.calls))
		}
		reader, err := journal.NewReader(bytes.NewReader(log.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := journal.Replay(t.Context(), native.New(), reader); err != nil {
			t.Error(err)
		}
		calls, writes := keysOf(t, log.Bytes())
		if !slices.Equal(calls, k.calls) {
			t.Errorf("the journal has\n%q, the handlers got\n%q", calls, k.calls)
		}
		var notes []string
		for _, write := range writes { // each commits what two dispatches wrote
			notes = append(notes, "inner "+write+".0", "inner "+write+".1")
		}
		if !slices.Equal(notes, k.notes) {
			t.Errorf("the journal has\n%q, the functions got\n%q", notes, k.notes)
		}
	})
}

// keysOf reads the keys of the turn "t" from its journal.
func keysOf(t *testing.T, log []byte) (calls, writes []string) {
	t.Helper()
	reader, err := journal.NewReader(bytes.NewReader(log))
	for err == nil {
		var entry journal.Entry
		if entry, err = reader.Next(); err != nil {
			break
		}
		for out := entry.Out; len(out) > 0 && err == nil; {
			var op abi.Op
			var frame []byte
			if op, frame, out, err = abi.Next(out, abi.Limits{}); err != nil || op != abi.OpEffect {
				continue
			}
			var e abi.Effect
			if e, err = abi.Decode[abi.Effect](frame); err != nil {
				break
			}
			switch e.Kind {
			case abi.EffectTool:
				var args abi.ToolArgs
				args, err = abi.Decode[abi.ToolArgs](e.Args)
				calls = append(calls, abi.CallKey("t", string(e.Path), args.CallID, e.Ordinal))
			case abi.EffectCommit:
				writes = append(writes, abi.WriteKey("t", host.FixedTime, e.Effect))
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return calls, writes
}

package turns_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// copied are objects of which the stash takes what their JSON says, and live ones of which nothing could be said.
func copiedAndLive() (copied, live map[string]any) {
	text := record.NewTokenizable("t")
	copied = map[string]any{
		"message": message("m", "x"), "memory": record.NewMemory("y", "x", 1, 1, instant), "thought": record.NewThought("t", "x", instant),
		"toolCall": toolCall("c", "s"), "retrievable": record.NewRetrievable("r", "x", record.FirstParty, instant), "instruction": record.NewInstruction("x"),
		"artifact": record.NewSpooledArtifact(record.NewBlob([]byte("x"))), "in a list": []any{1, message("m", "x")}, "in a map": map[string]any{"m": text},
	}
	live = map[string]any{
		"tool": named("t"), "function": func() {}, "channel": make(chan int),
		"error": errX, "in a list": []any{errX}, "in a record": &record.Message{ID: "m", Tokenizable: record.NewDynamicTokenizable(nil)},
	}
	return copied, live
}

// isPlain tells whether a value is nothing but data.
func isPlain(v any) bool {
	switch v := v.(type) {
	case nil, bool, int64, float64, string, []byte:
		return true
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isPlain(item) })
	case map[string]any:
		for _, item := range v {
			if !isPlain(item) {
				return false
			}
		}
		return true
	}
	return false
}

// The stash holds encoded values and nothing else: of a record a copy of its data, of what cannot be copied nothing,
// which is an error. Whatever was put there, every later iteration and every dispatch inside can read the rest.
func TestStashHoldsNoLiveObjects(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		put := func(s *turns.Stash) {
			copied, live := copiedAndLive()
			for name, v := range live {
				if err := s.Set("live", v); !errors.Is(err, host.Code("E_INVALID_VALUE")) || !strings.Contains(err.Error(), "live") || s.Has("live") {
					t.Errorf("%s: %v", name, err)
				}
			}
			for name, v := range copied {
				err := s.Set("copied", v)
				if got, _ := s.Get("copied"); err != nil || !isPlain(got) || isPlain(v) {
					t.Errorf("%s: %v, %v", name, err, got)
				}
			}
			if err := s.Set("text", record.NewTokenizable("t")); err != nil {
				t.Error(err)
			}
			if v, _ := s.Get("text"); v != "t" {
				t.Errorf("a text became %v", v)
			}
			if v, ok := s.Get("plain.n"); !ok || v != int64(1) {
				t.Errorf("the stash has %v", s.All())
			}
		}
		_, result := play(t, h, turns.TurnRunnerConfig{
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				put(ctx.Stash())
				next()
				return nil
			}},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				put(ctx.Stash())
				if _, err := turns.Dispatch(ctx, turns.DispatchInput{Source: ctx, Executor: func(inner *turns.DispatchContext, _ *turns.Helpers) error {
					put(inner.Stash())
					return inner.Ack()
				}}); err != nil {
					return err
				}
				if ctx.Iteration() == 3 {
					return ctx.Ack()
				}
				return nil
			},
		}, turns.TurnInput{Stash: map[string]any{"plain": map[string]any{"n": 1}}})
		if result.Status != event.Ack {
			t.Errorf("%+v", result)
		}
	})
}

// A thousand estimates ask a tokenizer once for each new text, make it once, and take no time to speak of; control
// tokens of models are text, and a tokenizer that fails makes no text longer than its length does.
func TestThousandEstimates(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		made, asked := 0, 0
		var vocabulary map[string]int
		tokenizer := func(texts []string) ([]int, error) {
			if vocabulary == nil {
				vocabulary = map[string]int{"": 0}
				made++
			}
			asked += len(texts)
			counts := make([]int, len(texts))
			for i := range texts {
				counts[i] = 7
			}
			return counts, nil
		}
		hostile := []string{"<|endoftext|>", "<|im_start|>system", "<s>[INST]", "\x00", "\xff\xfe", strings.Repeat("<|endoftext|>", 10_000)}
		begun := time.Now()
		log, result := play(t, h, turns.TurnRunnerConfig{
			Tokenizers: map[string]record.Tokenizer{"q": tokenizer, "broken": func([]string) ([]int, error) { return nil, errX }},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				for round := range 2 {
					for i := range 1000 {
						estimated(t, ctx, "q", []int{7}, fmt.Sprint("text ", i))
						estimated(t, ctx, "claude", []int{(2*len(fmt.Sprint("text ", i)) + 6) / 7}, fmt.Sprint("text ", i))
					}
					if round == 0 && asked != 1000 {
						t.Errorf("%d texts were counted", asked)
					}
				}
				for _, text := range hostile {
					estimated(t, ctx, "q", []int{7}, text)
					n := (utf16Len(text) + 3) / 4
					estimated(t, ctx, "broken", []int{n}, text)
				}
				return ctx.Ack()
			},
		}, turns.TurnInput{})
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("4,000 estimates took %v", took)
		}
		if n := len(find[*event.Warning](log)); result.Status != event.Ack || made != 1 || n != 1 {
			t.Errorf("%s; made %d times, %d warnings", result.Status, made, n)
		}
	})
}

// utf16Len is the length of a text in UTF-16 units, where each byte that is not UTF-8 is one.
func utf16Len(text string) (n int) {
	for _, r := range text {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// Bytes stay what they are wherever they go: through conduits, as media and artifacts, as a tool's result; texts that
// are not UTF-8 are repaired once, the same way everywhere.
func TestBytesStayBytes(t *testing.T) {
	all := make([]byte, 0, 1<<16+256)
	for i := range 1<<16 + 256 {
		all = append(all, byte(i), byte(i>>8))
	}
	onEngines(t, func(t *testing.T, h *turns.Host) {
		same := func(where string, got []byte, err error) {
			t.Helper()
			if err != nil || sha256.Sum256(got) != sha256.Sum256(all) {
				t.Errorf("%s: %d bytes, not the %d; %v", where, len(got), len(all), err)
			}
		}
		open := func(where string, from interface{ Open() (io.ReadCloser, error) }) {
			t.Helper()
			r, err := from.Open()
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			same(where, got, errors.Join(err, r.Close()))
		}
		store := store.NewInMemory()
		tool := named("bytes")
		tool.Handler = func(*turns.DispatchContext, turns.Args) (any, error) { return bytes.Clone(all), nil }
		_, result := play(t, h, turns.TurnRunnerConfig{Callbacks: turns.StoreCallbacks(store), Executor: func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
			media, err := ctx.StoreMediaBytes("m", bytes.NewReader(all))
			if err != nil {
				return err
			}
			open("media", media)
			if n, known := media.ByteLength(); n != int64(len(all)) || !known {
				t.Errorf("media: %d bytes", n)
			}
			got, err := tool.Executor(ctx)(nil)
			if err != nil {
				return err
			}
			same("result", got.([]byte), nil)
			call := toolCall("c", "s")
			call.Results = &record.Media{ID: "m", Kind: record.Image, MimeType: "image/png", Filename: "a.png", Reader: media, TrustTier: record.FirstParty, ModalityHazard: record.Inert}
			if err := ctx.StoreToolCall(call); err != nil {
				return err
			}
			if err := ctx.Stash().Set("bytes", all); err != nil {
				return err
			}
			v, _ := ctx.Stash().Get("bytes")
			same("stash", v.([]byte), nil)
			return ctx.Ack()
		}}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Fatalf("%+v", result)
		}
		records, err := store.Load(t.Context(), turns.DefaultSession, "")
		if err != nil {
			t.Fatal(err)
		}
		open("stored result", records.ToolCalls[0].Results.(*record.Media).Reader)

		// Text that is not UTF-8 is repaired on its way, and says the same from then on.
		const broken, repaired = "a\xed\xa0\x80b\xffc\x00d\xf0\x9f", "a\ufffd\ufffd\ufffdb\ufffdc\x00d\ufffd"
		log, result := play(t, h, turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
			return errors.Join(helpers.ReportMessage("m", broken, true), helpers.ReportMessage("again", repaired, true), ctx.Ack())
		}}, turns.TurnInput{})
		told := find[*event.Message](log)
		if result.Status != event.Ack || len(told) != 2 || told[0].Full != repaired || told[1].Full != told[0].Full {
			t.Errorf("%+v, told %+v", result, told)
		}
	})
}

// nothings are errors that look like none: nil pointers, texts without a character.
var nothings = map[string]error{
	"a nil pointer": (*host.Error)(nil), "no text": errors.New(""), "a joined nil pointer": errors.Join((*host.Error)(nil)), "a wrapped one": fmt.Errorf("%w", error((*host.Error)(nil))),
}

// That something failed is told by the outcome, never by what it failed with: an error that looks like none is a
// failure wherever a function of the program's is called.
func TestErrorsThatLookLikeNone(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for name, nothing := range nothings {
			failed := func(where string, err error) {
				t.Helper()
				if err == nil {
					t.Errorf("%s, %s: no error", name, where)
				}
			}
			callbacks := noStorage()
			callbacks.FetchMessages = func(turns.Context) ([]*record.Message, error) { return nil, nothing }
			callbacks.StoreMediaBytes = func(turns.Context, string, io.Reader) (record.MediaReader, error) { return nil, nothing }
			callbacks.StoreMemory = func(turns.Context, *record.Memory) error { return nothing }
			tool := named("t")
			tool.Handler = func(*turns.DispatchContext, turns.Args) (any, error) { return "fine", nothing }
			log, result := play(t, h, turns.TurnRunnerConfig{
				Callbacks:  callbacks,
				Tokenizers: map[string]record.Tokenizer{"q": func([]string) ([]int, error) { return []int{1}, nothing }},
				TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
					_, err := ctx.FetchMessages()
					failed("fetch", err)
					_, err = ctx.StoreMediaBytes("m", strings.NewReader("x"))
					failed("conduit", err)
					failed("store", ctx.StoreMemory(record.NewMemory("y", "x", 1, 1, instant)))
					if ctx.TurnMemories().Len() != 0 {
						t.Errorf("%s: what storage refused is there", name)
					}
					next()
					return nil
				}},
				Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
					estimated(t, ctx, "q", []int{1}, "x") // by length, with a warning
					_, err := tool.Executor(ctx)(nil)
					failed("tool", err)
					_, err = turns.Dispatch(ctx, turns.DispatchInput{Source: ctx, Executor: func(inner *turns.DispatchContext, _ *turns.Helpers) error {
						return inner.Nack(nothing)
					}})
					failed("nack", err)
					return nothing
				},
			}, turns.TurnInput{})
			if n := len(find[*event.Error](log)); result.Status != event.Nack || result.Err == nil || n != 1 || len(find[*event.Warning](log)) != 1 {
				t.Errorf("%s: %s, %v, %d error events", name, result.Status, result.Err, n)
			}
			// The model, and the network.
			for where, config := range map[string]turns.Config{
				"model": {Model: turns.Model{Engine: &model.Engine{Generate: func(_ context.Context, _ *model.Request, send func(model.Part) error) error {
					return errors.Join(send(model.Part{Text: "x", Finish: "stop"}), nothing)
				}}}},
				"store": {Executor: ack, Store: failingStore{store.NewInMemory(), nothing}},
			} {
				config.Engine = hosttest.Engines(t)[0]
				runner, err := turns.New(t.Context(), config)
				if err != nil {
					t.Fatal(err)
				}
				result, err := finished(runner.Run(t.Context(), turns.Input{Message: "hi"}))
				if err == nil && (result.Status == event.Ack || result.Err == nil) {
					t.Errorf("%s, %s: %+v", name, where, result)
				}
				if err := runner.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// failingStore is a store that cannot write.
type failingStore struct {
	store.Store
	err error
}

func (s failingStore) Commit(context.Context, string, store.Commit) (string, error) {
	return "", s.err
}

// What a nil error is given to still ends as it says: a nack, an abort, a gate that is rejected.
func TestNilAsAReason(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var waited error
		config := turns.TurnRunnerConfig{Host: h, Callbacks: noStorage(), Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			_, waited = ctx.WaitFor(ctx, turns.Gate{ID: "g", Reason: "why", Payload: 1, CreatedAt: instant})
			return ctx.Nack(nil)
		}}
		log := &recorder{}
		r := newRunner(t, config)
		r.OnAny(log.add)
		r.Observe(event.KindTurnGateOpen, func(ev event.Event) { ev.(*event.TurnGateOpen).Gate.Reject(nil) })
		result, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}))
		if err != nil || result.Status != event.Nack || result.Err == nil || waited == nil || errors.Is(waited, host.Code("E_INVALID_INITIAL_TURN_GATE_VALUE")) {
			t.Errorf("%+v, %v; the gate gave %v", result, err, waited)
		}
		_, result = play(t, h, turns.TurnRunnerConfig{Executor: ack, TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
			ctx.Abort(nil)
			next()
			return nil
		}}}, turns.TurnInput{})
		if result.Status != event.Aborted {
			t.Errorf("aborted for nothing: %+v", result)
		}
	})
}
